"""What a formulation sees while it is counted: an arm of counted numbers, and its own copy of the module.

The arm's links answer as real ones do (`rotation`, `p_star`, `axis`, `about_com`, ...), with the same values,
but the numbers are counted scalars that carry what the convention says about them: constant or not, zeros and
ones free or not. The formulation's file is executed unchanged, as a second module, in which NumPy marks the
zeros and ones that pad a larger matrix, so that they can be told from the zeros a recursion starts with.
"""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from forearm.arm import WALK, Arm
from forearm.counting.meter.conventions import Convention
from forearm.counting.meter.counted_scalar import TRIG, Counted, Meter, Operation, values
from forearm.faults import StateFault, floats, no_formulation, one_state, several, shown, whole
from forearm.formulations import FORMULATIONS
from forearm.frames import Pose
from forearm.inertia import AboutCom, Inertia, Ten
from forearm.link import Link
from forearm.strobing import Strobed, strobe


def generic_arm(n: int, kinds: str = "R", inertia: str = "full", gravity: str = "dense") -> Arm:
    """An arm of n joints in which no entry of any matrix is zero or one (except as the arguments say)."""
    if not isinstance(kinds, str) or not kinds or not set(kinds) <= set("RP"):  # type: ignore[redundant-expr]
        raise StateFault(
            f"count: kinds is {shown(kinds)}; give the kinds of joints, 'R', 'P' or a pattern of both."
        )
    rng = np.random.default_rng(1980)
    links = []
    for i in range(whole(n, "count: n", 1, MOST_JOINTS)):
        points = rng.uniform(0.05, 0.3, 3) * rng.normal(size=(5, 3))
        moments = (points**2).sum() * np.eye(3) - points.T @ points
        if inertia == "diagonal":
            moments = np.diag(np.diag(moments))
        pose = Pose.at(rng.uniform(0.1, 0.5, 3), rng.uniform(0.3, 1.2, 3))
        mass, com = rng.uniform(1, 5), tuple(rng.uniform(0.05, 0.3, 3))
        kind = "revolute" if kinds[i % len(kinds)] == "R" else "prismatic"
        theta, d = rng.uniform(-1, 1), rng.uniform(0.1, 0.4)
        links.append(Link(kind, pose, theta, d, mass, com, Inertia.about_com(moments)))
    g = {"dense": (2.1, -3.2, -8.9), "vertical": (0.0, 0.0, -9.81), "none": (0.0, 0.0, 0.0)}[gravity]
    return Arm(f"generic {n}", tuple(links), gravity=g)


MOST_JOINTS = 1000
"""Joints of a generic arm."""


class CountedPose:
    """A constant pose of counted numbers."""

    def __init__(self, pose: Pose, meter: Meter) -> None:
        """Stand for a real pose."""
        structural = meter.convention.entries == "structural"
        self.R = meter.array(pose.R, constant=True, structural=structural)
        self.p = meter.array(pose.p, constant=True, structural=structural)


class CountedLink:
    """A link whose numbers are counted scalars."""

    def __init__(self, link: Link, meter: Meter) -> None:
        """Stand for a real link."""
        self._link, self._meter = link, meter
        c = meter.convention
        self._structural = c.entries == "structural"
        self.revolute, self.prismatic, self.kind, self.name = (
            link.revolute,
            link.prismatic,
            link.kind,
            link.name,
        )
        self.flip = link.flip
        self.z = meter.array(link.z, constant=True, structural=c.z == "sparse")
        self.axis = meter.array(link.axis, constant=True, structural=self._structural)
        self.mass = meter.number(link.mass, constant=True)
        _, r, tensor = link.about_com
        diagonal = c.inertia == "diagonal"
        self.com = meter.array(r, constant=True, structural=self._structural)
        inertia = meter.array(tensor, constant=True, structural=self._structural or diagonal)
        self.about_com = AboutCom(self.mass, self.com, inertia)
        _, h, origin = link.ten
        moment = meter.array(h, constant=True, structural=self._structural)
        self.ten = Ten(self.mass, moment, meter.array(origin, constant=True, structural=self._structural))

    @property
    def pseudo_inertia(self) -> Any:
        """The 4x4 second moments, constant."""
        return self._meter.array(self._link.pseudo_inertia, constant=True, structural=self._structural)

    def _wrap(self, array: Any, constant: bool) -> Any:
        return self._meter.array(array, constant=constant, structural=self._structural)

    def rotation(self, q: Any) -> Any:
        """A_i; a sine and a cosine are noted, its entries are given."""
        if self.revolute:
            self._meter.operations.extend([Operation(TRIG, "", "", 0, (), 1)] * 2)
        return self._wrap(self._link.rotation(_float(q)), constant=False)

    def p_star(self, q: Any) -> Any:
        """p*_i in link axes, constant for a revolute joint."""
        return self._wrap(self._link.p_star(_float(q)), constant=self.revolute)

    def p_before(self, q: Any) -> Any:
        """p*_i in the axes before the joint."""
        return self._wrap(self._link.p_before(_float(q)), constant=False)

    def displacement(self, q: Any) -> Any:
        """How far the joint has moved."""
        return self._meter.number(self._link.displacement(_float(q)))

    def turn(self, q: Any) -> Any:
        """Sine and cosine of the joint angle."""
        if self.revolute:
            self._meter.operations.extend([Operation(TRIG, "", "", 0, (), 1)] * 2)
        return tuple(self._wrap(self._link.turn(_float(q)), constant=self.prismatic))

    def length(self, q: Any) -> Any:
        """The length along the joint axis."""
        return self._meter.number(
            self._link.length(_float(q)), constant=self.revolute, structural=self._structural
        )

    @property
    def pose(self) -> CountedPose:
        """X, the constant pose after the joint."""
        return CountedPose(self._link.pose, self._meter)

    @property
    def ten_at_joint(self) -> Ten:
        """The view `ten` in the frame at the joint."""
        mass, h, inertia = self._link.ten_at_joint
        return Ten(self._meter.number(mass, constant=True), self._wrap(h, True), self._wrap(inertia, True))

    def __getattr__(self, name: str) -> Any:
        raise StateFault(
            f"counting: a formulation asked link {self.name!r} for {name!r}; counted links answer what the papers "
            "need (rotation, p_star, p_before, axis, z, about_com, ten, pseudo_inertia). Use one of these."
        )


class CountedArm:
    """An arm of counted links."""

    def __init__(self, arm: Arm, meter: Meter) -> None:
        """Stand for a real arm."""
        self.name, self.n = arm.name, arm.n
        self.links = tuple(CountedLink(link, meter) for link in arm.links)
        sparse = meter.convention.gravity != "dense"
        self.gravity_in_base = meter.array(arm.gravity_in_base, constant=True, structural=sparse)
        if meter.convention.gravity == "none":
            self.gravity_in_base = np.zeros(3)
        self._arm, self._meter = arm, meter
        self.root = arm.root  # the unit pose: plain ones and zeros

    def replace(self, *, gravity: Any) -> CountedArm:
        """The arm under another gravity (strobing sets it to zero)."""
        other = CountedArm(self._arm.replace(gravity=gravity), self._meter)
        if not any(gravity):
            other.gravity_in_base = np.zeros(3)
        return other


def _float(q: Any) -> float:
    return float(values([q])[0])


class _MarkingNumpy(ModuleType):
    """NumPy, except that plain numbers beside counted ones in a new homogeneous array (a side of 4) become fill."""

    def __init__(self, meter: Meter) -> None:
        super().__init__("numpy")
        self._meter = meter

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if not callable(found) or isinstance(found, type):
            return found

        def marking(*args: Any, **keywords: Any) -> Any:
            return self._marked(found(*args, **keywords))

        return marking

    def _marked(self, result: Any) -> Any:
        if not isinstance(result, np.ndarray) or result.dtype != object or 4 not in result.shape:
            return result
        counted = [type(x) is Counted for x in result.ravel()]
        if all(counted) or not any(counted):
            return result
        free = self._meter.convention.fill == "free"
        fill = [
            x if type(x) is Counted else self._meter.number(float(x), constant=free, structural=free)
            for x in result.ravel()
        ]
        out = np.empty(result.size, dtype=object)
        out[:] = fill
        return out.reshape(result.shape)


@cache
def _source(stem: str) -> tuple[str, Any]:
    """Name and compiled code of a formulation's or variant's module."""
    if not str(stem).isidentifier():
        no_formulation(stem, FORMULATIONS, where="count: ")
    name = f"forearm.formulations.{stem}" if stem in FORMULATIONS else f"forearm.counting.as_counted.{stem}"
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        no_formulation(stem, FORMULATIONS, where="count: ")
    return name, spec.loader.get_code(name)  # type: ignore[union-attr]


def private_copy(stem: str, meter: Meter) -> ModuleType:
    """The formulation's module, executed anew from its file, with its own view of NumPy."""
    name, code = _source(stem)
    module = ModuleType(name)
    exec(code, module.__dict__)
    module.__dict__["np"] = _MarkingNumpy(meter)
    return module


def state_of(arm: Arm) -> tuple[Any, Any, Any]:
    """A state in which nothing is zero."""
    k = np.arange(1, arm.n + 1)
    return 0.3 + 0.17 * k, 0.9 - 0.13 * k + 0.011 * k * k, -0.4 + 0.23 * k


def run_counted(
    stem: str, arm: Arm, convention: Convention, quantity: str = "joint_torques", arguments: Any = None
) -> tuple[Meter, Any]:
    """Run a quantity of a formulation on counted scalars: the meter, and the counted result.

    `arguments` are the function's arguments after the arm as float arrays; by default a generic state.
    Zeros in them are structural (strobing: qd = 0), other numbers are variables.
    """
    meter = Meter(convention)
    module = private_copy(stem, meter)
    function: Callable[..., Any] | None = getattr(module, quantity, None)
    if function is None:
        raise StateFault(f"count: {stem} has no {quantity!r}; it gives {', '.join(_gives(stem))}.")
    usual = default_arguments(arm, quantity)
    inputs = usual if arguments is None else _vectors(arm, arguments, len(usual))
    counted = [meter.array(x, structural=True) for x in inputs]
    known = (
        _tabulated(arm, inputs[0], meter) if "coefficients" in inspect.signature(function).parameters else {}
    )
    token = WALK.set(meter)
    try:
        result = function(CountedArm(arm, meter), *counted, **known)
    finally:
        WALK.reset(token)
    return meter, result


def _vectors(arm: Arm, arguments: Any, many: int) -> list[Any]:
    """Arguments after the arm: one number for each joint, each."""
    given = several(arguments, "count: arguments", many, StateFault)
    if len(given) != many:
        raise StateFault(
            f"count: arguments are {len(given)} arrays; give {many}, one number for each joint in each."
        )
    for k, one in enumerate(given):
        one_state(arm, f"count: arguments[{k}]", one)
    return [floats(f"count: arguments[{k}]", one) for k, one in enumerate(given)]


def _tabulated(arm: Arm, q: Any, meter: Meter) -> dict[str, Any]:
    """The coefficients that a tabular method looks up: variables, at no cost."""
    found = strobe(arm, q)
    return {"coefficients": Strobed(M=meter.array(found.M), C=meter.array(found.C), g=meter.array(found.g))}


def default_arguments(arm: Arm, quantity: str) -> tuple[Any, ...]:
    """A generic state for the arguments of a quantity (after the arm)."""
    q, qd, qdd = state_of(arm)
    return {
        "mass_matrix": (q,),
        "christoffel": (q,),
        "gravity_torque": (q,),
        "coriolis_matrix": (q, qd),
        "joint_accelerations": (q, qd, 3.0 + qdd),
    }.get(quantity, (q, qd, qdd))


def _gives(stem: str) -> tuple[str, ...]:
    return FORMULATIONS[stem].gives if stem in FORMULATIONS else ("joint_torques",)
