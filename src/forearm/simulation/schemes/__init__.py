"""Integration schemes, one file each; a file holds the scheme's row and what makes its engine.

rk4          classical Runge-Kutta, inside the kernel
euler        semi-implicit Euler; `dry_friction` is the same with joints that stick, `stuck_joints` says which do
symplectic   implicit midpoint rule in momenta
dop853       adaptive, one motion
papers       as the report of 1980 did it, in plain Python

A scheme is added by its file and its name in SCHEMES; `simulate`, `advise_step`, the command line, outcomes and the GPU
read the row.
"""

from dataclasses import replace
from typing import Any

from forearm.faults import StateFault, positive, shown
from forearm.robot import Robot
from forearm.simulation.engines import Engine, Scheme, Setting
from forearm.simulation.request import Request, one_of, rows_in_python
from forearm.simulation.schemes import dop853, euler, papers, rk4, symplectic

SCHEMES: dict[str, Scheme] = {
    module.SCHEME.name: module.SCHEME for module in (rk4, euler, symplectic, dop853, papers)
}
"""Every scheme by name; the first is the default."""


def scheme_of(arm: Any, method: str, sticking: bool) -> Scheme:
    """The scheme that a simulation of an arm or robot asks for."""
    if isinstance(arm, Robot) and (sticking or not SCHEMES[method].robots):
        what = "sticking=True" if sticking else f"method={method!r}"
        able = [name for name, scheme in SCHEMES.items() if scheme.robots]
        raise StateFault(
            f"simulate: robot {arm.name!r} with {what}; robots are simulated by {' and '.join(map(repr, able))}, with "
            f"smooth friction; one chain of it takes the others, robot.arm({(arm.tips or ('',))[0]!r})."
        )
    if not sticking:
        return SCHEMES[method]
    found = SCHEMES[method].sticking
    if found is None:
        able = [name for name, scheme in SCHEMES.items() if scheme.sticking is not None]
        raise StateFault(
            f"simulate: sticking=True with method={method!r}; joints can stick with "
            f"method={' or '.join(map(repr, able))} only."
        )
    return found


def tolerances(scheme: Scheme, rtol: Any, atol: Any) -> tuple[float, float]:
    """Bounds of error, refused where no step can keep them (a search for one would not end) or nobody looks at them."""
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value is not None and not scheme.adaptive:
            raise StateFault(
                f"simulate: {name}={shown(value)} with method={scheme.name!r}, whose steps are dt whatever the error; "
                "give a smaller dt, or method='dop853'."
            )
    tight, tiny = 1e-10 if rtol is None else rtol, 1e-12 if atol is None else atol
    return positive(tight, "simulate: rtol"), positive(tiny, "simulate: atol")


def engine_of(request: Request, scheme: Scheme, rtol: float, atol: float, target: str) -> Engine:
    """The engine of a scheme, or a fault that says what it cannot do."""
    one_of("target", target, ("cpu", "cuda"))
    setting = Setting(request, target=target, rtol=rtol, atol=atol)
    law = request.law
    in_python = law is not None and setting.within and law.graph is None
    if target == "cuda" and (in_python or not scheme.gpu):
        able = [name for name, row in SCHEMES.items() if row.gpu]
        what = f"this law {law.why}" if in_python and law is not None else f"method is {scheme.name!r}"
        raise StateFault(
            f"simulate: target='cuda' runs {' and '.join(able)} with compiled laws, and {what}; give target='cpu', or "
            "give control_dt= to sample the law on the CPU between steps."
        )
    if not scheme.own_parameters and (request.own or request.plant.stop):
        what = f"{', '.join(request.own)} for each row" if request.own else "limits='stop'"
        raise StateFault(
            f"simulate: {scheme.name} does not take {what}; change the arm (arm.with_payload, arm.replace), or give "
            "method='rk4'."
        )
    if not scheme.batches and request.batch:
        raise StateFault(
            f"simulate: {scheme.name} takes one motion; give q0 (n,), or method='rk4' for a batch."
        )
    if in_python and not scheme.calls_python and law is not None:
        raise StateFault(
            f"simulate: {scheme.name} runs in the kernel, and this law {law.why}; give control_dt= to sample it "
            "between steps, or method='rk4'."
        )
    if in_python:
        return scheme.make(replace(setting, calls=rows_in_python(request)))
    return scheme.make(replace(setting, law=law.graph if law is not None and setting.within else None))
