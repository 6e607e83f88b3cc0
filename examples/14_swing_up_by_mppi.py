"""Swing an arm up with torques too weak to lift it, by trying a thousand futures at every step.

Model predictive path integral control (Williams, Aldrich, Theodorou 2017): random torques around the present plan are
simulated ahead, all at once by the rollout kernel, weighted by how well they do, and averaged into the next plan. No
gradient is needed, and a future is a row of a batch.
"""

import numpy as np

import forearm as fa

DT, AHEAD, HOLD, WARMTH = (
    0.02,
    60,
    3,
    0.1,
)  # [s]; steps that are foreseen, and held; the regret that is bearable


def regret(q, qd, tau):
    """How far from upright and still, along motions (futures, steps + 1, 2)."""
    height = np.sin(q[..., 0]) + np.sin(q[..., 0] + q[..., 1])
    along = 10.0 * (2.0 - height) + 0.1 * (qd**2).sum(-1)
    return along.mean(1) + along[:, -1] + 1e-4 * (tau**2).sum(-1).mean(1)


def main(seconds: float = 6.0, futures: int = 1000) -> None:
    arm, rng = fa.load("rr"), np.random.default_rng(3)
    limit = np.array([15.0, 3.0])
    q, qd, plan, heights = np.array([-np.pi / 2, 0.0]), np.zeros(2), np.zeros((AHEAD, 2)), []
    print("held level it weighs", fa.gravity_torque(arm, [0.0, 0.0]).round(1), "N m; the limits are", limit)
    for step in range(round(seconds / DT)):
        noise = limit / 4 * rng.standard_normal((futures, AHEAD // HOLD, 2)).repeat(HOLD, axis=1)
        noise[0] = 0.0  # the plan itself is among them
        tau = np.clip(plan + noise, -limit, limit)
        ahead = fa.simulate(arm, q, qd, law=tau, duration=AHEAD * DT, dt=DT, record_every=1)
        cost = regret(ahead.q, ahead.qd, tau)
        weights = np.exp((cost.min() - cost) / WARMTH)
        plan = np.tensordot(weights / weights.sum(), tau, axes=1)
        now = fa.simulate(arm, q, qd, law=plan[:1], duration=DT, dt=DT / 4)
        q, qd, plan = now.q[-1], now.qd[-1], np.roll(plan, -1, axis=0)
        heights.append(fa.pose(arm, q)[1, 3])
        if step % 50 == 0:
            print(
                f"{step * DT:4.1f} s  q {q.round(2)}  tip {heights[-1]:5.2f} m high, regret {cost.min():5.2f}"
            )
    late = np.mean(heights[-round(1 / DT) :])
    print(f"in the last second the tip is {late:.2f} m high; upright it would be {0.8 + 0.6:.2f}")


if __name__ == "__main__":
    main()
