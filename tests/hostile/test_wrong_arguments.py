"""Wrong arguments, one at a time, in every public call: a result, or one sentence; never a crash, and not for ever."""

import errno
import functools
import inspect
import itertools
import pickle
import typing

import numpy as np
import pytest

import forearm as fa
import forearm.faults
from forearm.simulation import payload_numbers
from hostile.good_calls import CALLS, UNSPOILT, Workshop
from hostile.wrong_arguments import RIGHT, cases, outcome, run_all
from hostile.zoo import ZOO

RR = fa.load("rr")
CHEAP = (
    "fa.Pose fa.Link fa.Inertia. fa.Drive fa.Coupling fa.plan_sweep fa.Uniform( fa.Histogram rr.with_".split()
)


def test_every_public_name_is_spoilt():
    called = " ".join(CALLS)
    kinds = (n for n in fa.__all__ if fa._NAMES.get(n) != "faults")  # getattr would load everything
    missing = {n for n in kinds if f"fa.{n}" not in called} - {"__version__", *UNSPOILT}
    assert not missing, "give each a good call in good_calls.py, or a reason why not"


@pytest.mark.parametrize("word", CHEAP)
def test_one_wrong_argument_gets_one_sentence(word):
    """Every seventh case of what is quick; `python tests/hostile/wrong_arguments.py` takes all, of everything."""
    things = Workshop()
    for case in itertools.islice(cases([word]), 3, None, 7):
        what, said = outcome(*case, things)
        assert what in RIGHT, (case, said)


@pytest.mark.soak
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.partition("(")[0])
def test_every_wrong_argument_gets_one_sentence(call):
    bad = [row for row in run_all([call]) if row[3] not in RIGHT]
    assert not bad, "\n".join(map(str, bad))


@pytest.mark.parametrize(
    "seed", [np.array([[1, 2]]).view(np.matrix), range(10**15), -1, 1.5, True, "1", [1, 2], 10**400], ids=repr
)
@pytest.mark.parametrize(
    "ask",
    [
        RR.random_state,
        lambda seed: fa.check(RR, seed=seed),
        lambda seed: fa.excite(RR, duration=5.0, generations=0, seed=seed),
        lambda seed: fa.compare(RR, RR, states=1, seed=seed),
        lambda seed: fa.plan_sweep(10, rate=1, workers=1, seed=seed),
        lambda seed: fa.sweep("gravity_torque", {"q": [[0.0, 0.0]]}, arm=RR, seed=seed),
        lambda seed: fa.inverse_kinematics(RR, np.eye(4), seed=seed),
    ],
)
def test_a_seed_that_is_none_ends_no_process(ask, seed):
    """NumPy's generator ends the process for a matrix, and counts a range to its end."""
    with pytest.raises(fa.StateFault, match=r"seed is .*; give a whole number"):
        ask(seed)


def test_a_schedule_in_which_no_task_ends_is_refused():
    with pytest.raises(fa.StateFault, match=r"failures is 1e\+10 an hour, .*; give a shorter task_seconds="):
        fa.plan_sweep(1e6, rate=1e6, workers=4, failures=1e10)
    with pytest.raises(fa.StateFault, match=r"workers is 4000000000000000000; give"):
        fa.plan_sweep(1e6, rate=1e6, workers=4 * 10**18)


@pytest.mark.parametrize(
    "bound", [{"rtol": np.nan}, {"rtol": np.inf}, {"atol": 0.0}, {"atol": np.nan}], ids=repr
)
def test_bounds_that_no_step_meets_are_refused(bound):
    with pytest.raises(fa.StateFault, match=r"simulate: [ra]tol is .*; give a (small )?positive number"):
        fa.simulate(RR, [0.3, -0.4], duration=0.01, method="dop853", **bound)


@pytest.mark.parametrize("field", ["links", "remarks", "configurations"])
def test_parts_without_end_are_refused(field):
    with pytest.raises(
        fa.ArmFault, match=rf"{field} is .*; give (a sequence, of 100000 at most|named states)"
    ):
        RR.replace(
            **{field: np.broadcast_to(0.0, (10**12, 2)) if field == "configurations" else itertools.count()}
        )


@pytest.mark.parametrize("kind", ["long text", "another arm", "million", "10**5000", "__repr__ raises"])
def test_a_message_echoes_no_more_than_a_line_of_what_was_given(kind):
    with pytest.raises(fa.Fault) as caught:
        RR.configuration(ZOO[kind]())
    assert len(str(caught.value)) < 300


class Counter:
    """A function of the caller's that has a state, and an error of its own."""

    def __call__(self, *_):
        return self.next()

    def next(self):
        raise LookupError("mine")


def law(t, q, qd):
    raise LookupError("mine")


@pytest.mark.parametrize(
    "given",
    [law, Counter(), functools.partial(law), Counter().__call__],
    ids=["plain", "object", "partial", "method"],
)
@pytest.mark.parametrize(
    "ask",
    [
        lambda given: fa.simulate(RR, [0.3, -0.4], law=given, duration=0.01, trace=False, progress=object),
        lambda given: fa.derive(RR, progress=given, coordinates=np.eye(2)),
    ],
)
def test_an_error_of_the_callers_own_function_stays_as_it_is(ask, given):
    """Whatever kind of function it is, and however odd another argument is."""
    with pytest.raises(LookupError, match="mine"):
        ask(given)


def test_what_an_argument_itself_raises_is_about_the_argument():
    with pytest.raises(fa.StateFault, match=r"derive ended in OwnError: an object of the zoo; coordinates"):
        fa.derive(RR, coordinates=ZOO["__getattr__ raises"]())


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left"), TimeoutError("late"), Warning("x")]
)
def test_what_says_itself_what_is_the_matter_stays_as_it_is(error):
    def failing(path: str) -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        fa.faults.explained(failing)(3)
    assert caught.value is error


def test_functions_are_what_they_were_to_pickle_inspect_and_typing():
    assert pickle.loads(pickle.dumps(fa.simulate)) is fa.simulate
    assert list(inspect.signature(fa.derive).parameters)[:2] == ["arm", "formulation"]
    assert typing.get_type_hints(fa.check)["return"]
    assert inspect.getsource(fa.check).startswith("@explained\ndef check(")


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: fa.count("newton_euler_notes", 2**31), "n is 2147483648; give a whole number from 1 to 1000"),
        (lambda: fa.count("newton_euler_notes", 2, arguments=itertools.count()), "arguments is count"),
        (lambda: fa.count("newton_euler_notes", 2, arguments=range(10**15)), "arguments is range"),
        (lambda: fa.compile(RR, "pose", free=np.zeros(10**6)), r"free is array.*; give a list of names"),
        (lambda: fa.emit_c(RR, ".", free=np.zeros(10**6)), r"free is array.*; give a list of names"),
        (lambda: fa.emit_wasm(RR, ".", free=itertools.repeat("payload")), r"free is repeat.*; give a list of"),
        (lambda: fa.compile(RR, "pose", free="payload"), r"free is 'payload'; give a list of names: \['payload'\]"),
        (lambda: fa.compile_function(law, {"t": 1}, range(10**15)), r"outputs of law is range"),
        (lambda: fa.derive(RR, names=range(10**15)), "names is range"),
        (lambda: fa.compile(RR, "wrench_torque", local="no"), "local is 'no'; give True or False"),
        (lambda: fa.Defect("1", "mass", "why"), "link of a defect is '1'; give a whole number"),
        (lambda: RR.links[0].replace(mass=np.ma.masked), "mass is masked; give one real number"),
        (lambda: fa.task(RR, [0.1, 0.2], [0.0, 0.0], damping=1e-160), "in a singular pose"),
    ],
)  # fmt: skip
def test_what_went_on_for_ever_or_was_taken_for_something_else(ask, said):
    with pytest.raises(fa.Fault, match=said):
        ask()


LOG = {"t": np.arange(100) / 50, "q": np.zeros((100, 2)), "tau": np.zeros((100, 2))}
MOTION = fa.simulation.Quintic([0.0, 0.0], [1.0, 1.0], 1.0)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: fa.count("newton_euler_notes", 2, kinds="rr"), "kinds is 'rr'; give the kinds of joints, 'R', 'P'"),
        (lambda: fa.polynomial("newton_euler_notes", equation="99"), "is equation '99'; give one of '8'"),
        (lambda: fa.watch(RR, LOG, degrees="no"), "degrees is 'no'; give True or False"),
        (lambda: fa.identify(RR, LOG, time_unit="ms"), "time_unit is 'ms', which is for files; give t .* in seconds"),
        (lambda: fa.observer(RR, dt=True), "dt is True; give a number"),
        (lambda: MOTION(np.array([0.1, 0.9])), r"the time is array\(\[0\.1, 0\.9\]\); .* ask \.sample\(times\)"),
        (lambda: MOTION.faster(np.inf), "factor of faster is inf; give a positive number"),
        (lambda: MOTION.sample(2.5), "times is 2.5; give a whole number"),
        (lambda: fa.observer(RR, offset=np.nan), "offset is nan; give a finite number"),
        (lambda: fa.observer(RR, gain="50"), "gain is '50'; give numbers"),
        (lambda: fa.simulate(RR, [0, 0], duration=0.01, torque_limits="5"), "torque_limits is '5'; give numbers"),
        (lambda: fa.Uniform(["0", "0"], [1, 1]), r"Uniform low is \['0', '0'\]; give numbers"),
        (lambda: fa.Normal(0.0, np.timedelta64(1, "s")), "Normal deviation is .*; give numbers"),
        (lambda: fa.view(RR, q=[1j, 0]), "q is complex; arm 'rr' takes real numbers"),
        (lambda: fa.derive(RR, names=[True, False]), r"names is \[True, False\]; give a list of names"),
        (lambda: payload_numbers(np.nan), "mass has entries that are not finite"),
        (lambda: fa.Link("revolute", limits=(False, "1")), r"limits are \(False, '1'\); give \(low, high\)"),
        (lambda: fa.Inertia.box(True, 1, 1, 1), "mass is True; give"),
    ],
)  # fmt: skip
def test_what_is_only_taken_for_a_number_or_a_choice_gets_no_result(ask, said):
    with pytest.raises(fa.Fault, match=said):
        ask()


def test_a_tip_is_a_name(tmp_path):
    path = fa.write_urdf(RR, tmp_path / "rr.urdf", lossy=True)
    with pytest.raises(
        fa.ReadFault, match=r"tip=range\(0, 1000000000000000\) is no name; give that of a link"
    ):
        fa.load(path, tip=range(10**15))


def test_numbers_that_float32_does_not_have_are_told():
    heavy = RR.replace(links=(RR.links[0].replace(mass=1e39), RR.links[1]))
    with pytest.raises(fa.KernelFault, match=r"float32 has no number as large as .*; give dtype='float64'"):
        fa.compile(heavy, "gravity_torque", dtype="float32")([0.1, 0.2])


@pytest.mark.parametrize("many", [(), (3,)])
def test_a_payload_that_is_no_body_is_refused(many):
    """M, the centre and moments about it in place of M, first moments and moments about the origin."""
    given = np.broadcast_to([1.0, 0.5, 0.5, 0.5, 0, 0, 0, 0, 0, 0], (*many, 10))
    with pytest.raises(
        fa.StateFault, match=r"simulate: payload is .*, which makes no rigid body of link 'q2'"
    ):
        fa.simulate(RR, [0.3, -0.4], duration=0.01, payload=given)


@pytest.mark.parametrize("sign", [1.0, -0.1])
def test_payloads_that_can_be_are_taken_and_taken_off_again(sign):
    inertia = np.diag([0.01, 0.02, 0.025])
    given = sign * payload_numbers([1.0, 0.3], [[0.1, 0.2, 0.3], [0, 0, 0]], inertia)
    fa.simulate(
        RR.with_payload(0.2, (0.1, 0.2, 0.3), fa.Inertia.about_com(inertia), frame=2),
        [0.3, -0.4],
        duration=0.01,
        payload=given,
    )
