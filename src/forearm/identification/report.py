"""The report of an identification as one HTML page: measured beside predicted torques, residuals, intervals."""

from typing import TYPE_CHECKING, Any

import numpy as np

import forearm
from forearm.identification.drive_columns import MOTOR_KINDS
from forearm.identification.torque_rows import TorqueEquations
from forearm.page import Figure, PageTable, Section, page

if TYPE_CHECKING:
    from forearm.identification.identified import Identified

WARNING = "WARNING: "
"""Notes that begin so stand at the head of the page."""


def report(found: "Identified") -> str:
    """The page."""
    whole = found.residuals
    facts = [
        (f"{whole.train_total:.2%}", "residual on the log"),
        *([] if whole.validation_total is None else [(f"{whole.validation_total:.2%}", "on the other log")]),
        (str(found.base.columns.rank), "base parameters"),
        (f"{found.cutoff:.3g} Hz", "cut-off of the filters"),
    ]
    lead = (
        f"Identified from `{found.log}`: the arm whose numbers explain a measured motion, every link a body that can "
        f"be (smallest eigenvalue of a pseudo-inertia {min(found.smallest):.2g}, positive in exact arithmetic)."
    )
    sections = [
        *_warnings(found),
        _torques(found),
        _residuals(found),
        _drives(found),
        _base(found),
        _determined(found),
        _notes(found),
    ]
    end = f"Written by forearm {forearm.__version__}."
    return page(f"{found.arm.name}: the numbers of the real arm", lead, facts, "", sections, end)


def _warnings(found: "Identified") -> list[Section]:
    """What casts doubt on everything below, before it."""
    said = [note.removeprefix(WARNING) for note in found.notes if note.startswith(WARNING)]
    text = "Look into these before the numbers are believed; intervals do not know of them."
    return (
        [Section("Warnings", text, [PageTable(("what was found",), [[note] for note in said])])]
        if said
        else []
    )


def _torques(found: "Identified") -> Section:
    text = (
        "Filtered alike; predicted by the identified arm and its offsets. What is left over should look like noise: "
        "where it follows the motion, something is not in the model."
    )
    figures: list[Any] = []
    for equations, where in ((found.equations, "log"), (found.validation, "other log, not fitted to")):
        if equations is not None:
            name = f"torques{len(figures)}"
            drawn = _drawn(found, equations, name)
            figures += [Figure(drawn, f"Torques of the {where}.", name)] if drawn else []
    if not figures:
        text += " Pictures need matplotlib: pip install 'forearm[plot]'."
    return Section("Measured and predicted torques", text, figures)


def _drawn(found: "Identified", equations: TorqueEquations, name: str) -> str | None:
    try:
        from forearm.plots import comparison_figure, svg
    except ImportError:
        return None
    predicted = equations.X @ found.theta + equations.known
    return svg(comparison_figure(found.arm, equations.t, equations.tau, predicted), name)


def _residuals(found: "Identified") -> Section:
    whole = found.residuals
    columns = dict(whole.fits)
    if whole.validated is not None:
        columns |= {f"{name} (other)": values for name, values in whole.validated.items()}
    rows = [
        [joint, *(f"{values[i]:.2%}" for values in columns.values())]
        for i, joint in enumerate((*whole.joints, "all joints"))
    ]
    text = (
        "What is not explained, of the filtered torque. Least squares fits base parameters without asking whether a "
        "body can have them; the consistent fit is the identified arm. The difference is what consistency costs."
    )
    text += "" if whole.validated is None else " The other log was not fitted to."
    return Section("Residuals", text, [PageTable(("joint", *columns), rows)])


def _drives(found: "Identified") -> Section:
    u = found.theta[10 * found.arm.n :]
    part = {kind: found.drives.part(u, kind) for kind in ("FV", "FC", "FD", "IA", "OF")}
    rows = [[name, *(float(part[k][i]) for k in part)] for i, name in enumerate(found.residuals.joints)]
    for i in found.drives.motors:
        viscous, dry, rotor = (float(found.coupled[f"{kind}{i + 1}"]) for kind in MOTOR_KINDS)
        rows.append([f"motor {i + 1}, with several joints", viscous, dry, "", rotor, ""])
    header = ("joint", "viscous", "dry", "± dry", "rotor", "offset")
    return Section("Drives", "At the joints, SI units.", [PageTable(header, rows)])


def _base(found: "Identified") -> Section:
    base = found.base
    rows = [
        [name, float(v), float(s), float(low), float(high), float(c), group]
        for name, v, s, (low, high), c, group in zip(
            base.names, base.values, base.std, base.intervals, base.consistent, base.groups, strict=True
        )
    ]
    header = ("name", "value", "std", "95 % from", "to", "identified arm", "group")
    text = "Combinations that torques can tell, by weighted least squares, and those of the identified arm."
    return Section("Base parameters", text, [PageTable(header, rows, code=(0, 6))])


def _determined(found: "Identified") -> Section:
    rows = [[name, names or "none alone"] for name, names in found.determined.items()]
    text = "Parameters of each link that the data determine; the others lean on the arm that was given."
    return Section("What is determined", text, [PageTable(("link", "by the data"), rows)])


def _notes(found: "Identified") -> Section:
    rows = [[str(k), note] for k, note in enumerate(found.notes, 1)]
    least = float(np.min(found.smallest))
    text = f"What was done on the way. Smallest eigenvalue of all pseudo-inertias: {least:.3g}."
    return Section("Notes", text, [PageTable(("", "note"), rows)])
