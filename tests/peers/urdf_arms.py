"""Arms in URDF files of three Python packages: where they are and how to read them."""

from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

PACKAGES = {
    "example-robot-data": ("cmeel_example_robot_data", "cmeel.prefix/share/example-robot-data/robots"),
    "pybullet": ("pybullet_data", "pybullet_data"),
    "rtb-data": ("rtbdata", "rtbdata/xacro"),
}


@dataclass(frozen=True)
class Source:
    """One arm of one file."""

    title: str
    package: str
    file: str
    n: int
    options: dict = field(default_factory=dict)

    @property
    def path(self):
        """The file, where the package is installed."""
        return site_packages() / PACKAGES[self.package][1] / self.file

    def __str__(self):
        return self.title


def site_packages():
    """The folder that holds the installed packages."""
    return Path(find_spec("numpy").origin).parents[1]


ERD, PYB, RTB = PACKAGES
KEEP = {"keep_defects": True}
FINGERS = {"panda_finger_joint1": 0.02, "panda_finger_joint2": 0.02}

SOURCES = (
    Source("panda", ERD, "panda_description/urdf/panda.urdf", 7, {"lock": FINGERS, **KEEP}),
    Source("ur3", ERD, "ur_description/urdf/ur3_robot.urdf", 6),
    Source("ur5", ERD, "ur_description/urdf/ur5_robot.urdf", 6),
    Source("ur5 with gripper", ERD, "ur_description/urdf/ur5_gripper.urdf", 6),
    Source("ur3 with gripper", ERD, "ur_description/urdf/ur3_gripper.urdf", 6),
    Source("ur10", ERD, "ur_description/urdf/ur10_robot.urdf", 6),
    Source("kinova", ERD, "kinova_description/robots/kinova.urdf", 6, {"tip": "j2s6s200_end_effector"}),
    Source("xarm7", ERD, "xarm_description/urdf/xarm7.urdf", 7),
    Source("z1", ERD, "z1_description/urdf/z1.urdf", 7),
    Source("so100", ERD, "so_arm_description/urdf/so100.urdf", 6),
    Source("so101", ERD, "so_arm_description/urdf/so101.urdf", 6),
    Source(
        "talos left arm", ERD, "talos_data/robots/talos_left_arm.urdf", 6, {"tip": "wrist_left_ft_tool_link"}
    ),
    Source(
        "talos arm with torso",
        ERD,
        "talos_data/robots/talos_reduced.urdf",
        9,
        {"tip": "wrist_right_ft_tool_link"},
    ),
    Source("double pendulum", ERD, "double_pendulum_description/urdf/double_pendulum.urdf", 2),
    Source(
        "double pendulum, continuous",
        ERD,
        "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
        2,
    ),
    Source("double pendulum, simple", ERD, "double_pendulum_description/urdf/double_pendulum_simple.urdf", 2),
    Source("two degrees of freedom", ERD, "asr_twodof_description/urdf/TwoDofs.urdf", 2),
    Source("finger", ERD, "finger_edu_description/robots/finger_edu.urdf", 3),
    Source("flying arm 2", ERD, "borinot_description/urdf/borinot_flying_arm_2.urdf", 2),
    Source("flying arm 5", ERD, "hextilt_description/urdf/hextilt_flying_arm_5.urdf", 5),
    Source("baxter left", ERD, "baxter_description/urdf/baxter.urdf", 7, {"tip": "left_gripper"}),
    Source(
        "pr2 right arm",
        ERD,
        "pr2_description/urdf/pr2.urdf",
        7,
        {"tip": "r_gripper_tool_frame", "root": "torso_lift_link"},
    ),
    Source(
        "tiago",
        ERD,
        "tiago_description/robots/tiago_no_hand.urdf",
        8,
        {"tip": "wrist_ft_tool_link", "root": "torso_fixed_link"},
    ),
    Source("icub left arm", ERD, "icub_description/robots/icub.urdf", 10, {"tip": "l_hand", **KEEP}),
    Source("g1 left arm", ERD, "g1_description/urdf/g1_29dof_rev_1_0.urdf", 10, {"tip": "left_rubber_hand"}),
    Source("romeo left arm", ERD, "romeo_description/urdf/romeo_small.urdf", 8, {"tip": "l_wrist", **KEEP}),
    Source("centauro left arm", ERD, "centauro_description/urdf/centauro.urdf", 7, {"tip": "arm1_8"}),
    Source("alex left arm", ERD, "alex_description/urdf/alex_nub_hands.urdf", 10, {"tip": "leftNub"}),
    Source(
        "anymal with kinova",
        ERD,
        "anymal_b_simple_description/robots/anymal-kinova.urdf",
        6,
        {"tip": "j2s6s200_end_effector"},
    ),
    Source(
        "human right arm",
        ERD,
        "human_description/robots/human.urdf",
        13,
        {"tip": "right_hand", "allow_massless": True},
    ),
    Source("iiwa", PYB, "kuka_iiwa/model.urdf", 7),
    Source("panda of pybullet", PYB, "franka_panda/panda.urdf", 7, {"lock": FINGERS, **KEEP}),
    Source("xarm6", PYB, "xarm/xarm6_robot.urdf", 6, KEEP),
    Source("xarm6 with gripper", PYB, "xarm/xarm6_with_gripper.urdf", 6, {"tip": "link6", **KEEP}),
    Source("two joints with fixed ones", PYB, "TwoJointRobot_w_fixedJoints.urdf", 2, KEEP),
    Source("two joints", PYB, "TwoJointRobot_wo_fixedJoints.urdf", 2, KEEP),
    Source("pendulum of five", PYB, "pendulum5.urdf", 5),
    Source("cart and pole", PYB, "cartpole.urdf", 2),
    Source("kr210", RTB, "kuka_description/kuka_kr210/urdf/kr210l150.urdf", 6),
    Source("kr16", RTB, "kuka_description/kuka_kr16/urdf/kr16_2.urdf", 6),
    Source("kr120", RTB, "kuka_description/kuka_kr120/urdf/kr120r2500pro.urdf", 6),
    Source("al5d", RTB, "lynxmotion_al5d_description/urdf/al5d_robot.urdf", 4),
)


def options_text(source):
    """The options of the reader, as a person writes them."""
    return ", ".join(f"`{name}={value!r}`" for name, value in source.options.items()) or "as it is"


def table_row(source):
    """One row of docs/robots.md: what the file holds, and what `check` thinks of it."""
    from forearm.readers.urdf import read_urdf
    from forearm.verification.numbers.plausibility import check

    arm = read_urdf(source.path, **source.options)
    kinds = "".join("R" if link.revolute else "P" for link in arm.links)
    joints = f"{len(kinds)}{kinds[0]}" if len(set(kinds)) == 1 else kinds
    said = {}
    for finding in check(arm).findings:
        if finding.level != "note":
            said.setdefault(f"{finding.level}, {finding.kind}", []).append(finding.name)
    doubts = "; ".join(f"{kind}: {', '.join(dict.fromkeys(names))}" for kind, names in said.items())
    return (
        f"| {source.title} | {source.package}: `{source.file}` | {options_text(source)} | {joints} | "
        f"{float(arm.total_mass):.4g} | {doubts or 'nothing'} |"
    )


if __name__ == "__main__":
    print("\n".join(table_row(source) for source in SOURCES))
