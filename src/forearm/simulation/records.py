"""What a simulation gives: records, the room that they need, and outcomes with advice."""

import errno
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np

from forearm import arm_calls, faults
from forearm.algebra import Matrix, Vector
from forearm.faults import KernelFault, StateFault
from forearm.motion.columns import KINDS, RECORDED
from forearm.motion.limit_excesses import LimitExcess, told
from forearm.motion.motion_files import by_joint, write_columns
from forearm.outside.libraries.optional_libraries import optional
from forearm.outside.memory_size import machine_memory, own_memory
from forearm.outside.option_names import option
from forearm.outside.output_files import replacing

LATE = ("tau", "qdd", "outcomes")
"""What is computed from the states; after Ctrl-C when it is first asked for, so that the answer comes at once."""
AT_ONCE = 2**18
"""Numbers that are copied without looking up."""
MAKING = 1.4
"""Memory that is taken while a record is made, in sizes of the record (1.2 to 1.38 were measured): at its end torques,
accelerations and outcomes are worked out, and whoever has no room for them then loses the motion."""

MUCH_DRIFT = 0.1
"""Which share of the energy that moved may come from nowhere before a motion is doubted."""


@dataclass(frozen=True)
class Outcome:
    """How a motion ended."""

    kind: str
    """'finished', 'saturated' (finished, torques held at their limits), 'limit hit', 'stopped at a limit', 'diverged',
    'step too large', 'too stiff' or 'interrupted'."""
    t: float
    """When [s]: the end, the first trespass, the last time that numbers were sound."""
    advice: str = ""
    """What to do about it."""
    joint: str = ""
    """Which joint first left its limits of position, where one did."""
    limits: tuple[LimitExcess, ...] = ()
    """Limits of position, speed and torque that states pass, and those at which torques are held; how far and when as
    recorded states have it."""
    last: float = math.inf
    """When the last state was reached, where a motion stopped before its end [s]."""

    @property
    def finished(self) -> bool:
        """Whether the motion went to its end within its joints' limits of position."""
        return self.kind in ("finished", "saturated")

    @property
    def within_limits(self) -> bool:
        """Whether no state was beyond a limit, recorded or between two that are, and no torque was held at one."""
        return not self.limits and not self.joint

    def __str__(self) -> str:
        where = f" of joint {self.joint!r}" if self.joint and self.kind != "interrupted" else ""
        beyond = f" [{told(self.limits)}]" if self.limits else ""
        return (
            f"{self.kind}{where} at t = {self.t:.6g} s" + (f": {self.advice}" if self.advice else "") + beyond
        )


class RecordRoom:
    """The arrays of a record, (*batch, K, ...): there from the beginning, so that at Ctrl-C little is left to do."""

    def __init__(self, batch: tuple[int, ...], n: int, records: int) -> None:
        """Refuse what no memory holds; nothing is taken before the first states come.

        Args:
            batch: Shape of the batch.
            n: Joints.
            records: How many states of each motion there will be at most, the last among them.
        """
        self.batch, self.records = batch, records
        self.arrays: dict[str, Vector] = {}
        self.need = MAKING * 8 * math.prod(batch) * records * (4 * n + 2)
        if self.need + own_memory() > machine_memory():
            raise self._refusal()

    def _refusal(self) -> StateFault:
        motions = math.prod(self.batch)
        of = f"{self.records:.3g} states of {'a motion' if motions == 1 else f'{motions} motions'}"
        return StateFault(
            f"simulate: a record of {of} takes {self.need / 1e9:.3g} GB to make, and this machine has "
            f"{machine_memory() / 1e9:.3g} GB, of which this process holds {own_memory() / 1e9:.2g} GB; give "
            f"{option('record_every', '...')} for fewer states, a shorter duration, or a longer step."
        )

    def put(
        self,
        first: int,
        count: int,
        rows: dict[str, Vector],
        pause: Callable[[float], None] = lambda share: None,
    ) -> int:
        """Keep states behind the first so many; how many there are then. `pause` is called now and then."""
        axis, place = len(self.batch), slice(first, first + count)
        for name in ("q", "qd", "work", "lost", "tau"):
            if name not in rows:
                continue
            value = np.asarray(rows[name])
            if name not in self.arrays:
                self.arrays[name] = self._array(value.shape[axis + 1 :])
            into = self.arrays[name][(slice(None),) * axis + (place,)]
            value = np.broadcast_to(value, into.shape)
            at_once = max(1, AT_ONCE * len(into) // max(1, into.size)) if self.batch else count
            for k in range(0, len(into), at_once):
                into[k : k + at_once] = value[k : k + at_once]
                pause(1.0)
        return first + count

    def _array(self, shape: tuple[int, ...]) -> Vector:
        try:
            return np.empty((*self.batch, self.records, *shape))
        except MemoryError:
            raise self._refusal() from None

    def all(self, count: int, end: dict[str, Vector]) -> dict[str, Vector]:
        """The first so many states with the last behind them, by name; the last torques are not known yet."""
        if not count:
            return {name: np.expand_dims(np.array(value), len(self.batch)) for name, value in end.items()}
        rows = {name: np.expand_dims(np.asarray(value), len(self.batch)) for name, value in end.items()}
        self.put(count, 1, rows)
        some = (slice(None),) * len(self.batch) + (slice(0, count + 1),)
        return {name: array[some] for name, array in self.arrays.items()}


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
    later: Callable[[str], Any] | None = field(default=None, repr=False)
    """What computes torques, accelerations and outcomes where a simulation was interrupted; None: they are there."""
    interrupted: bool = False
    """Whether Ctrl-C was pressed: motions end at `t[-1]` then, whatever became of them by then."""

    def __post_init__(self) -> None:
        """What comes later is missing until somebody asks for it."""
        for name in LATE if self.later is not None else ():
            if getattr(self, name) is None:
                object.__delattr__(self, name)

    def __getattr__(self, name: str) -> Any:
        later = self.__dict__.get("later")
        if name not in LATE or later is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = later(name)
        object.__setattr__(self, name, found)
        return found

    def __getstate__(self) -> dict[str, Any]:
        """A pickle has everything."""
        return {**self.__dict__, **{name: getattr(self, name) for name in LATE}, "later": None}

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

    def _quantity(self, name: str, *states: Vector, **options: Any) -> Any:
        """A quantity along the motions, each with the parameters that it had for itself."""
        free = {"free": tuple(self.free)} if self.free else {}
        rows = [np.expand_dims(v, self.q.ndim - 2) for v in self.free.values()]
        return arm_calls.kernel_of(self.arm, name, **options, **free).general(*states, *rows)

    @cached_property
    def _energy(self) -> Any:
        return self._quantity("energy", self.q, self.qd)

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
        """Largest |drift| over the largest of kinetic energy, work and loss (...), at the recorded instants."""
        scale = np.maximum.reduce(
            [np.abs(x).max(axis=-1) for x in (self.kinetic, self.work, self.dissipated)]
        )
        return np.abs(self.drift).max(axis=-1) / np.where(scale > 0, scale, 1.0)

    @property
    def doubt_of_energy(self) -> str:
        """What is to be said where steps are so long that energy comes from nowhere, or goes there; '' otherwise."""
        share = np.asarray(self.relative_drift)
        if not np.any(share > MUCH_DRIFT):
            return ""
        many = f"of {np.count_nonzero(share > MUCH_DRIFT)} of {share.size} motions " if share.size > 1 else ""
        return (
            f"the energy {many}is wrong by up to {100 * float(np.nanmax(share)):.2g} % of what moved or was put in "
            "(the drift): steps are too long for this motion, and it is not the arm's; try dt = "
            f"{self.dt / 4:.2g} s or shorter."
        )

    @cached_property
    def poses(self) -> Matrix:
        """Pose of the tool (..., K, 4, 4), world axes."""
        return self._quantity("pose", self.q, frame="tool")  # type: ignore[no-any-return]

    def __str__(self) -> str:
        rows = int(np.prod(self.q.shape[:-2]))
        kinds = [o.kind for o in np.asarray(self.outcomes, dtype=object).ravel()]
        ends = (
            ", ".join(f"{kinds.count(k)} {k}" for k in dict.fromkeys(kinds)) or "nothing moved"
            if rows != 1
            else str(self.outcome)
        )
        many = f"{rows} motions" if rows != 1 else "a motion"
        end = f"{self.t[-1]:g} s" if len(self.t) else "0 s"
        return (
            f"{many} of {self.arm.name!r}, {end} by {self.method}, dt = {self.dt:g} s; {ends}; law {self.law}"
        )

    def until_stopped(self) -> "Record":
        """One motion without the rows after it stopped at a limit, which repeat its last state; its last row is then.

        Motions that did not stop, and batches, whose rows all have the same times, are given back as they are.
        """
        if self.q.ndim != 2 or math.isinf(end := self.outcome.last):
            return self
        last = int(np.searchsorted(self.t, end - 1e-6 * self.dt))
        cut = {
            name: getattr(self, name)[: last + 1] for name in ("q", "qd", "qdd", "tau", "work", "dissipated")
        }
        return replace(self, t=np.append(self.t[:last], end), **cut, later=None)

    def thinned(self, stride: int) -> "Record":
        """One motion with every so many of its rows, and the last; the outcome stays that of all rows.

        What it says of limits keeps its times and sizes, and names the nearest rows that are left.
        """
        if self.q.ndim != 2:
            raise StateFault(
                f"thinned: this record has {self.q.shape[:-2]} motions; give record_every instead."
            )
        rows = len(self.t)
        kept = np.append(np.arange(0, rows - 1, min(stride, rows)), rows - 1) if rows else np.arange(0)

        def nearest(row: int) -> int:
            return row if row < 0 else int(np.argmin(np.abs(kept - row)))

        cut = {
            name: getattr(self, name)[kept] for name in ("t", "q", "qd", "qdd", "tau", "work", "dissipated")
        }
        limits = tuple(
            replace(excess, row=nearest(excess.row), first_row=nearest(excess.first_row))
            for excess in self.outcome.limits
        )
        outcomes = np.empty((), dtype=object)
        outcomes[()] = replace(self.outcome, limits=limits)
        return replace(self, **cut, outcomes=outcomes, later=None)

    # -- out of the door ---------------------------------------------------------------------------------

    @faults.explained
    def to_csv(self, path: str | Path | IO[str]) -> Path:
        """Write one motion as columns t, q, qd, qdd, tau (by joint), energies; gives the path.

        A motion that stopped at a limit ends there.
        """
        if self.q.ndim != 2:
            raise StateFault(
                f"to_csv: this record has {self.q.shape[:-2]} motions; CSV takes one: give to_npz, or simulate one."
            )
        rows = self.until_stopped()
        columns: dict[str, Vector] = {"t": rows.t}
        for kind in KINDS:
            columns |= by_joint(self.arm, kind, getattr(rows, kind))
        return write_columns(path, columns | {name: getattr(rows, name) for name in RECORDED})

    @faults.explained
    def to_npz(self, path: str | Path) -> Path:
        """Write all arrays to a NumPy archive, whose name gets .npz where it ends otherwise; gives the path."""
        if os.path.basename(path) in ("", os.curdir, os.pardir):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        target = Path(path if str(path).endswith(".npz") else f"{path}.npz")
        with replacing(target) as file:
            np.savez_compressed(file, **self.arrays())  # type: ignore[arg-type]
        return target

    def arrays(self) -> dict[str, Vector]:
        """Every array by name, energies and drift included."""
        names = ("t", "q", "qd", "qdd", "tau", "kinetic", "potential", "work", "dissipated", "drift")
        return {name: getattr(self, name) for name in names}

    def to_xarray(self) -> Any:
        """An xarray.Dataset with axes (row…, t, joint), coordinate for q of a free base; needs the extra 'xarray'."""
        try:
            xarray = optional("xarray")
        except ImportError:
            raise KernelFault("to_xarray: xarray is not installed; pip install 'forearm[xarray]'.") from None
        rows = [f"row{i}" for i in range(self.q.ndim - 2)]
        data = {}
        coords = {"t": self.t, "joint": faults.coordinates(self.arm, "qd")}
        if self.q.shape[-1] != self.qd.shape[-1]:  # a free base has one number more in q
            coords["coordinate"] = faults.coordinates(self.arm, "q")
        for name, values in self.arrays().items():
            if name != "t":
                own = "coordinate" if name == "q" and "coordinate" in coords else "joint"
                axes = [*rows, "t", own] if values.ndim == self.q.ndim else [*rows, "t"]
                data[name] = (axes, values)
        return xarray.Dataset(data, coords=coords, attrs={"arm": self.arm.name})

    def plot(self) -> Any:
        """A figure of positions, speeds, torques and the energy balance of one motion; needs matplotlib."""
        from forearm.plots.record_figures import record_figure

        return record_figure(self)
