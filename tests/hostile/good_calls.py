# ruff: noqa: E501  (one call per line reads as a table)
"""One good call of everything public that takes arguments; `wrong_arguments.py` spoils them one argument at a time."""

import contextlib
import tempfile
import warnings
from pathlib import Path

import numpy as np

import forearm as fa
import forearm.simulation as sim

STATES = "bias_torque:2 centroidal_momentum:2 coriolis_matrix:2 energy:2 mass_matrix_rate:2 momentum:2 christoffel:1"
STATES += (
    " center_of_mass:1 center_of_mass_jacobian:1 gravity_torque:1 mass_matrix:1 coriolis_transpose_times:3"
)
STATES += " derivatives:3 forward_derivatives:3 mount_wrench:3 reactions:3 regressor:3 solve_mass:2"

CALLS = """
fa.Arm("two", links, base=pose, tool=pose, gravity=(0, 0, -9.81), defects=(), remarks=("a",), provenance=(("a", "b"),), configurations=(("home", (0.0, 0.0)),), dynamics=True, frames=(named,))
fa.Arm.from_dh("two", rows, convention="standard", gravity=(0, 0, -9.81))
rr.center_of_mass(q)
rr.configuration("zero")
rr.place_of("tool")
rr.random_state(0, (2,))
rr.replace(name="x")
rr.replace(links=links)
rr.with_base(pose)
rr.with_drives(drives)
rr.with_parameters(theta, defects=None)
rr.with_payload(1.0, (0, 0, 0.1), inertia, frame="tool")
rr.with_tool(pose)
fa.Robot("two", links, (0, 0), mounts=(pose, pose), base=pose, free=False, trunk=body, couplings=couplings, tools=(named,), gravity=(0, 0, -9.81))
robot.arm("b")
robot.place_of("b")
robot.random_state(0, (2,))
robot.with_couplings({"b": "a"})
robot.with_drives(robot_drives)
robot.with_payload(1.0, (0, 0, 0.1), inertia, frame="b")
fa.Coupling("b", (("a", 1.0),), 0.5)
fa.Body(1.0, (0, 0, 0), inertia)
body.on(link)
fa.Link("revolute", pose, 0.0, 0.0, mass=1.0, com=(0, 0, 0), inertia=inertia, drive=drive, name="a", limits=(-1.0, 1.0), speed_limit=1.0, effort_limit=2.0, flip=False)
fa.Link.dh("revolute", a=0.1, alpha=0.0, d=0.0, theta=0.0, mass=1.0)
fa.Inertia([[1, 0, 0], [0, 1, 0], [0, 0, 1]], "com")
fa.Inertia.about_com(None, axes=None, products="tensor", Ixx=1.0, Iyy=1.0, Izz=1.0, Ixy=0.1)
fa.Inertia.about_origin([[1, 0, 0], [0, 1, 0], [0, 0, 1]], axes=eye[:3, :3], products=None)
fa.Inertia.box(1.0, 0.1, 0.2, 0.3)
fa.Inertia.cylinder(1.0, 0.1, 0.2, axis="z")
fa.Inertia.rod(1.0, 0.1, axis="x")
fa.Inertia.sphere(1.0, 0.1)
fa.Drive(rotor_inertia=0.1, gear=10.0, side="motor", viscous=0.1, coulomb=(0.1, 0.2), smoothing=0.01)
fa.Wrench((0, 0, 1), (0, 0, 0), at="tool", frame="world")
fa.Pose([[1, 0, 0], [0, 1, 0], [0, 0, 1]], (0, 0, 0))
fa.Pose.at((0, 0, 1), (0, 0, 0.1))
fa.Pose.dh(0.1, 0.2)
fa.Pose.from_matrix(eye)
pose.__matmul__(pose)
fa.NamedFrame("f", 1, pose)
fa.Defect(1, "odd", "why")
fa.load("rr", parameters={"l1": 0.5})
fa.load(urdf, base=None, tip=None)
fa.parameters_of("rr")
fa.write_toml(rr, folder / "a.toml")
fa.write_urdf(rr, folder / "a.urdf", lossy=True)
fa.inverse_kinematics(rr, eye, frame="tool", only="position", q0=q, posture=q, every=False, attempts=4, seed=0, threads=1)
fa.second_derivatives(rr, q, q, q, weights=q, out=None, threads=1)
fa.second_forward_derivatives(rr, q, q, q, weights=q, out=None, threads=1)
fa.hessian_times(rr, q, q, q, q, (q, q, q), out=None, threads=1)
fa.forward_hessian_times(rr, q, q, q, q, (q, q, q), out=None, threads=1)
fa.rollout_gradient(rr, run.q, run.qd, pushes, run.q, run.q, dt=0.01, threads=1)
fa.rollout_parameter_gradient(rr, run.q, run.qd, pushes, run.q, run.q, dt=0.01, threads=1)
fa.rollout_sensitivity(rr, run.q, run.qd, pushes, dt=0.01, threads=1)
fa.rollout_gain_gradient(rr, sprung.q, sprung.qd, spring, {"kp": 30.0}, sprung.q, sprung.q, dt=0.01, threads=1)
fa.task(rr, q, q, "tool", damping=0.1)
fa.Coordinates(rr, [[1, 0], [-1, 1]], 0.0)
fa.Coordinates.absolute(rr)
absolute.coriolis_matrix(q, q)
absolute.forward_dynamics(q, q, q)
absolute.gravity_torque(q)
absolute.inverse_dynamics(q, q, q)
absolute.joints(q)
absolute.mass_matrix(q)
absolute.rates(q)
fa.strobe(rr, q, "newton_euler_notes")
fa.count("newton_euler_notes", 2, arm=None, convention=None, quantity="joint_torques", kinds="R", arguments=None)
fa.polynomial("newton_euler_notes", convention=None, quantity="joint_torques", equation=None, kinds="R", bookkeeping=False)
fa.published("hollerbach_1980", "II")
fa.derive(rr, None, names=None, coordinates=None, group=False, timeout=5.0, progress=None)
fa.symbolic(rr, ("lengths",), style="textbook", about=None)
fa.prove_equal(fa.symbolic(rr), ("newton_euler_notes", "luh_walker_paul_1980"), coordinates=None, timeout=3.0)
fa.compile(rr, "gravity_torque", dtype="float64", target="cpu", layout="rows", free=("links[1].mass",), formulation=None)
fa.compile(rr, "pose", frame="tool")
fa.compile_function(plus, {"q": 2, "goal": 2}, ("sum",), dtype="float64", target="cpu", layout="rows")
kernel(q, out=None, threads=1)
kernel.accuracy(q)
kernel.source("c")
fa.emit_c(rr, folder / "c", ["gravity_torque"], dtype="float64", free=())
fa.emit_wasm(rr, folder / "w", ["gravity_torque"], free=(), rollouts=(), apart=False)
fa.casadi_function(rr, "gravity_torque", free=())
fa.jax_function(rr, "gravity_torque", free=(), compiled=False)
fa.torch_function(rr, "gravity_torque", free=())
fa.sin(0.5)
fa.cos(0.5)
fa.sqrt(0.5)
fa.where(0.5, 1.0, 2.0)
fa.simulate(rr, q, q, law=None, duration=0.01, dt=1e-3, method="rk4", control_dt=None, gains=None, payload=None, free=None, wrench=None, torque_limits=None, limits="note", sticking=False, record_every=1, trace=True, rtol=None, atol=None, threads=1, target=None, progress=None)
fa.simulate(rr, q, law=spring, gains={"kp": 3.0}, duration=0.01, control_dt=1e-3, payload=payload_numbers, torque_limits=[5.0, 5.0])
fa.simulate(rr, q, duration=0.01, method="dop853", rtol=1e-9, atol=1e-11)
fa.significance(rr, motion, 0.01, formulation="luh_walker_paul_1980", samples=21)
fa.point_to_point(rr, q, goal, speeds=1.0, accelerations=2.0, jerks=20.0, straight=True)
fa.via_points(rr, [q, goal, q], speeds=1.0, accelerations=2.0, jerks=20.0, blend=None)
fa.tool_path(ur5e, start, [here], speed=0.25, acceleration=1.0, jerk=None, turn_speed=1.0, blend=0.0, speeds=None, with_turn=True)
fa.Arc((0.1, 0.2, 0.3), (0.2, 0.2, 0.3))
fa.fastest(rr, [q, goal, q], speeds=1.0, accelerations=2.0, torques=100.0, grid=20, ease=0.0)
fa.speed_up(rr, motion, torques=100.0, speeds=2.0, samples=21)
fa.feasible(rr, motion, samples=21, torques=100.0, speeds=1.0, rms_torques=50.0, powers=100.0, tolerance=1e-3)
fa.tabulate(rr, "horn_raibert", points=8, interpolation="linear", speeds=2.0, accelerations=5.0, dtype="float64", most_bytes=1e9, most_seconds=10.0)
fa.plan_table(rr, "albus", points=5, interpolation="linear", speeds=2.0, accelerations=5.0, dtype="float64")
fa.learn_table(rr, many, many, many, many, "horn_raibert", points=4, interpolation="linear", speeds=None, accelerations=None, most_bytes=1e9)
fa.open_table(table_file, rr, most_bytes=1e9)
table.coefficients(q)
table.save(folder / "b.table", compressed=True)
table.torques(rr, q, q, q, threads=1)
fa.identify(rr, log, validate=None, gains=None, loaded=None, load=None, coupling=None, zero=None, degrees=None, time_unit=None, cutoff=None, rotors=True, directions=None, smoothing=None, prior=1.0, mend=(), check=True)
found.torques(q, q, q)
found.write(folder / "found.toml")
fa.identify_payload(rr, held, frame="tool", offsets=None, gains=None, coupling=None, zero=None, degrees=None, time_unit=None, cutoff=None, mend=(), check=True)
fa.base_parameters(rr, rotors=True, drives=None, seed=0)
fa.excite(rr, duration=5.0, harmonics=2, speed=1.0, acceleration=2.0, generations=2, seed=0)
fa.observer(rr, gain=50.0, dt=0.005, offset=0.0)
watcher.run(log["q"], log["q"], log["tau"])
fa.watch(rr, log, quiet=None, threshold=[1.0, 1.0], gain=30.0, gains=None, coupling=None, zero=None, degrees=None, time_unit=None, cutoff=None)
fa.sweep("gravity_torque", {"q": fa.Uniform([0, 0], [1, 1])}, arm=rr, samples=10, keep=("extremes",), seed=0, executor=None, workers=1, journal=None, progress=None)
fa.sweep("inverse_dynamics", {"motion": motion}, arm=rr, instants=11, workers=1)
fa.sweep(total, {"x": fa.Normal([0, 0], 1.0), "k": [0.0, 1.0]}, samples=10, executor="threads")
fa.plan_sweep(1e6, rate=1e6, workers=4, task_seconds=0.3, dispatch=1e-3, start=0.1, slow=0.1, slowness=2.0, failures=0.01, restart=3.0, seed=0)
swept.cases(0, "high")
swept.choices(0)
swept.quantile(0.5)
fa.Uniform([0, 0], [1, 1])
fa.Normal([0, 0], 1.0)
fa.Extremes(2)
fa.Histogram(0.0, 1.0, 10)
fa.stream(rr, "inverse_dynamics", rows_file, folder / "tau.npy", degrees=None, time_unit=None, threads=1, progress=None)
fa.view(rr, motion, q=q, formulations=("luh_walker_paul_1980",))
page.save(folder / "page.html")
fa.check(rr, seed=0)
fa.verify(rr, states=1, seed=0, source=None, formulations=["newton_euler_notes"], compiled=False, progress=None)
fa.compare(rr, rr, states=4, seed=0, tolerance=None, name=None, patience=2.0)
fa.external_torque(rr, q, wrench, out=None, threads=1)
fa.forward_dynamics(rr, q, q, q, wrench=wrench, out=None, threads=1, status=None)
fa.inverse_dynamics(rr, q, q, q, wrench=wrench, out=None, threads=1)
fa.inverse_dynamics(rr, many, many, many, out=np.empty((50, 2)), threads=2)
fa.jacobian(rr, q, "tool", out=None, threads=1)
fa.jacobian_rate(rr, q, q, "tool", out=None, threads=1)
fa.pose(rr, q, "tool", out=None, threads=1)
fa.terms(rr, q, q, q, wrench=wrench)
fa.parameters(rr)
fa.parameter_names(rr)
fa.FORMULATIONS["newton_euler_notes"].joint_torques(rr, q, q, q)
fa.inverse_dynamics(robot, robot_q, [0.1] * 8, [0.1] * 8)
sim.ComputedTorque(rr, motion, kp=100.0, kd=20.0)
sim.PDWithGravity(rr, q, 10.0, 2.0)
sim.FeedforwardPD(rr, motion, 10.0, 2.0)
sim.Quintic(q, goal, 1.0)
sim.Trapezoid(q, goal, 1.0, 0.25)
sim.Fourier(q, [[0.1, 0.1]], [[0.1, 0.1]], 2.0)
sim.ViaPoints([0.0, 1.0, 2.0], [q, goal, q], at_rest=True)
motion(0.5)
motion.faster(2.0)
motion.sample(11)
sim.Samples(log["t"], log["q"], log["q"], log["q"])
sim.advise_step(rr, q, q, duration=0.1, tolerance=1e-4, method="rk4")
sim.error_against_speed(rr, motion, [1.0, 2.0], samples=11)
sim.payload_numbers(1.0, (0, 0, 0.1), eye[:3, :3], arm=rr, frame="tool")
sim.read_motion(motion_file, rr, degrees=None, time_unit=None)
sim.write_motion(motion, rr, folder / "m.csv", 11)
run.to_csv(folder / "run.csv")
run.to_npz(folder / "run.npz")
""".strip().splitlines()
CALLS += [
    f"fa.{name}(rr, {', '.join(['q'] * int(many))}, out=None, threads=1)"
    for name, many in (pair.split(":") for pair in STATES.split())
]

UNSPOILT = {
    "Swept": "sweep makes it",
    "Reached": "inverse_kinematics makes it",
    "LookupTable": "tabulate makes it",
    "Identified": "identify makes it",
    "Payload": "identify_payload makes it",
    "Watched": "watch makes it",
    "Streamed": "stream makes it",
    "View": "view makes it",
    "Kernel": "compile makes it",
    "known_arms": "takes nothing",
    "Moments": "takes nothing",
    "Quantiles": "takes nothing",
    "report": "takes ten seconds; what it is given is read as view reads it",
}
"""Public names that are not in the table, and why."""


LIKE_MATH = ("fa.sin(", "fa.cos(", "fa.sqrt(", "fa.where(")
"""Functions of one scalar inside formulations: they raise what Python's own `math` raises."""
LONG = {
    ("fa.sweep", "samples", "2**31"): "two milliards of samples, one after the other",
    ("sim.advise_step", "duration", "2**31"): "68 years in steps of milliseconds",
}
"""Large, good arguments, and what takes so long."""
UNREAD = {
    "fa.Arc(": "tool_path reads it",
    "fa.NamedFrame(": "the arm that has the frame knows its links",
    "fa.Wrench(": "the arm that it acts on knows its frames; forces are read at once",
    "fa.where(": "either value is handed on",
    "sim.ComputedTorque(": "read when the law is first called",
    "sim.PDWithGravity(": "read when the law is first called",
    "sim.FeedforwardPD(": "read when the law is first called",
    "sim.Samples(": "whoever is given it reads it",
}
"""Calls that keep what they are given, and who looks at it."""


def spring(t, q, qd, kp):
    """A law with a gain."""
    return -kp * q


def total(chosen):
    """What a sweep may compute."""
    return chosen["x"].sum() * chosen["k"]


class Workshop(dict):
    """What the calls speak of, each made when it is first asked for."""

    def __init__(self):
        super().__init__(fa=fa, sim=sim, np=np, folder=Path(tempfile.mkdtemp()))

    def warm(self, call):
        """Make the good call once, so that what is loaded and compiled for it is."""
        if call not in self.setdefault("warmed", set()):
            self["warmed"].add(call)
            with (
                warnings.catch_warnings(),
                contextlib.suppress(fa.KernelFault),
            ):  # PyTorch is not always there
                warnings.simplefilter("ignore")
                eval(call, {}, self)

    def __missing__(self, name):
        self[name] = made = MADE[name](self)
        return made

    def __getattr__(self, name):
        return self[name]


MADE = {
    "rr": lambda w: fa.load("rr"),
    "ur5e": lambda w: fa.load("ur5e"),
    "q": lambda w: [0.3, -0.4],
    "goal": lambda w: [0.5, 0.2],
    "start": lambda w: [0.3, -1.2, 1.4, -1.8, -1.57, 0.0],
    "here": lambda w: fa.pose(w.ur5e, w.start)[:3, 3] + [0, 0.05, 0],
    "many": lambda w: np.linspace(-1, 1, 100).reshape(50, 2),
    "eye": lambda w: np.eye(4),
    "theta": lambda w: fa.parameters(w.rr),
    "rows": lambda w: [{"kind": "revolute", "a": 0.5, "mass": 1.0}] * 2,
    "pose": lambda w: fa.Pose.at((0, 0, 0.1)),
    "named": lambda w: fa.NamedFrame("f", 1, w.pose),
    "inertia": lambda w: fa.Inertia.box(1.0, 0.1, 0.2, 0.3),
    "drive": lambda w: fa.Drive(viscous=1.0),
    "drives": lambda w: [w.drive, w.drive],
    "robot_drives": lambda w: {"a": w.drive},
    "couplings": lambda w: {"b": "a"},
    "body": lambda w: fa.Body(1.0, inertia=w.inertia),
    "links": lambda w: tuple(
        fa.Link("revolute", w.pose, mass=1.0, inertia=w.inertia, name=name) for name in "ab"
    ),
    "link": lambda w: w.links[0],
    "wrench": lambda w: fa.Wrench(force=(0, 0, 1)),
    "robot": lambda w: fa.Robot("two", w.links, (0, 0), free=True, trunk=w.body),
    "robot_q": lambda w: w.robot.neutral(),
    "absolute": lambda w: fa.Coordinates.absolute(w.rr),
    "kernel": lambda w: fa.compile(w.rr, "gravity_torque"),
    "plus": lambda w: lambda q, goal: q + goal,
    "spring": lambda w: spring,
    "total": lambda w: total,
    "pushes": lambda w: [[0.0, 0.0]] * 5,
    "run": lambda w: fa.simulate(w.rr, w.q, law=w.pushes, duration=0.05, dt=0.01, record_every=1),
    "sprung": lambda w: fa.simulate(
        w.rr, w.q, law=spring, gains={"kp": 30.0}, duration=0.05, dt=0.01, record_every=1
    ),
    "payload_numbers": lambda w: sim.payload_numbers(1.0, arm=w.rr, frame="tool"),
    "motion": lambda w: sim.Quintic(w.q, w.goal, 1.0),
    "swing": lambda w: fa.excite(w.rr, duration=10.0, generations=0).sample(501),
    "log": lambda w: _log(w.rr, w.swing),
    "held": lambda w: _log(w.rr.with_payload(1.0, frame="tool"), w.swing),
    "found": lambda w: fa.identify(w.rr, w.log),
    "watcher": lambda w: fa.observer(w.rr, dt=0.02),
    "table": lambda w: fa.tabulate(w.rr, points=8),
    "table_file": lambda w: w.table.save(w.folder / "rr.table"),
    "swept": lambda w: fa.sweep(
        "gravity_torque",
        {"q": fa.Uniform([0, 0], [1, 1])},
        arm=w.rr,
        samples=10,
        keep=("extremes", "quantiles"),
    ),
    "rows_file": lambda w: _saved(w.folder / "rows.npy", np.hstack([w.many] * 3)),
    "urdf": lambda w: fa.write_urdf(w.ur5e, w.folder / "ur5e.urdf"),
    "motion_file": lambda w: (
        sim.write_motion(w.motion, w.rr, w.folder / "motion.csv", 11) or w.folder / "motion.csv"
    ),
    "page": lambda w: fa.view(w.rr),
}


def _log(arm, swing):
    return {"t": swing.t, "q": swing.q, "tau": fa.inverse_dynamics(arm, swing.q, swing.qd, swing.qdd)}


def _saved(path, rows):
    np.save(path, rows)
    return path
