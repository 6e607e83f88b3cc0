"""One question, every door, one answer: to 64 eps of the largest number met, or a refusal in a sentence."""

import numpy as np
import pytest

import forearm as fa
from agreement.door_arms import arm
from agreement.doors import ARRAYS, KERNELS, QUESTIONS, arm_doors, file_doors, one_by_one, states
from close import error_in_eps
from shares import shared_out

STATES = 6
QUICK = {"inverse_dynamics", "pose"}
"""What is asked of the chain every time, through doors of arrays."""
LOOPED = {
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "bias_torque",
    "gravity_torque",
    "pose",
    "jacobian",
}
"""What is asked of forty joints."""
REFUSED = {
    ("CasADi", "christoffel"): "CasADi has matrices at most",
    ("CasADi", "second_derivatives"): "CasADi has matrices at most",
    ("CasADi", "second_forward_derivatives"): "CasADi has matrices at most",
    ("free geometry", "tree"): "lengths are those of a chain",
    ("free geometry", "free"): "lengths are those of a chain",
    ("stream", "free"): "a free base has other rows",
    ("JAX function", "free"): "the seven numbers of a free base have no gradient of their own",
    ("PyTorch function", "free"): "the seven numbers of a free base have no gradient of their own",
    ("objects", "terms"): "terms are of floats",
}
"""Doors that are shut, by quantity or by arm."""


def asked(name):
    """The questions that an arm answers."""
    for question in QUESTIONS:
        if name == "free" and (question.function == "mount_wrench" or "second" in question.function):
            continue  # refused: it stands on nothing, and small moves do not add up
        if name == "long" and (question.function not in LOOPED or question.label not in ("", "1")):
            continue
        yield question


def scale_of(robot, question, values, want):
    """The largest number met on the way: what is divided by M takes its condition along."""
    largest = max(1.0, *(np.max(np.abs(x)) for x in want.values()))
    divides = "forward" in question.function or question.function == "solve_mass"
    if not divides:
        return largest * (10 if "second" in question.function or question.function == "derivatives" else 1)
    condition = np.linalg.cond(fa.mass_matrix(robot, values[0])).max()
    return largest * condition * (10 if "derivatives" in question.function else 1)


def unlike(name, question, doors):
    """What is wrong with the answers through some doors."""
    robot = arm(name)
    values = states(robot, question, STATES)
    want = one_by_one(robot, question, values)
    scale, wrong = scale_of(robot, question, values, want), []
    for door, answer in doors.items():
        try:
            got = answer(robot, question, values)
        except fa.Fault as fault:
            if (door, question.function) not in REFUSED and (door, name) not in REFUSED:
                wrong.append(f"{door}: refused, {fault}")
            continue
        if isinstance(got, list):  # without names; CasADi and files have rows of numbers
            assert len(got) == len(want), door
            rows = door in ("CasADi", "stream")
            got = {k: x.reshape(w.shape) if rows else x for (k, w), x in zip(want.items(), got, strict=True)}
        assert got.keys() == want.keys(), door
        off = max(error_in_eps(got[k], want[k], scale) for k in want)
        if off > 64:
            wrong.append(f"{door}: off by {off:.3g} eps")
    return wrong


def few(case):
    name, question = case
    return name == "chain" and question.function in QUICK and question.label in ("", "camera")


CASES = [(name, question) for name in ("chain", "tree", "free", "long") for question in asked(name)]


@pytest.mark.parametrize(
    ("name", "question"),
    [
        *(pytest.param(*case, id=str(case)) for case in CASES if few(case)),
        *shared_out([case for case in CASES if not few(case)], 3),
    ],
    ids=str,
)
def test_arrays_of_every_kind_give_one_answer(name, question):
    doors = {k: v for k, v in ARRAYS.items() if k not in ("PyTorch", "JAX")}
    assert not unlike(name, question, doors)


@pytest.mark.parametrize(("name", "question"), shared_out(CASES, 12), ids=str)
def test_tensors_and_the_same_arm_again_give_one_answer(name, question, tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("jax")
    doors = {k: v for k, v in ARRAYS.items() if k in ("PyTorch", "JAX")} | arm_doors(tmp_path)
    if name == "long":
        del doors["a tree"]  # forty joints of a tree are straight-line code, which takes minutes
    assert not unlike(name, question, doors)


@pytest.mark.parametrize(
    ("name", "question"),
    shared_out([case for case in CASES if case[1].compiled and case[0] != "long"], 16),
    ids=str,
)
def test_kernels_of_every_kind_give_one_answer(name, question, tmp_path):
    for module in ("wasmtime", "casadi", "jax", "torch"):
        pytest.importorskip(module)
    doors = dict(KERNELS)
    if len(
        one_by_one(arm(name), question, states(arm(name), question, 1))
    ) == 1 and question.compiled not in (
        *("pose", "jacobian", "jacobian_rate", "weighted_second_derivatives"),
        *("weighted_second_forward_derivatives",),
    ):
        doors |= file_doors(tmp_path)
    assert not unlike(name, question, doors)


def test_terms_of_states_in_two_precisions_were_rounded_to_the_lesser():
    robot = fa.load("puma560")
    q, qd, qdd = robot.random_state(0)
    qd, qdd = qd.astype(np.float32), qdd.astype(np.float32)
    split = fa.terms(robot, q, qd, qdd)
    want = fa.inverse_dynamics(robot, q, qd.astype(float), qdd.astype(float))
    assert error_in_eps(split.total, want) <= 64
    assert fa.terms(robot, *(x.astype(np.float32) for x in (q, qd, qdd))).rotor.dtype == np.float32
