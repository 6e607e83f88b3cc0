"""Pictures of records and of significance; matplotlib is loaded when one is asked for."""

from typing import Any

import numpy as np

from forearm.escapes import picture
from forearm.faults import KernelFault, StateFault


def _figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise KernelFault("plot: matplotlib is not installed; pip install 'forearm[plot]'.") from None
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def record_figure(record: Any) -> Any:
    """Positions, speeds, torques and the energy balance of one motion against time; a matplotlib Figure."""
    if record.q.ndim != 2:
        raise StateFault(
            f"plot: this record has {record.q.shape[:-2]} motions; a figure shows one: plot arrays of your choice."
        )
    figure, axes = _figure(2, 2, (10, 6.5))
    arm, t = record.arm, record.t
    units = {"q": "position [rad, m]", "qd": "speed [rad/s, m/s]", "tau": "torque [N m, N]"}
    for axis, (name, label) in zip(axes.ravel(), units.items(), strict=False):
        for j, joint in enumerate(arm.joint_names):
            axis.plot(t, getattr(record, name)[:, j], label=picture(joint))
        axis.set(xlabel="time [s]", ylabel=label)
        axis.grid(alpha=0.3)
    axes[0, 0].legend(fontsize="small")
    energy = axes[1, 1]
    start = record.potential[0]
    lines = {
        "kinetic": record.kinetic,
        "potential": record.potential - start,
        "work in": record.work,
        "dissipated": record.dissipated,
        "drift": record.drift,
    }
    for label, values in lines.items():
        energy.plot(t, values, label=label, ls="--" if label == "drift" else "-")
    energy.set(xlabel="time [s]", ylabel="energy [J]")
    energy.legend(fontsize="small")
    energy.grid(alpha=0.3)
    figure.suptitle(f"{picture(arm.name)}: {record.method}, dt = {record.dt:g} s, {record.outcome.kind}")
    return figure


def speed_figure(study: Any) -> Any:
    """Torque error of leaving terms out, against how fast the motion is run; a matplotlib Figure."""
    figure, axes = _figure(1, 1, (7, 4.5))
    axis = axes[0, 0]
    for name, errors in study.errors.items():
        axis.loglog(study.factors, 100 * np.maximum(errors, 1e-16), marker="o", ms=3, label=f"without {name}")
    axis.axvline(1.0, color="0.7", lw=0.8)
    axis.set(
        xlabel="speed of the motion, in times its own", ylabel="largest torque error [% of largest torque]"
    )
    axis.legend(fontsize="small")
    axis.grid(alpha=0.3, which="both")
    axis.set_title(f"{picture(study.arm.name)}: what may be left out")
    return figure
