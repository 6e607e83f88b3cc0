"""DOP853, the adaptive scheme of Dormand and Prince (order 8) through SciPy: one motion, to many digits."""

import numpy as np

from forearm.algebra import Vector
from forearm.compiler.graph.step_rules import RK4
from forearm.simulation.engines import Engine, Scheme, Setting, Stages
from forearm.simulation.plant import State
from forearm.simulation.request import law_torques


class Adaptive(Engine):
    """Steps of dt are where it reports; it restarts with each call, so that calls should be few."""

    torques_per_step = False

    def __init__(self, setting: Setting) -> None:
        """Prepare: the rates come from the steps in NumPy."""
        law = law_torques(setting.request) if setting.within else None
        self.stages = Stages(setting.plant, RK4, law, {})
        self.rtol, self.atol = setting.rtol, setting.atol

    def first_count(self, steps: int, rows: int) -> int:
        """An eighth of the motion."""
        return max(1, steps // 8)

    def start(self, q: Vector, qd: Vector) -> State:
        """The state at the beginning."""
        return {"q": q, "qd": qd, "work": np.zeros(()), "lost": np.zeros(())}

    def advance(
        self, state: State, t: float, count: int, dt: float, every: int, tau: Vector | None
    ) -> tuple[State, State]:
        """(state after count steps, recorded states)."""
        from scipy.integrate import solve_ivp

        n, stages = self.stages.plant.arm.n, self.stages
        full = {name: np.zeros(()) for name in stages.plant.scalars}

        def unpack(y: Vector) -> State:
            return {"q": y[:n], "qd": y[n : 2 * n], "work": y[2 * n], "lost": y[2 * n + 1]}

        def slope(now: float, y: Vector) -> Vector:
            place = full | unpack(y)
            k = stages.rates(place, stages.torques(now, place, tau))
            return np.concatenate([k["q"], k["qd"], [k["work"], k["lost"]]])

        y = np.concatenate([state["q"], state["qd"], [state["work"], state["lost"]]])
        times = t + dt * np.append(np.arange(0, count, every), count)
        with np.errstate(over="ignore", invalid="ignore"):
            found = solve_ivp(
                slope,
                (t, times[-1]),
                y,
                "DOP853",
                times,
                rtol=self.rtol,
                atol=self.atol,
            )
        path = np.full((2 * n + 2, len(times)), np.nan)
        path[:, : found.y.shape[1]] = found.y
        return unpack(path[:, -1]), {
            name: np.array([unpack(column)[name] for column in path.T[:-1]]) for name in state
        }


SCHEME = Scheme(
    "dop853",
    order=8,
    make=Adaptive,
    told="adaptive, error bounds rtol and atol, one motion",
    adaptive=True,
    in_kernel=False,
    gpu=False,
    batches=False,
    own_parameters=False,
)
