"""Counted scalars: the value of the float run, and what each operation costs under a convention."""

import sys

import numpy as np
import pytest

from arms import random_arm
from close import assert_close
from forearm.algebra import cos, sin, sqrt, where
from forearm.counting import CONVENTIONS, count
from forearm.counting.meter.conventions import AS_SET_FORTH, NOTHING_SKIPPED, STRUCTURAL, TURNEY, Convention
from forearm.counting.meter.counted_arm import (
    CountedArm,
    default_arguments,
    generic_arm,
    run_counted,
    state_of,
)
from forearm.counting.meter.counted_scalar import KINDS, Meter, values
from forearm.counting.meter.tallies import tally
from forearm.faults import ArmFault, StateFault
from forearm.formulations import FORMULATIONS
from forearm.strobing import torques_of

QUANTITIES = [(stem, quantity) for stem, row in FORMULATIONS.items() for quantity in row.gives]


def expected(stem, quantity, arm, arguments):
    """The float run of a quantity."""
    if quantity == "joint_torques":
        return torques_of(stem)(arm, *arguments)
    return getattr(FORMULATIONS[stem], quantity)(arm, *arguments)


@pytest.mark.parametrize(("stem", "quantity"), QUANTITIES)
@pytest.mark.parametrize("convention", [AS_SET_FORTH, STRUCTURAL], ids=lambda c: c.name)
def test_counted_run_has_the_value_of_the_float_run(stem, quantity, convention):
    kinds = "RPR" if FORMULATIONS[stem].joints == "RP" else "R"
    arm = random_arm(3, 7, kinds=kinds, flips=True, general=convention is AS_SET_FORTH)
    arguments = default_arguments(arm, quantity)
    _, result = run_counted(stem, arm, convention, quantity)
    want = expected(stem, quantity, arm, arguments)
    parts = zip(values(result), want, strict=True) if isinstance(result, tuple) else [(values(result), want)]
    for got, float_run in parts:
        assert_close(got, float_run, eps=4096, because="sums are taken in another order than BLAS takes them")


def test_counting_leaves_the_formulation_alone():
    module = FORMULATIONS["luh_walker_paul_1980"].module
    count("luh_walker_paul_1980", 2)
    assert module.np is np
    assert sys.modules["forearm.formulations.luh_walker_paul_1980"] is module


def test_kinds_are_counted_apart():
    meter = Meter(AS_SET_FORTH)
    x, y = meter.number(2.0), meter.number(3.0)
    results = [
        x + y,
        x - 1.5,
        x * y,
        2 * x,
        x / y,
        1.0 / x,
        -x,
        sin(x),
        cos(x),
        sqrt(x),
        x**3,
        where(x, x, y),
    ]
    want = [5.0, 0.5, 6.0, 4.0, 2 / 3, 0.5, -2.0, np.sin(2.0), np.cos(2.0), np.sqrt(2.0), 8.0, 2.0]
    assert_close(values(results), want)
    found = tally(meter.operations)
    assert [getattr(found, kind) for kind in KINDS] == [4, 2, 2, 1, 2, 1]
    assert str(found) == "4 | 2 (2 divisions, 1 square roots)"


def test_structural_zeros_and_ones_are_free():
    meter = Meter(STRUCTURAL)
    x, zero, one = meter.number(0.3), meter.number(0.0, structural=True), meter.number(1.0, structural=True)
    results = [x + zero, zero + x, zero - x, x * one, one * x, x * zero, x / one, zero / x]
    assert_close(values(results), [0.3, 0.3, -0.3, 0.3, 0.3, 0.0, 0.3, 0.0])
    assert tally(meter.operations).multiplications == tally(meter.operations).additions == 0
    assert (x * zero).is_zero
    assert not x.is_zero


def test_work_on_constants_is_free_only_where_the_convention_says_so():
    for convention, charged in ((TURNEY, 0), (AS_SET_FORTH, 1)):
        meter = Meter(convention)
        a, b = meter.number(2.0, constant=True), meter.number(3.0, constant=True)
        product = a * b
        assert tally(meter.operations).multiplications == charged
        _ = product * meter.number(4.0)
        assert tally(meter.operations).multiplications == charged + 1


def test_zeros_at_the_ends_are_charged_when_nothing_is_skipped():
    stem = "luh_walker_paul_1980"
    saved, full = count(stem, 4, convention=AS_SET_FORTH), count(stem, 4, convention=NOTHING_SKIPPED)
    assert full.multiplications > saved.multiplications
    assert full.additions > saved.additions


def test_an_arm_of_its_own_is_counted_with_its_zeros_free():
    planar = count("luh_walker_paul_1980", arm=golden_like())
    general = count("luh_walker_paul_1980", n=2)
    assert planar.convention is STRUCTURAL
    assert planar.multiplications < general.multiplications / 2


def golden_like():
    """A planar arm: right angles and zeros everywhere."""
    from forearm.arm import Arm
    from forearm.inertia import Inertia
    from forearm.link import Link

    rod = dict(mass=1.0, com=(-0.5, 0, 0), inertia=Inertia.about_com(np.diag([0.0, 0.1, 0.1])))
    return Arm("rr", [Link.dh("revolute", a=1.0, **rod) for _ in range(2)], gravity=(0, -9.81, 0))


def test_generic_arm_has_no_zeros_or_ones():
    arm = generic_arm(3)
    q = state_of(arm)[0]
    for link, value in zip(arm.links, q, strict=True):
        for array in (link.rotation(value), link.p_star(value), link.axis, link.about_com.inertia):
            assert not np.isin(np.round(np.abs(array), 12), (0.0, 1.0)).any()


def test_messages():
    with pytest.raises(StateFault, match=r"no formulation 'newton' .*; give one of uicker_kahn_1969"):
        count("newton")
    with pytest.raises(StateFault, match="luh_walker_paul_1980 has no 'mass_matrix'; it gives joint_torques"):
        count("luh_walker_paul_1980", quantity="mass_matrix")
    with pytest.raises(StateFault, match="convention is 'mine'; give a Convention, or one of 'as set forth'"):
        count("luh_walker_paul_1980", convention="mine")
    with pytest.raises(StateFault, match="takes revolute joints only; arm 'generic 3' has others"):
        count("turney_mudge_lee_1980_lagrange", 3, kinds="P")
    with pytest.raises(ArmFault, match="Convention 'odd': z is 'thick'; it must be one of 'dense', 'sparse'"):
        Convention("odd", "why", z="thick")
    link = CountedArm(generic_arm(1), Meter(AS_SET_FORTH)).links[0]
    with pytest.raises(StateFault, match="asked link 'joint1' for 'theta'; counted links answer"):
        _ = link.theta
    assert all(convention.name == name for name, convention in CONVENTIONS.items())
