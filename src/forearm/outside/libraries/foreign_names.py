"""What other libraries call things, and what they are called here: for the message of a name that there is not."""

from collections.abc import Collection

ROBOTICS_TOOLBOX = {
    "fkine": "fa.pose(arm, q)",
    "fkine_all": "fa.pose(arm, q, frame=...)",
    "rne": "fa.inverse_dynamics(arm, q, qd, qdd)",
    "jacob0": "fa.jacobian(arm, q)",
    "jacobe": "fa.jacobian(arm, q), turned into the tool's axes by fa.pose(arm, q)",
    "jacob0_dot": "fa.jacobian_rate(arm, q, qd), which is Jdot qd",
    "inertia": "fa.mass_matrix(arm, q)",
    "inertia_x": "fa.task(arm, q, ...)",
    "coriolis": "fa.coriolis_matrix(arm, q, qd)",
    "gravload": "fa.gravity_torque(arm, q)",
    "accel": "fa.forward_dynamics(arm, q, qd, tau)",
    "fdyn": "fa.simulate(arm, q, qd, duration=...)",
    "friction": "fa.terms(arm, q, qd, qdd).friction",
    "nofriction": "arm.without_drives()",
    "perturb": "arm.replace(links=...)",
    "DHRobot": "fa.Arm.from_dh(name, rows, convention=...), or fa.load(robot)",
    "RevoluteDH": "fa.Link.dh('revolute', ...)",
    "PrismaticDH": "fa.Link.dh('prismatic', ...)",
    "RevoluteMDH": "fa.Arm.from_dh(name, rows, convention='modified')",
    "PrismaticMDH": "fa.Arm.from_dh(name, rows, convention='modified')",
    "SerialLink": "fa.Arm.from_dh(name, rows, convention=...)",
}
PINOCCHIO = {
    "rnea": "fa.inverse_dynamics(arm, q, qd, qdd)",
    "aba": "fa.forward_dynamics(arm, q, qd, tau)",
    "crba": "fa.mass_matrix(arm, q)",
    "nonLinearEffects": "fa.bias_torque(arm, q, qd)",
    "computeGeneralizedGravity": "fa.gravity_torque(arm, q)",
    "computeCoriolisMatrix": "fa.coriolis_matrix(arm, q, qd)",
    "computeJointJacobians": "fa.jacobian(arm, q, frame=...)",
    "computeJointJacobian": "fa.jacobian(arm, q, frame=...)",
    "computeFrameJacobian": "fa.jacobian(arm, q, frame=...)",
    "forwardKinematics": "fa.pose(arm, q, frame=...)",
    "framesForwardKinematics": "fa.pose(arm, q, frame=...)",
    "updateFramePlacements": "fa.pose(arm, q, frame=...)",
    "computeRNEADerivatives": "fa.derivatives(arm, q, qd, qdd)",
    "computeABADerivatives": "fa.forward_derivatives(arm, q, qd, tau)",
    "computeMinverse": "fa.solve_mass(arm, q, b)",
    "computeJointTorqueRegressor": "fa.regressor(arm, q, qd, qdd)",
    "computeKineticEnergy": "fa.energy(arm, q, qd)",
    "computePotentialEnergy": "fa.energy(arm, q, qd)",
    "centerOfMass": "arm.center_of_mass(q)",
    "buildModelFromUrdf": "fa.load('arm.urdf')",
    "buildModelFromUrdfs": "fa.load('arm.urdf')",
    "RobotWrapper": "fa.load('arm.urdf')",
}
MUJOCO = {
    "mj_inverse": "fa.inverse_dynamics(arm, q, qd, qdd)",
    "mj_forward": "fa.forward_dynamics(arm, q, qd, tau)",
    "mj_rne": "fa.bias_torque(arm, q, qd)",
    "mj_fullM": "fa.mass_matrix(arm, q)",
    "mj_crb": "fa.mass_matrix(arm, q)",
    "mj_solveM": "fa.solve_mass(arm, q, b)",
    "mj_jac": "fa.jacobian(arm, q, frame=...)",
    "mj_jacSite": "fa.jacobian(arm, q, frame=...)",
    "mj_jacBody": "fa.jacobian(arm, q, frame=...)",
    "mj_kinematics": "fa.pose(arm, q, frame=...)",
    "mj_step": "fa.simulate(arm, q, qd, duration=...)",
    "MjModel": "fa.load('arm.xml')",
}
INVERSE_KINEMATICS = (
    *(
        "ikine",
        "ikine_LM",
        "ikine_NR",
        "ikine_GN",
        "ikine_QP",
        "ikine_a",
        "ikine6s",
        "ikine_min",
        "ikine_unc",
    ),
    *("ik_LM", "ik_NR", "ik_GN"),
)
ROBOTICS_TOOLBOX |= {name: "fa.inverse_kinematics(arm, pose)" for name in INVERSE_KINEMATICS}
OURS = {"the Robotics Toolbox": ROBOTICS_TOOLBOX, "Pinocchio": PINOCCHIO, "MuJoCo": MUJOCO}
"""Library -> its name -> ours."""


def hint(name: str, known: Collection[str]) -> str:
    """What to write instead of a name that there is not, as the end of a sentence; empty where nothing is near."""
    for library, names in OURS.items():
        if name in names:
            return f"; what {library} calls {name} is {names[name]}"
    if not known:
        return ""
    import difflib

    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""
