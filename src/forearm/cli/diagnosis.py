"""What `forearm doctor` finds out: the machine, the packages, and whether forearm works on it."""

import os
import platform
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

import forearm
from forearm.compiler.pipeline import TARGETS, compile
from forearm.compiler.store.files import cache_folder
from forearm.faults import KernelFault
from forearm.stopwatch import processor

OPTIONAL = ("sympy", "matplotlib", "mujoco", "xarray", "casadi", "cupy-cuda13x", "torch", "jax")
"""Packages that extras bring."""
TOLERANCE = 1e-12

Tell = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Test:
    """One part of the self-test."""

    what: str
    """What was tried."""
    verdict: str
    """PASS, FAIL or none (not there, which is no fault)."""
    detail: str
    """What came out."""


def facts() -> dict[str, str]:
    """What this machine has."""
    optional = {name: _version(name) for name in OPTIONAL}
    here = ", ".join(f"{name} {found}" for name, found in optional.items() if found)
    absent = ", ".join(name for name, found in optional.items() if not found)
    return {
        "forearm": forearm.__version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": platform.platform(terse=True),
        "processor": f"{processor()}, {os.cpu_count()} threads",
        "numpy": np.__version__,
        "llvm": _llvm(),
        "C compiler": shutil.which("gcc") or shutil.which("cc") or "none (needed by nothing but emitted C)",
        "GPU": _gpu() or "usable",
        "kernels on disk": str(cache_folder() or "off"),
        "optional, here": here or "none",
        "optional, not here": absent or "none",
    }


def self_tests(tell: Tell | None = None) -> list[Test]:
    """Try the graph and every target on arms whose answer is known."""
    steps: tuple[tuple[str, Callable[[], Test]], ...] = (
        ("a closed form", _closed_form),
        ("the interpreter", _interpreter),
        *((f"target {name}", partial(_target, name)) for name in TARGETS),
    )
    found = []
    for done, (what, step) in enumerate(steps):
        if tell is not None:
            tell(done, len(steps), what)
        found.append(_tried(what, step))
    return found


def _tried(what: str, step: Callable[[], Test]) -> Test:
    try:
        return step()
    except Exception as error:
        return Test(what, "FAIL", f"{type(error).__name__}: {error}")


def _closed_form() -> Test:
    """A formulation on the RR arm held against g = (m1 c1 + m2 l1) g cos q1 + m2 c2 g cos(q1 + q2)."""
    from forearm.formulations import FORMULATIONS
    from forearm.readers import load

    arm, q, still = load("rr"), np.array([0.4, -1.1]), np.zeros(2)
    tau = FORMULATIONS["luh_walker_paul_1980"].joint_torques(arm, q, still, still)
    one, two = arm.links
    g, l1, l2 = -arm.gravity[1] or -arm.gravity[2], one.pose.translation[0], two.pose.translation[0]
    elbow = two.mass * g * (l2 + two.com[0]) * np.cos(q[0] + q[1])
    shoulder = (one.mass * (l1 + one.com[0]) + two.mass * l1) * g * np.cos(q[0]) + elbow
    return _verdict("reference, against a closed form", tau, np.array([shoulder, elbow]))


def _state() -> tuple[Any, list[Any], Any]:
    from forearm.formulations import FORMULATIONS
    from forearm.readers import load

    arm = load("puma560").without_drives()
    rows = list(arm.random_state(0, (16,)))
    torques = FORMULATIONS["luh_walker_paul_1980"].joint_torques
    return arm, rows, np.array([torques(arm, *state) for state in zip(*rows, strict=True)], dtype=float)


def _interpreter() -> Test:
    from forearm.compiler.graph.interpreter import interpret

    arm, rows, want = _state()
    kernel = compile(arm, "inverse_dynamics")
    got = [
        interpret(kernel.graph, dict(zip(("q", "qd", "qdd"), s, strict=True)))["tau"]
        for s in zip(*rows, strict=True)
    ]
    return _verdict("graph, interpreted", np.array(got, dtype=float), want)


def _target(name: str) -> Test:
    """A kernel of a target on NumPy rows, or what it would need here."""
    arm, rows, want = _state()
    try:
        kernel = compile(arm, "inverse_dynamics", target=name, dtype="float64", layout="rows")
        got = kernel(*rows)
    except KernelFault as fault:
        return Test(f"target {name}", "none", str(fault).partition(": ")[2] or str(fault))
    if kernel.how.startswith("NumPy"):
        return Test(
            f"target {name}", "none", f"{kernel.how.partition('because ')[2]}; the NumPy emitter serves"
        )
    return _verdict(f"target {name}", np.asarray(got), want)


def _verdict(what: str, got: Any, want: Any) -> Test:
    error = float(np.max(np.abs(got - want)) / np.max(np.abs(want)))
    return Test(what, "PASS" if error <= TOLERANCE else "FAIL", f"relative error {error:.1e}")


def _gpu() -> str | None:
    from forearm.compiler.cuda.device import missing_gpu

    missing = missing_gpu()
    return None if missing is None else str(missing)


def _llvm() -> str:
    try:
        import llvmlite.binding as llvm

        from forearm.compiler.llvm.jit import host
    except (ImportError, OSError, KernelFault):
        return "none: kernels run as NumPy"

    release = ".".join(map(str, llvm.llvm_version_info))
    return f"{release}, {llvm.get_host_cpu_name()}, {host().width('float64')} doubles at once"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
