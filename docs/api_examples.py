"""The examples of docs/api.md, name by name; make_api.py puts them on the page with what they print."""

EXAMPLES = {
    "Robot": """
        finger = dict(kind="prismatic", pose=fa.Pose(), mass=0.1)
        palm = fa.Link.dh("revolute", a=0.1, name="wrist", mass=1.0, inertia=fa.Inertia.box(1.0, 0.1, 0.08, 0.03))
        fingers = [fa.Link(**finger, name="left"), fa.Link(**finger, name="right", flip=True)]
        gripper = fa.Robot("gripper", [palm, *fingers], parents=(0, 1, 1), couplings={"right": "left"})
        print(gripper.joint_names, gripper.tips, fa.mass_matrix(gripper, [0.3, 0.02])[1, 1].round(3))
        """,
    "sweep": """
        arm = fa.load("rr")
        over = {"q": fa.Uniform([-3.1, -3.1], [3.1, 3.1]), "payload": [0.0, 1.0]}
        found = fa.sweep("gravity_torque", over, arm=arm, samples=1000, seed=1)
        print(found)
        """,
    "Swept": """
        found = fa.sweep("gravity_torque", {"q": fa.Uniform([0, 0], [1, 1])}, arm=fa.load("rr"), samples=100)
        worst = found.worst[0]
        print(found.samples, round(worst.value, 4), worst.sample, found.choices(worst.sample)["q"].round(4))
        """,
    "Uniform": """
        over = {"q": fa.Uniform([0, 0], [1, 1])}
        print(fa.sweep("gravity_torque", over, arm=fa.load("rr"), samples=100).least.round(4))
        """,
    "Normal": """
        over = {"q": fa.Normal([0, 0], 0.1)}
        print(fa.sweep("gravity_torque", over, arm=fa.load("rr"), samples=100).least.round(4))
        """,
    "Extremes": """
        over = {"q": fa.Uniform([0, 0], [1, 1])}
        found = fa.sweep("gravity_torque", over, arm=fa.load("rr"), samples=100, keep=fa.Extremes(worst=2))
        print([case.sample for case in found.cases(0)])
        """,
    "Moments": """
        over = {"q": fa.Uniform([0, 0], [1, 1])}
        found = fa.sweep("gravity_torque", over, arm=fa.load("rr"), samples=100, keep=fa.Moments())
        print(found.mean.round(4), found.deviation.round(4))
        """,
    "Quantiles": """
        over = {"q": fa.Uniform([0, 0], [1, 1])}
        found = fa.sweep("gravity_torque", over, arm=fa.load("rr"), samples=1000, keep=fa.Quantiles())
        print(found.quantile(0.5).round(3), found.quantile(0.99).round(3))
        """,
    "Histogram": """
        over = {"q": fa.Uniform([0, 0], [1, 1])}
        found = fa.sweep("gravity_torque", over, arm=fa.load("rr"), samples=1000, keep=fa.Histogram(0, 40, 4))
        print(found.histogram[0])
        """,
    "plan_sweep": """
        print(fa.plan_sweep(1e12, rate=2e7, workers=1000, task_seconds=1.0, dispatch=1e-3, slow=0.05, failures=0.01))
        """,
    "stream": """
        import tempfile
        from pathlib import Path

        import numpy as np

        arm, folder = fa.load("puma560"), Path(tempfile.mkdtemp())
        np.save(folder / "motion.npy", np.hstack(arm.random_state(0, (1000,))))
        done = fa.stream(arm, "inverse_dynamics", folder / "motion.npy", folder / "tau.npy")
        print(np.load(folder / "tau.npy").shape)
        """,
    "Streamed": """
        done = fa.stream(arm, "inverse_dynamics", folder / "motion.npy", folder / "tau.npy")
        print(done.rows, done.not_finite)
        """,
    "Body": """
        stone = fa.Robot("stone", (), (), free=True, trunk=fa.Body(2.0, inertia=fa.Inertia.box(2.0, 0.1, 0.3, 0.5)))
        print(stone.nq, stone.nv, stone.neutral())
        """,
    "mount_wrench": """
        print(fa.mount_wrench(fa.load("rr"), [0.3, 0.4], [0, 0], [0, 0]).round(3))
        """,
    "center_of_mass": """
        print(fa.center_of_mass(fa.load("rr"), [0.3, 0.4]).round(3))
        """,
    "center_of_mass_jacobian": """
        print(fa.center_of_mass_jacobian(fa.load("rr"), [0.3, 0.4]).round(3))
        """,
    "centroidal_momentum": """
        print(fa.centroidal_momentum(fa.load("rr"), [0.3, 0.4], [1.0, -1.0]).round(3))
        """,
    "inverse_kinematics": """
        arm = fa.load("ur10e")
        found = fa.inverse_kinematics(arm, fa.Pose.at((0.6, 0.2, 0.4), (3.1416, 0, 0)), every=True)
        print(found.solved.sum(), "solutions; the first is", found.q[0].round(3))
        """,
    "Reached": """
        found = fa.inverse_kinematics(fa.load("panda"), [2.0, 0.0, 0.3])
        print(found.solved, found.status, found.error.round(3))
        """,
    "point_to_point": """
        ur5e = fa.load("ur5e")
        motion = fa.point_to_point(ur5e, [0, -1.5, 1.5, 0, 0, 0], [1, -1, 1, 0, 0, 0.5], accelerations=4, jerks=40)
        print(round(motion.duration, 4), "s")
        """,
    "via_points": """
        points = [[0, -1.5, 1.5, 0, 0, 0], [0.5, -1, 1, 0, 0, 0], [1, -1.2, 1.2, 0, 0.3, 0]]
        print(round(fa.via_points(fa.load("ur5e"), points, accelerations=5).duration, 4), "s")
        """,
    "tool_path": """
        ur5e, start = fa.load("ur5e"), [0.3, -1.2, 1.4, -1.8, -1.57, 0.0]
        here = fa.pose(ur5e, start)[:3, 3]
        print(round(fa.tool_path(ur5e, start, [here + [0, 0.2, 0], here + [0, 0.2, 0.1]], blend=0.03).duration, 3), "s")
        """,
    "Arc": """
        ur5e, start = fa.load("ur5e"), [0.3, -1.2, 1.4, -1.8, -1.57, 0.0]
        here = fa.pose(ur5e, start)[:3, 3]
        print(round(fa.tool_path(ur5e, start, fa.Arc(here + [0, 0.1, 0.1], here + [0, 0.2, 0])).duration, 3), "s")
        """,
    "fastest": """
        motion = fa.fastest(fa.load("iiwa14"), [[0] * 7, [0.5, 0.8, 0, -1.2, 0, 0.4, 0], [1.2, 0.3, 0, -0.6, 0, 0, 0]])
        print(round(motion.duration, 3), "s,", motion.binding[100])
        """,
    "speed_up": """
        from forearm.simulation import Quintic

        found = fa.speed_up(fa.load("ur5e"), Quintic([0] * 6, [1, -1, 1, 0, 0, 0], duration=2.0))
        print(round(found.factor, 4), found.limit)
        """,
    "feasible": """
        ur5e = fa.load("ur5e")
        motion = fa.point_to_point(ur5e, [0] * 6, [1, -1, 1, 0, 0, 0], accelerations=8)
        print(bool(fa.feasible(ur5e, motion)), bool(fa.feasible(ur5e.with_payload(20, frame="tool"), motion)))
        """,
    "tabulate": """
        arm = fa.load("rr")
        table = fa.tabulate(arm, "horn_raibert", points=64, interpolation="cubic")
        print(table.torques(arm, [0.4, -1.1], [0.7, 1.3], [-0.5, 2.1]).round(3))
        """,
    "plan_table": """
        print(fa.plan_table(fa.load("puma560"), "albus", points=5, speeds=2.0, accelerations=5.0))
        """,
    "learn_table": """
        arm = fa.load("rr")
        q, qd, qdd = arm.random_state(0, (2000,))
        table = fa.learn_table(arm, q, qd, qdd, fa.inverse_dynamics(arm, q, qd, qdd), points=12)
        print(table)
        """,
    "open_table": """
        import tempfile

        arm = fa.load("rr")
        with tempfile.TemporaryDirectory() as folder:
            path = fa.tabulate(arm, points=64).save(f"{folder}/rr.table", compressed=False)
            print(type(fa.open_table(path, arm).numbers[-1]).__name__)
        """,
    "LookupTable": """
        table = fa.tabulate(fa.load("rr"), points=32)
        print(table.nbytes, "bytes;", table.coefficients([0.4, -1.1]).M.round(2).tolist())
        """,
    "Arm": """
        slab = fa.Inertia.box(2.0, 0.4, 0.05, 0.05)
        upper = fa.Link.dh("revolute", a=0.4, mass=2.0, com=(-0.2, 0, 0), inertia=slab)
        lower = fa.Link.dh("revolute", a=0.4, mass=2.0, com=(-0.2, 0, 0), inertia=slab)
        two = fa.Arm("two", (upper, lower), gravity=(0, -9.81, 0))
        print(fa.gravity_torque(two, [0, 0]))
        """,
    "Link": """
        link = fa.Link("prismatic", fa.Pose.at((0, 0, 0.1)), mass=1.5, limits=(0.0, 0.4))
        print(link.kind, link.limits)
        """,
    "Inertia": """
        rod = fa.Inertia.about_com(Ixx=0.0, Iyy=0.02, Izz=0.02)
        cad = fa.Inertia.about_origin(Ixx=0.1, Iyy=0.2, Izz=0.2, Ixy=0.01, products="cad")
        print(cad.tensor[0])
        """,
    "Drive": """
        drive = fa.Drive(rotor_inertia=2e-4, gear=62.6, side="motor", viscous=1.5, coulomb=(24.7, 27.2))
        print(round(drive.reflected_inertia, 4), "kg m² at the joint")
        """,
    "Wrench": """
        push = fa.Wrench(force=(0, 0, -20))
        print(fa.external_torque(arm, q, push).round(3))
        """,
    "Pose": """
        table = fa.Pose.at((0, 0, 0.7), (0, 0, 1.5707963267948966))
        print(fa.pose(arm.with_base(table), q)[:3, 3].round(3))
        """,
    "Defect": """
        for defect in arm.defects:
            print(defect.link, defect.kind)
        """,
    "load": """
        print(fa.load("panda").joint_names)
        """,
    "known_arms": """
        print(*fa.known_arms())
        """,
    "parameters_of": """
        print(fa.parameters_of("rr"))
        """,
    "write_toml": """
        path = fa.write_toml(arm, "arm.toml")
        print(fa.load(path) == arm)
        """,
    "write_urdf": """
        fa.write_urdf(fa.load("ur5e"), "ur5e.urdf")
        print(fa.load("ur5e.urdf").n)
        """,
    "inverse_dynamics": """
        print(fa.inverse_dynamics(rr, [0.4, -1.1], [0.7, 1.3], [-0.5, 2.1]).round(6))
        """,
    "forward_dynamics": """
        tau = fa.inverse_dynamics(arm, q, qd, qdd)
        print(abs(fa.forward_dynamics(arm, q, qd, tau) - qdd).max() < 1e-9)
        """,
    "external_torque": """
        J = fa.jacobian(arm, q)
        print(abs(fa.external_torque(arm, q, fa.Wrench(force=(1, 2, 3))) - J[:3].T @ [1, 2, 3]).max() < 1e-12)
        """,
    "reactions": """
        loads = fa.reactions(rr, [0.4, -1.1], [0, 0], [0, 0])
        print(loads.force.round(3))
        print(loads.drive.round(3), "by the drives; bearings:", loads.bearing_force[1].round(3))
        """,
    "terms": """
        split = fa.terms(arm, q, qd, qdd)
        print(abs(split.total - fa.inverse_dynamics(arm, q, qd, qdd)).max() < 1e-9)
        """,
    "mass_matrix": """
        print(fa.mass_matrix(rr, [0.4, -1.1]).round(4))
        """,
    "solve_mass": """
        x = fa.solve_mass(rr, [0.4, -1.1], [1.0, 0.0])
        print((fa.mass_matrix(rr, [0.4, -1.1]) @ x).round(9) + 0.0)
        """,
    "mass_matrix_rate": """
        rate, C = fa.mass_matrix_rate(arm, q, qd), fa.coriolis_matrix(arm, q, qd)
        skew = rate - 2 * C
        print(abs(skew + skew.T).max() < 1e-9)
        """,
    "coriolis_matrix": """
        print(fa.coriolis_matrix(rr, [0.4, -1.1], [0.7, 1.3]).round(4))
        """,
    "coriolis_transpose_times": """
        C = fa.coriolis_matrix(arm, q, qd)
        print(abs(fa.coriolis_transpose_times(arm, q, qd, qd) - C.T @ qd).max() < 1e-9)
        """,
    "christoffel": """
        c = fa.christoffel(rr, [0.4, -1.1])
        print(c.shape, (c == c.swapaxes(1, 2)).all())
        """,
    "gravity_torque": """
        print(fa.gravity_torque(rr, [0.4, -1.1]).round(4))
        """,
    "bias_torque": """
        still = fa.bias_torque(rr, [0.4, -1.1], [0, 0])
        print((still == fa.gravity_torque(rr, [0.4, -1.1])).all())
        """,
    "momentum": """
        print(fa.momentum(rr, [0.4, -1.1], [0.7, 1.3]).round(4))
        """,
    "energy": """
        kinetic, potential = fa.energy(rr, [0.4, -1.1], [0.7, 1.3])
        print(round(float(kinetic), 4), round(float(potential), 4), "J")
        """,
    "derivatives": """
        d = fa.derivatives(rr, [0.4, -1.1], [0.7, 1.3], [-0.5, 2.1])
        print(d.dq.round(4))
        """,
    "forward_derivatives": """
        d = fa.forward_derivatives(rr, [0.4, -1.1], [0.7, 1.3], [0, 0])
        print((d.dtau @ fa.mass_matrix(rr, [0.4, -1.1])).round(9) + 0.0)
        """,
    "second_derivatives": """
        d = fa.second_derivatives(rr, [0.4, -1.1], [0.7, 1.3], [-0.5, 2.1], weights=[1, 0])
        print(d.dqdqd.round(4))  # of the first torque
        """,
    "second_forward_derivatives": """
        d = fa.second_forward_derivatives(rr, [0.4, -1.1], [0.7, 1.3], [0, 0])
        print(d.dqtau.shape, (d.dqtau[:, 0] == 0).all())  # M does not depend on the first joint
        """,
    "hessian_times": """
        zero = [0, 0]
        product = fa.hessian_times(rr, [0.4, -1.1], [0.7, 1.3], [-0.5, 2.1], [1, 0], ([1, 0], zero, zero))
        print(product.by_q.round(4))
        """,
    "forward_hessian_times": """
        product = fa.forward_hessian_times(rr, [0.4, -1.1], [0.7, 1.3], [0, 0], [1, 0], (zero, zero, [1, 0]))
        print(product.by_q.round(4), product.by_tau)
        """,
    "rollout_sensitivity": """
        pushes = [[0, 0]] * 20
        run = fa.simulate(rr, [0.4, -1.1], law=pushes, duration=0.2, dt=0.01, record_every=1)
        print(fa.rollout_sensitivity(rr, run.q, run.qd, pushes, dt=0.01).by_q0.round(4))
        """,
    "rollout_gain_gradient": """
        def spring(t, q, qd, kp):
            return -kp * q

        run = fa.simulate(rr, [0.4, -1.1], law=spring, gains={"kp": 30.0}, duration=0.2, dt=0.01, record_every=1)
        last = 0 * run.q
        last[-1] = 1.0
        by = fa.rollout_gain_gradient(rr, run.q, run.qd, spring, {"kp": 30.0}, last, 0 * last, dt=0.01)
        print(by.by_gains["kp"].round(6))
        """,
    "rollout_parameter_gradient": """
        pushes = [[0, 0]] * 20
        run = fa.simulate(rr, [0.4, -1.1], law=pushes, duration=0.2, dt=0.01, record_every=1)
        last = 0 * run.q
        last[-1] = 1.0
        by = fa.rollout_parameter_gradient(rr, run.q, run.qd, pushes, last, 0 * last, dt=0.01)
        print(dict(zip(fa.parameter_names(rr)[10:12], by[1, :2].round(4))))
        """,
    "rollout_gradient": """
        pushes = [[0, 0]] * 20
        run = fa.simulate(rr, [0.4, -1.1], law=pushes, duration=0.2, dt=0.01, record_every=1)
        last = 0 * run.q
        last[-1] = 1.0
        print(fa.rollout_gradient(rr, run.q, run.qd, pushes, last, 0 * last, dt=0.01).by_q0.round(4))
        """,
    "regressor": """
        Y = fa.regressor(rr, [0.4, -1.1], [0.7, 1.3], [-0.5, 2.1])
        print((Y @ fa.parameters(rr)).round(6))
        """,
    "parameters": """
        print(fa.parameters(rr)[:4])
        """,
    "parameter_names": """
        print(fa.parameter_names(rr)[:10])
        """,
    "pose": """
        print(fa.pose(rr, [0, 0], frame="tool")[:3, 3])
        """,
    "jacobian": """
        print(fa.jacobian(rr, [0, 0]).shape)
        """,
    "jacobian_rate": """
        print(fa.jacobian_rate(rr, [0, 0], [1, 0]).round(6) + 0.0)
        """,
    "task": """
        at_tool = fa.task(arm, q, qd)
        print(at_tool.inertia.shape, at_tool.bias.shape)
        """,
    "Coordinates": """
        absolute = fa.Coordinates(rr, [[1, 0], [-1, 1]])
        print(absolute.S)
        """,
    "FORMULATIONS": """
        paper = fa.FORMULATIONS["hollerbach_1980_3x3"]
        print(paper.paper, paper.joint_torques(rr, [0.4, -1.1], [0.7, 1.3], [-0.5, 2.1]).round(6))
        """,
    "strobe": """
        strobed = fa.strobe(rr, [0.4, -1.1], formulation="newton_euler_notes")
        print(abs(strobed.M - fa.mass_matrix(rr, [0.4, -1.1])).max() < 1e-12)
        """,
    "count": """
        print(fa.count("newton_euler_notes", n=6).total)
        """,
    "polynomial": """
        print(fa.polynomial("newton_euler_notes"))
        """,
    "published": """
        row = fa.published("hollerbach_1980", "II")[4]
        print(row.row, row.multiplications.published, row.multiplications.status)
        """,
    "derive": """
        print(fa.derive(rr).M[1, 1])
        """,
    "symbolic": """
        print(fa.derive(fa.symbolic(rr)).g[1])
        """,
    "prove_equal": """
        print(fa.prove_equal(fa.symbolic(rr)).holds)
        """,
    "compile_function": """
        def push(q, qd, goal):  # for one state, in plain NumPy
            return fa.gravity_torque(rr, q) + 20.0 * (goal - q) - 2.0 * qd

        kernel = fa.compile_function(push, {"q": 2, "qd": 2, "goal": 2}, ("tau",))
        print(kernel.counts)
        print(kernel([[0.0, 0.0], [0.1, 0.2]], [0.0, 0.0], [0.5, -0.1]).round(3).tolist())
        """,
    "compile": """
        kernel = fa.compile(rr, "inverse_dynamics", free=["links[1].mass"])
        print([port.name for port in kernel.graph.inputs])
        """,
    "Kernel": """
        kernel = fa.compile(rr, "gravity_torque")
        print(kernel([0.4, -1.1]).round(4), isinstance(kernel, fa.Kernel))
        """,
    "emit_c": """
        for path in fa.emit_c(rr, "c_code", ["inverse_dynamics", "mass_matrix"]):
            print(path.name)
        """,
    "emit_wasm": """
        for path in fa.emit_wasm(rr, "wasm_code", ["inverse_dynamics"], rollouts=["rk4:torque"]):
            print(path.name)
        """,
    "view": """
        page = fa.view(rr)
        print(page.save("rr.html").name)
        """,
    "View": """
        print(isinstance(page, fa.View), page.name)
        """,
    "report": """
        from forearm.simulation import Quintic

        found = fa.report(rr, Quintic([0.0, 0.0], [0.8, -0.5], 2.0))
        print(found.agreed, found.passed)
        """,
    "sin": """
        print(fa.sin(0.0))
        """,
    "cos": """
        print(fa.cos(0.0))
        """,
    "sqrt": """
        print(fa.sqrt(2.25))
        """,
    "where": """
        print(fa.where(1.0, "above zero", "not above"), fa.where(0.0, "above zero", "not above"))
        """,
    "simulate": """
        record = fa.simulate(rr, [0.4, -1.1], duration=1.0, dt=1e-3)
        print(record.outcome, record.relative_drift < 1e-9)
        """,
    "check": """
        print(fa.check(rr).passed, fa.check(arm).passed)
        """,
    "verify": """
        print(fa.verify(rr, states=1).passed)
        """,
    "compare": """
        print(fa.compare(rr, rr.replace(gravity=(0, 9.81, 0))).verdict)
        """,
    "identify": """
        swing = fa.excite(rr, duration=10.0, generations=0).sample(2001)
        log = {"t": swing.t, "q": swing.q, "tau": fa.inverse_dynamics(rr, swing.q, swing.qd, swing.qdd)}
        found = fa.identify(rr, log)
        print(found.residuals.train_total < 1e-3)
        """,
    "Identified": """
        print(found.base.columns.rank, found.arm.n, min(found.smallest) > 0)
        """,
    "identify_payload": """
        held = fa.inverse_dynamics(rr.with_payload(1.0, frame="tool"), swing.q, swing.qd, swing.qdd)
        body = fa.identify_payload(rr, log | {"tau": held})
        """,
    "Payload": """
        print(type(body.on(rr)).__name__)
        """,
    "base_parameters": """
        print(fa.base_parameters(fa.load("iiwa14"), rotors=False).rank - 3 * 7)
        """,
    "excite": """
        motion = fa.excite(rr, duration=5.0, generations=5)
        print(motion.condition <= motion.start_condition)
        """,
    "observer": """
        follower = fa.observer(rr, gain=50.0, dt=0.005)
        print(abs(follower.run(log["q"], swing.qd, log["tau"])).max() < 0.1)
        """,
    "watch": """
        touched = log["tau"].copy()
        touched[800:1000, 0] -= 5.0
        seen = fa.watch(rr, log | {"tau": touched}, quiet=log)
        """,
    "Watched": """
        print(len(seen.pushes), seen.pushes[0].joint)
        """,
    "StateFault": """
        try:
            fa.mass_matrix(rr, [1, 2, 3])
        except fa.StateFault as fault:
            print(fault)
        """,
    "ReadFault": """
        try:
            fa.load("pumma560")
        except fa.ReadFault as fault:
            print(str(fault)[:60])
        """,
    "NoDynamics": """
        try:
            fa.gravity_torque(fa.load("cobra600"), [0, 0, 0, 0])
        except fa.NoDynamics as fault:
            print(type(fault).__name__)
        """,
}
"""An example for each name; `arm`, `rr`, `q`, `qd`, `qdd` are there."""

NO_EXAMPLE = {
    "Coupling": "made by `couplings=` of a Robot; docs/trees.md has one",
    "significance": "in examples/03_ignoring_coriolis.py",
    "torch_function": "needs PyTorch",
    "jax_function": "needs JAX",
    "casadi_function": "needs CasADi",
    "NamedFrame": "readers make it",
    "Fault": "the family of all that follow",
    "ArmFault": "in docs/robots.md",
    "SingularInertia": "a mass matrix that cannot be inverted",
    "TraceFault": "in a law or formulation that branches on a value",
    "KernelFault": "an unknown target, say",
}
"""Names whose example lives elsewhere, or would need an optional package."""
