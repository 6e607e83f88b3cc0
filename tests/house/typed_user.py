"""A user's file with annotations everywhere: mypy --strict finds nothing to say about it, and it runs."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import forearm as fa

Array = NDArray[np.float64]


def own_arm() -> fa.Arm:
    """Two links, made by hand."""
    slab = fa.Inertia.box(2.0, 0.4, 0.05, 0.05)
    drive = fa.Drive(viscous=0.1)
    links = tuple(
        fa.Link.dh("revolute", a=0.4, mass=2.0, com=(-0.2, 0, 0), inertia=slab, drive=drive) for _ in range(2)
    )
    return fa.Arm("two", links, base=fa.Pose.at((0, 0, 0.7)), gravity=(0, -9.81, 0))


def torques(arm: fa.Arm) -> Array:
    """Lists, arrays and dicts by joint name alike."""
    q, qd, qdd = arm.random_state(seed=0, batch=(5,))
    out = np.empty_like(q)
    tau: Array = fa.inverse_dynamics(arm, q, qd, qdd, wrench=fa.Wrench(force=(0, 0, -20)), out=out, threads=1)
    by_name: Array = fa.gravity_torque(arm, dict.fromkeys(arm.joint_names, 0.3))
    listed: Array = fa.mass_matrix(arm, [0.3] * arm.n)
    back: Array = fa.forward_dynamics(arm, q, qd, tau)
    assert by_name.shape == (arm.n,)
    assert listed.shape == (arm.n, arm.n)
    return back


def several_outputs(arm: fa.Arm) -> float:
    """Fields by name, and in order."""
    q, qd, qdd = arm.random_state(seed=0)
    slopes = fa.derivatives(arm, q, qd, qdd)
    assert slopes.dq.shape == slopes.dqd.shape == (arm.n, arm.n)
    dq, dqd, dtau = fa.forward_derivatives(arm, q, qd, qdd)
    assert dq.shape == dqd.shape == dtau.shape
    curves = fa.second_derivatives(arm, q, qd, qdd, weights=q)
    assert curves.dqq.shape == curves.dqqdd.shape == (arm.n, arm.n)
    force, moment = fa.reactions(arm, q, qd, qdd)
    assert force.shape == moment.shape
    split = fa.terms(arm, q, qd, qdd)
    assert split.total.shape == (arm.n,)
    energy = fa.energy(arm, q, qd)
    return float(energy.kinetic + energy.potential)


def law(t: float, q: Array, qd: Array) -> Array:
    """A law of one state."""
    return -3.0 * q - fa.sqrt(0.25) * qd


def longer(arm: fa.Arm, folder: Path) -> bool:
    """Simulation, papers, kernels, proofs."""
    record = fa.simulate(arm, [0.1] * arm.n, law=law, duration=0.01, dt=1e-3)
    kernel: fa.Kernel = fa.compile(arm, "gravity_torque")
    tau: Array = kernel(record.q)
    M = fa.strobe(arm, [0.1] * arm.n).M
    total = fa.count("newton_euler_notes", n=6).total
    task = fa.task(arm, [0.1] * arm.n, [0.0] * arm.n, damping=0.1)
    written = fa.write_toml(arm, folder / "two.toml")
    fault: type[fa.Fault] = fa.StateFault
    return bool(tau.size and M.size and total and task.inertia.size and written.exists() and fault)


def main(folder: Path) -> None:
    """All of it."""
    arm = own_arm()
    torques(arm)
    several_outputs(fa.load("puma560"))
    assert longer(arm, folder)
    assert fa.where(-1.0, "at or above", "below") == "below"
    assert [row.paper for row in fa.FORMULATIONS.values()]
