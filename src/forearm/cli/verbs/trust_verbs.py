"""Verbs about trust: verify, check, compare."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, validators

from forearm.cli.exit_codes import FOUND, OK
from forearm.cli.inputs import doubts_of, robot_of
from forearm.cli.measures import NumberIfAny, Seed, Whole, WholeIfAny
from forearm.cli.option_groups import AS_WRITTEN, Flag, Reading, Source
from forearm.cli.output import PLAIN, Shared, note, print_json, progress, say, table, verdict_style

PACKAGES = {"pinocchio": "pin", "mujoco": "mujoco"}
"""What the other libraries are called where packages come from."""
DRIVES = ("armature", "damping", "dampingpoly", "frictionloss")
"""What rotor inertia and friction are called in a model of MuJoCo: of joints, of tendons, of actuators."""


def verify(
    arm: Source,
    /,
    *,
    states: Whole = 2,
    seed: Seed = 0,
    reading: Reading = AS_WRITTEN,
    all_rows: Annotated[bool, Parameter(name="--all", negative=())] = False,
    shared: Shared = PLAIN,
) -> int:
    """Prove the code on this arm: every formulation against every other, an independent oracle, twelve laws.

    Exit code 1 if anything fails.

    Parameters
    ----------
    arm
        Name or file of the arm.
    states
        How many random states (2).
    seed
        Which ones.
    all_rows
        Show every check of every formulation, not the worst of each.
    """
    from forearm.verification.proof.examination import verify as prove

    found = robot_of(arm, reading=reading)
    whole = reading == AS_WRITTEN and Path(arm).suffix.lower() == ".urdf"
    source = arm if whole and not hasattr(found, "couplings") else None
    with progress(shared, f"verifying {found.name}") as tell:
        proof = prove(found, states=states, seed=seed, source=source, progress=tell)
    if shared.json:
        print_json(json.loads(proof.to_json()))
        return OK if proof.passed else FOUND
    rows = [(row, 1) for row in proof.rows] if all_rows else list(proof.worst())
    table(
        shared,
        ("", "residual", "allowed", "check", "of", "worst", "shares"),
        [_proof_row(row, count) for row, count in rows],
        title=f"{proof.arm}: {'PASS' if proof.passed else 'FAIL'}, {len(proof.rows)} checks in {proof.seconds:.1f} s",
        left=(0, 3, 5, 6),
        styles=verdict_style,
    )
    for reason in proof.skipped:
        say(f"skipped: {reason}")
    for row in proof.failures:
        say(f"FAIL: {row.check}: {row.subject}, {row.residual:.2e}, state {row.state} {row.why}".rstrip())
    return OK if proof.passed else FOUND


def _proof_row(row: Any, count: int) -> tuple[Any, ...]:
    return (
        row.verdict,
        f"{row.residual:.1e}",
        f"{row.tolerance:.0e}",
        row.check,
        count,
        row.subject,
        row.shares,
    )


def check(
    arm: Source,
    /,
    *,
    strict: Flag = False,
    seed: Seed = 0,
    reading: Reading = AS_WRITTEN,
    shared: Shared = PLAIN,
) -> int:
    """Question the numbers of an arm: what cannot be, what hardly is, what is worth knowing.

    Exit code 1 if there is an error (with --strict, or a warning).

    Parameters
    ----------
    arm
        Name or file of the arm.
    strict
        Take warnings for errors.
    seed
        Which positions are looked at.
    """
    from forearm.verification.numbers.plausibility import check as question

    # what cannot be is reported here, not refused: that is the verb's job
    report = question(robot_of(arm, reading=replace(reading, keep_defects=True)), seed=seed)
    good = report.clean if strict else report.passed
    if shared.json:
        print_json(json.loads(report.to_json()))
        return OK if good else FOUND
    counts = ", ".join(f"{len(report.of(level))} {level}s" for level in ("error", "warning", "note"))
    say(f"{report.arm}: {counts}")
    if report.findings:
        rows = [
            (f.level, f"{f.link} {f.name}" if f.link else f.name, f.value, f.threshold, f.fix)
            for f in report.findings
        ]
        header = ("", "where", "found", "held against", "likely cause, what to do")
        table(shared, header, rows, left=(0, 1, 2, 3, 4), styles=verdict_style)
    for what, value in report.facts:
        say(f"{what}: {value}")
    return OK if good else FOUND


def compare(
    arm: Source,
    other: Source,
    /,
    *,
    states: WholeIfAny = None,
    seed: Annotated[WholeIfAny, Parameter(validator=validators.Number(gte=0))] = None,
    tolerance: NumberIfAny = None,
    rigid: Flag = False,
    reading: Reading = AS_WRITTEN,
    shared: Shared = PLAIN,
) -> int:
    """Compare the torques of two descriptions, or torques from elsewhere, and name the cause of a difference.

    Exit code 1 if torques differ. Limits, names and where the tool is change none: what of them differs is told in a
    line of its own (in JSON under beside), and the exit code stays 0.

    Parameters
    ----------
    arm
        Name or file of the arm.
    other
        Name or file of another arm; a CSV file with columns q1 …, qd1 …, qdd1 …, tau1 …; or pinocchio, mujoco: what
        they make of the same file.
    states
        How many random states (48).
    seed
        Which ones.
    tolerance
        Relative difference that counts as none (1e-7).
    rigid
        Leave out rotor inertia and friction of both; torques of a CSV file stay as they are.
    """
    from forearm.readers.file_content import refuse_pipe
    from forearm.verification.difference.comparison import compare as differ

    if other.lower().endswith(".csv"):
        _refuse_with_rows({"--states": states, "--seed": seed})
    if other in PACKAGES:
        refuse_pipe(arm, other)
    one = robot_of(arm, reading=reading, rigid=rigid, shared=shared)
    two = _other(arm, other, reading, rigid, shared)
    found = differ(one, two, states=48 if states is None else states, seed=seed or 0, tolerance=tolerance)
    for told in found.notes:
        note(shared, f"{found.other}: {told}")
    doubts = [told for side in (one, two) if hasattr(side, "joint_names") for told in doubts_of(side)]
    if shared.json:
        print_json(json.loads(replace(found, notes=(*doubts, *found.notes)).to_json()))
    else:
        say(found)
    return OK if found.same else FOUND


def _refuse_with_rows(given: dict[str, Any]) -> None:
    """Refuse what chooses random states, where a file has the states."""
    from forearm.faults import StateFault

    for name, value in given.items():
        if value is not None:
            raise StateFault(
                f"compare: {name} chooses random states, and a CSV file has its own; leave it out."
            )


def _other(arm: str, other: str, reading: Reading, rigid: bool, shared: Shared) -> Any:
    """The other side: torques in a file, another library's reading of the same file, another arm."""
    if other.lower().endswith(".csv"):
        return other
    if other not in ("pinocchio", "mujoco"):
        from forearm.readers import takes_options

        kept = reading if takes_options(other) else AS_WRITTEN
        return robot_of(other, reading=kept, rigid=rigid, shared=shared)
    from forearm.faults import StateFault
    from forearm.outside.libraries.optional_libraries import mujoco, optional

    if Path(arm).suffix.lower() not in ((".urdf",) if other == "pinocchio" else (".urdf", ".xml", ".mjcf")):
        raise StateFault(
            f"compare: {other} reads URDF{' and MJCF' * (other == 'mujoco')}, not {arm}; give such a file."
        )
    try:
        module = mujoco() if other == "mujoco" else optional(other)
    except ImportError:
        raise StateFault(
            f"compare: {other} is not installed; pip install {PACKAGES[other]} brings it."
        ) from None
    if other == "mujoco":
        return _model_of_mujoco(arm, rigid, reading.allow_files)
    return _model_of_pinocchio(arm, module)


def _model_of_pinocchio(arm: str, pinocchio: Any) -> Any:
    """What Pinocchio makes of a URDF file."""
    from forearm.faults import StateFault
    from forearm.readers.peer_texts import refuse_too_deep, tree_for_peers, urdf_for_pinocchio
    from forearm.readers.urdf_elements import robot_from_file

    tree = tree_for_peers(arm, "URDF")
    joints = robot_from_file(arm, units=False).joints.values()
    refuse_too_deep(arm, {joint.child: joint.parent for joint in joints})
    try:
        return pinocchio.buildModelFromXML(urdf_for_pinocchio(tree))
    except (ValueError, RuntimeError) as error:
        raise StateFault(f"compare: Pinocchio refuses {arm}: {' '.join(str(error).split())}") from None


def _model_of_mujoco(arm: str, rigid: bool, allow_files: bool) -> Any:
    """What MuJoCo makes of a file; of what changes no torque, and might open files or fill memory, it sees none."""
    from forearm.readers.mjcf import compiled
    from forearm.readers.peer_texts import mjcf_for_mujoco, refuse_too_many, tree_for_peers, urdf_for_mujoco

    text, urdf = None, Path(arm).suffix.lower() == ".urdf"
    if urdf or not allow_files:
        tree = tree_for_peers(arm, "URDF" if urdf else "MJCF")
        text = urdf_for_mujoco(tree) if urdf else mjcf_for_mujoco(tree)
        refuse_too_many(arm, tree)
    model = compiled(arm, text)
    if rigid:
        for field in (f"{owner}_{what}" for owner in ("dof", "tendon", "actuator") for what in DRIVES):
            if hasattr(model, field):  # versions differ
                getattr(model, field)[:] = 0
    return model
