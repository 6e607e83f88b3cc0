"""What a simulation gives: records, and outcomes with advice."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from forearm import arm_calls, dynamics
from forearm.algebra import Matrix, Vector
from forearm.faults import KernelFault, StateFault
from forearm.motion.columns import KINDS, RECORDED
from forearm.motion.limit_excesses import LimitExcess, told
from forearm.motion.motion_files import by_joint, write_columns
from forearm.output_files import replacing


@dataclass(frozen=True)
class Outcome:
    """How a motion ended."""

    kind: str
    """'finished', 'saturated' (finished, torques held at their limits), 'limit hit', 'stopped at a limit', 'diverged',
    'step too large' or 'interrupted'."""
    t: float
    """When [s]: the end, the first trespass, the last time that numbers were sound."""
    advice: str = ""
    """What to do about it."""
    joint: str = ""
    """Which joint, where it is one."""
    limits: tuple[LimitExcess, ...] = ()
    """Limits of position, speed and torque that recorded states pass, and those at which torques are held."""

    @property
    def finished(self) -> bool:
        """Whether the motion went to its end within its joints' limits of position."""
        return self.kind in ("finished", "saturated")

    @property
    def within_limits(self) -> bool:
        """Whether no recorded state is beyond a limit, and no torque was held at one."""
        return not self.limits and self.kind not in ("limit hit", "stopped at a limit")

    def __str__(self) -> str:
        where = f" of joint {self.joint!r}" if self.joint else ""
        beyond = f" [{told(self.limits)}]" if self.limits else ""
        return (
            f"{self.kind}{where} at t = {self.t:.6g} s" + (f": {self.advice}" if self.advice else "") + beyond
        )


@dataclass(frozen=True, eq=False)
class Record:
    """A motion, or a batch of motions: arrays (..., K, n), K the recorded times."""

    arm: Any
    """The arm or robot that was simulated."""
    t: Vector
    """Times (K,) [s]."""
    q: Vector
    """Positions (..., K, n) [rad or m]."""
    qd: Vector
    """Speeds (..., K, n)."""
    qdd: Vector
    """Accelerations (..., K, n)."""
    tau: Vector
    """Torques of the drives (..., K, n), as applied (within their limits) [N m or N]."""
    work: Vector
    """Work done on the arm by drives and wrench since the beginning (..., K) [J]."""
    dissipated: Vector
    """Energy lost in friction since the beginning (..., K) [J]."""
    outcomes: Any
    """One Outcome for each motion, an object array (...)."""
    method: str
    """The scheme."""
    dt: float
    """Step [s]."""
    law: str
    """Which law, and whether it was compiled (or why not)."""
    free: dict[str, Vector] = field(default_factory=dict)
    """Parameters that motions had for themselves, by path, (..., *shape)."""

    @property
    def outcome(self) -> Outcome:
        """The outcome of a single motion; of a batch the first that did not finish, or went beyond limits."""
        every = list(np.asarray(self.outcomes, dtype=object).ravel())
        beyond = next((o for o in every if not o.within_limits), every[0])
        return next((o for o in every if not o.finished), beyond)

    @property
    def finished(self) -> Any:
        """Which motions finished: a bool array (...)."""
        return np.vectorize(lambda o: o.finished, otypes=[bool])(self.outcomes)

    @property
    def end(self) -> tuple[Vector, Vector]:
        """Last (q, qd), each (..., n)."""
        return self.q[..., -1, :], self.qd[..., -1, :]

    @cached_property
    def _energy(self) -> Any:
        options = {"free": tuple(self.free)} if self.free else {}
        rows = [np.expand_dims(v, self.q.ndim - 2) for v in self.free.values()]
        kernel = arm_calls.kernel_of(self.arm, "energy", **options)
        return kernel.general(self.q, self.qd, *rows)

    @property
    def kinetic(self) -> Vector:
        """Kinetic energy (..., K) [J], rotors included."""
        return self._energy[0]  # type: ignore[no-any-return]

    @property
    def potential(self) -> Vector:
        """Potential energy (..., K) [J]."""
        return self._energy[1]  # type: ignore[no-any-return]

    @property
    def drift(self) -> Vector:
        """Energy that came from nowhere (..., K) [J]: change of energy less work in, plus what was dissipated."""
        total = self.kinetic + self.potential
        return total - total[..., :1] - self.work + self.dissipated

    @cached_property
    def relative_drift(self) -> Any:
        """Largest |drift| over the largest of kinetic energy, work and loss (...)."""
        scale = np.maximum.reduce(
            [np.abs(x).max(axis=-1) for x in (self.kinetic, self.work, self.dissipated)]
        )
        return np.abs(self.drift).max(axis=-1) / np.where(scale > 0, scale, 1.0)

    @cached_property
    def poses(self) -> Matrix:
        """Pose of the tool (..., K, 4, 4), world axes."""
        return dynamics.pose(self.arm, self.q)

    def __str__(self) -> str:
        rows = int(np.prod(self.q.shape[:-2]))
        kinds = [o.kind for o in np.asarray(self.outcomes, dtype=object).ravel()]
        ends = (
            ", ".join(f"{kinds.count(k)} {k}" for k in dict.fromkeys(kinds))
            if rows > 1
            else str(self.outcome)
        )
        many = f"{rows} motions" if rows > 1 else "a motion"
        end = f"{self.t[-1]:g} s" if len(self.t) else "0 s"
        return (
            f"{many} of {self.arm.name!r}, {end} by {self.method}, dt = {self.dt:g} s; {ends}; law {self.law}"
        )

    # -- out of the door ---------------------------------------------------------------------------------

    def to_csv(self, path: Any) -> Path:
        """Write one motion as columns t, q, qd, qdd, tau (by joint), energies; gives the path."""
        if self.q.ndim != 2:
            raise StateFault(
                f"to_csv: this record has {self.q.shape[:-2]} motions; CSV takes one: give to_npz, or simulate one."
            )
        columns: dict[str, Vector] = {"t": self.t}
        for kind in KINDS:
            columns |= by_joint(self.arm, kind, getattr(self, kind))
        return write_columns(path, columns | {name: getattr(self, name) for name in RECORDED})

    def to_npz(self, path: Any) -> Path:
        """Write all arrays to a NumPy archive; gives the path."""
        target = Path(path).with_suffix(".npz")
        with replacing(target) as file:
            np.savez_compressed(file, **self.arrays())  # type: ignore[arg-type]
        return target

    def arrays(self) -> dict[str, Vector]:
        """Every array by name, energies and drift included."""
        names = ("t", "q", "qd", "qdd", "tau", "kinetic", "potential", "work", "dissipated", "drift")
        return {name: getattr(self, name) for name in names}

    def to_xarray(self) -> Any:
        """An xarray.Dataset with axes (row…, t, joint); needs the extra 'xarray'."""
        try:
            import xarray
        except ImportError:
            raise KernelFault("to_xarray: xarray is not installed; pip install 'forearm[xarray]'.") from None
        rows = [f"row{i}" for i in range(self.q.ndim - 2)]
        data = {}
        for name, values in self.arrays().items():
            if name != "t":
                axes = [*rows, "t", "joint"] if values.ndim == self.q.ndim else [*rows, "t"]
                data[name] = (axes, values)
        return xarray.Dataset(
            data, coords={"t": self.t, "joint": list(self.arm.joint_names)}, attrs={"arm": self.arm.name}
        )

    def plot(self) -> Any:
        """A figure of positions, speeds, torques and the energy balance of one motion; needs matplotlib."""
        from forearm.plots.record_figures import record_figure

        return record_figure(self)
