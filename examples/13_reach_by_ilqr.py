"""Reach with 5 kg in the hand and limited torques, for one goal or hundreds at once, by iLQR.

A step forwards and a step of Riccati's recursion backwards are written for one arm and one moment, in NumPy, and
`fa.compile_function` makes kernels of them, derivatives and elimination included: a hundred steps are a hundred calls,
for one problem or for 256. Torques that press against their limits are held there (Tassa, Mansard, Todorov 2014).
"""

import numpy as np

import forearm as fa

DT, POSTURE, SPEED, TORQUE, GOAL, REST = 0.01, 1.0, 0.1, 1e-4, 1e3, 1.0  # the step, and the cost's weights


def kernels(arm, start, limit):
    """A step forwards; a step backwards, which hands on the cost to go: V, a quadratic form of (q, qd, 1)."""
    n, unit, square = arm.n, np.eye(3 * arm.n + 1), (2 * arm.n + 1, 2 * arm.n + 1)
    upper, shift = np.tri(3 * n + 1, dtype=bool).T, np.eye(*square)
    shift[:n, n:-1] = DT * np.eye(n)  # the new q is q + DT times the new qd

    def ahead(q, qd, old_q, old_qd, old_tau, gains, size):
        moved = gains[:, :-1] @ np.concatenate([q - old_q, qd - old_qd])
        tau = np.clip(old_tau - moved - size * gains[:, -1], -limit, limit)
        cost = TORQUE * tau @ tau + POSTURE * (q - start) @ (q - start) + SPEED * qd @ qd
        faster = qd + DT * fa.forward_dynamics(arm, q, qd, tau)
        return q + DT * faster, faster, tau, np.array([DT / 2 * cost])

    def back(q, qd, tau, V):
        by_q, by_qd, by_tau = fa.forward_derivatives(arm, q, qd, tau)
        faster = np.hstack([DT * by_tau, DT * by_q, DT * by_qd + np.eye(n), np.zeros((n, 1))])
        after = np.vstack([unit[n : 2 * n], faster, unit[-1:]])  # (q, new qd, 1) by (tau, q, qd, 1)
        S = after.T @ (shift.T @ np.where(upper[n:, n:], V, V.T) @ shift) @ after
        weights = DT * np.repeat([TORQUE, POSTURE, SPEED], n)
        S[:-1] += np.column_stack([np.diag(weights), weights * np.concatenate([tau, q - start, qd])])
        inside, inwards = limit**2 - tau**2, tau * S[:n, -1]
        for i in range(n):  # the best torques, one by one, given those that are left and (q, qd, 1)
            S = np.where(upper, S, S.T)
            row = S[i] / S[i, i] * fa.where(inside[i], 1.0, fa.where(inwards[i], 1.0, 0.0))
            S, S[i] = S - np.outer(S[i], row), row
        return S[:n, n:], S[n:, n:]

    states = {"q": n, "qd": n, "old_q": n, "old_qd": n, "old_tau": n, "gains": (n, 2 * n + 1), "size": ()}
    forwards = fa.compile_function(ahead, states, ("q", "qd", "tau", "cost"))
    return forwards, fa.compile_function(back, {"q": n, "qd": n, "tau": n, "V": square}, ("gains", "V"))


def solve(arm, start, goals, limit, nodes=100, rounds=100, tolerance=1e-12):
    """Motions (nodes + 1, k, n) from one start to goals (k, 3): q, qd, tau, gains, and the costs after each round."""
    (ahead, back), n, k = kernels(arm, start, limit), arm.n, len(goals)
    gains, V = np.zeros((nodes, k, n, 2 * n + 1)), np.zeros((k, 2 * n + 1, 2 * n + 1))
    rest = [x * np.ones((nodes + 1, k, n)) for x in (start, 0.0, fa.gravity_torque(arm, start))]

    def forwards(old, size):
        q, qd, tau = (x.copy() for x in old)
        spent = np.empty((nodes, k, 1))
        for i in range(nodes):
            before = old[0][i], old[1][i], old[2][i], gains[i], size
            ahead(q[i], qd[i], *before, out=(q[i + 1], qd[i + 1], tau[i], spent[i]))
        missed = fa.pose(arm, q[-1])[:, :3, 3] - goals
        with np.errstate(over="ignore"):  # a step too far may throw the arm out of this world
            end = GOAL / 2 * (missed**2).sum(1) + REST / 2 * (qd[-1] ** 2).sum(1)
        return (q, qd, tau), spent.sum((0, 2)) + end

    motion, cost = forwards(rest, np.ones(k))
    costs = [cost]
    for _ in range(rounds):
        q, qd, tau = motion
        V[:], J, missed = 0.0, fa.jacobian(arm, q[-1])[:, :3], fa.pose(arm, q[-1])[:, :3, 3] - goals
        V[:, :n, :n], V[:, :n, -1] = GOAL * J.mT @ J, GOAL * (missed[:, None] @ J)[:, 0]
        V[:, n:-1, n:-1], V[:, n:-1, -1] = REST * np.eye(n), REST * qd[-1]
        for i in reversed(range(nodes)):
            back(q[i], qd[i], tau[i], V, out=(gains[i], V))
        unfinished, size = -V[:, -1, -1] > 2 * tolerance * cost, np.ones(k)  # who still has something to save
        for _ in range(10):
            tried, found = forwards(motion, size)
            better = found < cost
            if not np.any(unfinished & ~better):
                break
            size = np.where(better, size, size / 2)
        motion = [np.where(better[:, None], new, old) for new, old in zip(tried, motion, strict=True)]
        cost = np.where(better, found, cost)
        costs.append(cost)
        if not np.any(unfinished & better):
            break
    q, qd, tau = motion
    return q, qd, tau[:-1], gains, costs


def main(goals: int = 256, nodes: int = 40) -> None:
    arm = fa.load("iiwa14").with_payload(5.0, frame="tool")
    start = np.array([0.0, 0.5, 0.0, -1.2, 0.0, 0.8, 0.0])
    limit = np.array([link.effort_limit for link in arm.links])
    points = np.array([0.2, 0.5, 0.6]) + np.random.default_rng(0).uniform(-0.15, 0.15, (goals, 3))
    q, _, tau, _, costs = solve(arm, start, points, limit, nodes)
    missed = 1000 * np.linalg.norm(fa.pose(arm, q[-1])[:, :3, 3] - points, axis=1)
    held = (np.abs(tau) >= limit).any(axis=(0, 2)).sum()
    print(
        f"{goals} reaches of {nodes * DT:.1f} s: {len(costs) - 1} rounds, median cost {np.median(costs[-1]):.3f}"
    )
    print(f"median {np.median(missed):.1f} mm, at most {missed.max():.1f} mm off; {held} at a limit at times")


if __name__ == "__main__":
    main()
