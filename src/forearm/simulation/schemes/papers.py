"""The papers' own simulation (Turney, Mudge and Lee 1980, section 7), readable and slow: the reference.

The equations of section 7 are not numbered; (S1) … (S6) below number them in their order. C + G is the response of
the inverse dynamics at zero acceleration; column j of M its response, without gravity and at rest, to a unit
acceleration of joint j; M qdd = tau - C - G is solved by elimination without pivoting, because M is positive
definite; four evaluations make a step. Drives, which the report leaves out, add their terms to M and to C + G.
"""

from collections.abc import Callable

import numpy as np

from forearm import drives
from forearm.algebra import Matrix, Vector
from forearm.arm import Arm
from forearm.kinematics import wrench_torque
from forearm.simulation.engines import Engine, Scheme, Setting, rows_of_steps
from forearm.simulation.plant import State, rates_of, scalar_rates
from forearm.simulation.request import rows_in_python
from forearm.strobing import strobed_mass_matrix, torques_of

FORMULATION = "turney_mudge_lee_1980_modified"
"""The report's improved Newton-Euler equations; for arms with prismatic joints, the general ones."""


def accelerations(arm: Arm, q: Vector, qd: Vector, tau: Vector) -> Vector:
    """f(q, qd) = M⁻¹ (tau - C - G) (n,), as section 7 computes it."""
    stem = FORMULATION if all(link.revolute for link in arm.links) else "luh_walker_paul_1980"
    C_plus_G = torques_of(stem)(arm, q, qd, np.zeros(arm.n)) + drives.friction_torque(arm, qd)
    M = strobed_mass_matrix(arm, q, stem) + np.diag(drives.rotor_inertias(arm))
    return eliminate(M, tau - C_plus_G)  # (S1)


def eliminate(M: Matrix, b: Vector) -> Vector:
    """x with M x = b by Gaussian elimination without pivoting."""
    n = len(b)
    a, x = np.array(M, dtype=float), np.array(b, dtype=float)
    for k in range(n):
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k:] = a[i, k:] - factor * a[k, k:]
            x[i] = x[i] - factor * x[k]
    for k in range(n - 1, -1, -1):
        x[k] = (x[k] - a[k, k + 1 :] @ x[k + 1 :]) / a[k, k]
    return x


def four_point_step(g: Callable[[Vector], Vector], y: Vector, epsilon: float) -> Vector:
    """The next y of dy/dt = g(y) by the standard Runge-Kutta four point integration."""
    h1 = epsilon * g(y)  # (S2)
    h2 = epsilon * g(y + h1 / 2)  # (S3)
    h3 = epsilon * g(y + h2 / 2)  # (S4)
    h4 = epsilon * g(y + h3)  # (S5)
    return y + (h1 + 2 * h2 + 2 * h3 + h4) / 6  # (S6)


class PapersScheme(Engine):
    """The engine that runs the report's scheme: one motion after the other, in plain Python."""

    def __init__(self, setting: Setting) -> None:
        """Prepare; there are no free parameters here."""
        self.plant, self.per_step, self.progress = setting.plant, setting.per_step, setting.request.progress
        self.law = rows_in_python(setting.request) if setting.within else None

    def advance(
        self, state: State, t: float, count: int, dt: float, every: int, tau: Vector | None
    ) -> tuple[State, State]:
        """(state after count steps, recorded states and torques)."""
        return rows_of_steps(self._step, state, t, count, dt, every, tau, self.per_step, self.pause)

    def _torques(self, t: float, state: State, tau: Vector | None) -> Vector:
        return tau if tau is not None or self.law is None else self.law(t, state["q"], state["qd"])  # type: ignore[return-value]

    def _step(self, state: State, t: float, dt: float, tau: Vector | None) -> tuple[State, Vector]:
        """One step of all states, the time among them, by `four_point_step`."""
        names, shapes = list(state), [np.shape(value) for value in state.values()]
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])

        def unpack(y: Vector) -> State:
            pieces = zip(names, shapes, ends[:-1], ends[1:], strict=True)
            return {name: y[a:b].reshape(shape) for name, shape, a, b in pieces}

        def g(y: Vector) -> Vector:
            place = unpack(y)
            k = self._rates(place, self._torques(float(y[-1]), place, tau))
            return np.concatenate([*(np.ravel(k[name]) for name in names), [1.0]])

        y = np.concatenate([*(np.ravel(value) for value in state.values()), [t]])
        return unpack(four_point_step(g, y, dt)), self._torques(t, state, tau)

    def _rates(self, state: State, tau: Vector) -> State:
        """Rates of all states by `accelerations`, one row after the other."""
        plant, q, qd = self.plant, state["q"], state["qd"]
        rates = {name: np.empty(np.shape(value)) for name, value in state.items()}
        for row in np.ndindex(q.shape[:-1]):
            self.progress.still()
            here = {name: value[row] for name, value in state.items()}
            force = plant.clipped(np.broadcast_to(tau, q.shape)[row])
            push = self._push(q[row])
            found = scalar_rates(plant, here, force, push)
            found["qd_rate"] = accelerations(plant.arm, q[row], qd[row], force + push)
            found["qd"] = qd[row]
            for name, rate in rates_of(plant).items():
                rates[name][row] = found[rate]
        return rates

    def _push(self, q: Vector) -> Vector:
        wrench = self.plant.wrench
        return np.zeros(self.plant.arm.n) if wrench is None else wrench_torque(self.plant.arm, q, wrench)


SCHEME = Scheme(
    "papers",
    order=4,
    make=PapersScheme,
    told="section 7 of Turney, Mudge and Lee: strobed mass matrix, elimination, Runge-Kutta, in plain Python",
    stable=2.6,
    in_kernel=False,
    gpu=False,
    own_parameters=False,
    robots=False,
)
