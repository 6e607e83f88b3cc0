"""Pictures of records and of significance, in the style of all others; matplotlib is loaded when one is asked for."""

from typing import Any

import numpy as np

from forearm.faults import StateFault
from forearm.outside.escapes import picture
from forearm.plots.style import COLORS, DASHES, FAINT, figure, styled


def record_figure(record: Any) -> Any:
    """Positions, speeds, torques and the energy balance of one motion against time; a matplotlib Figure."""
    if record.q.ndim != 2:
        raise StateFault(
            f"plot: this record has {record.q.shape[:-2]} motions; a figure shows one: plot arrays of your choice."
        )
    arm, t = record.arm, record.t
    units = {"q": "position [rad, m]", "qd": "speed [rad/s, m/s]", "tau": "torque [N m, N]"}
    with styled():
        made, axes = figure(10, 6.5, nrows=2, ncols=2, squeeze=False)
        for axis, (name, label) in zip(axes.ravel(), units.items(), strict=False):
            values = getattr(record, name)
            joints = values[:, values.shape[1] - arm.n :]  # after the numbers of a base that is free
            for j, joint in enumerate(arm.joint_names):
                axis.plot(t, joints[:, j], **_line(j), label=picture(joint))
            axis.set(xlabel="t [s]", ylabel=label)
        axes[0, 0].legend(loc="best")
        lines = {
            "kinetic": record.kinetic,
            "potential, from the start": record.potential - record.potential[0],
            "work of the drives": record.work,
            "taken by friction": record.dissipated,
            "drift": record.drift,
        }
        for k, (label, values) in enumerate(lines.items()):
            axes[1, 1].plot(t, values, **_line(k), label=label)
        axes[1, 1].set(xlabel="t [s]", ylabel="energy [J]")
        axes[1, 1].legend(loc="best")
        made.suptitle(f"{picture(arm.name)}: {record.method}, dt = {record.dt:g} s, {record.outcome.kind}")
    return made


def _line(k: int) -> dict[str, Any]:
    return {"color": COLORS[k % len(COLORS)], "ls": DASHES[k % len(DASHES)]}


def speed_figure(study: Any) -> Any:
    """Torque error of leaving terms out, against how fast the motion is run; a matplotlib Figure."""
    with styled():
        made, axis = figure(7, 4.5)
        for k, (name, errors) in enumerate(study.errors.items()):
            shown = 100 * np.maximum(errors, 1e-16)
            axis.loglog(study.factors, shown, **_line(k), marker="o", ms=3, label=f"without {name}")
        axis.axvline(1.0, color=FAINT, lw=0.8)
        axis.set(
            xlabel="speed of the motion, in times its own",
            ylabel="largest torque error [% of largest torque]",
        )
        axis.legend(loc="best")
        axis.set_title(f"{picture(study.arm.name)}: what may be left out")
    return made
