"""From an arm to a kernel: every quantity, free parameters, the choice of formulation."""

import numpy as np
import pytest

import forearm as fa
from arms import golden_arm, golden_states, random_arm
from close import assert_close
from forearm.compiler.graph.interpreter import interpret, plain
from forearm.compiler.model.choice import best_graph, searched
from forearm.compiler.model.quantities import QUANTITIES
from forearm.compiler.pipeline import compile
from forearm.formulations import FORMULATIONS
from forearm.inertia import Inertia
from forearm.link import Drive
from forearm.readers import known_arms, load

TORQUES = FORMULATIONS["luh_walker_paul_1980"].joint_torques


def with_drives(arm):
    drive = Drive(
        rotor_inertia=2e-4, gear=-60.0, side="motor", viscous=0.3, coulomb=(0.4, 0.3), smoothing=0.05
    )
    return arm.replace(links=tuple(link.replace(drive=drive) for link in arm.links))


@pytest.mark.parametrize("quantity", [k for k, v in QUANTITIES.items() if not {"wrench", "dt"} & {*v.inputs}])
def test_compiled_equals_interpreted(quantity):
    slope = QUANTITIES[quantity].derivative
    joints = "RP" if slope is not None and slope.twofold else "RPR"
    arm = with_drives(random_arm(len(joints), 7, joints, flips=True))
    kernel = compile(arm, quantity)
    inputs = dict(zip(("q", "qd", "qdd"), arm.random_state(1, (5,)), strict=True))
    given = [inputs.get(p.name, inputs["qdd"]) for p in kernel.graph.inputs]
    got = kernel(*given)
    got = got if isinstance(got, tuple) else (got,)
    for row in range(5):
        want = interpret(
            kernel.graph, {p.name: v[row] for p, v in zip(kernel.graph.inputs, given, strict=True)}, plain
        )
        for port, values in zip(kernel.graph.outputs, got, strict=True):
            assert_close(values[row], want[port.name], scale=max(1.0, np.max(np.abs(values))), eps=64)


@pytest.mark.parametrize("name", ["G6R", "STAN"])
def test_golden_values_through_the_compiler(name):
    arm = golden_arm(name)
    for state in golden_states(name):
        q, qd, qdd = state["q"], state["qd"], state["qdd"]
        assert_close(fa.inverse_dynamics(arm, q, qd, qdd), state["tau"])
        assert_close(fa.mass_matrix(arm, q), state["M"])
        if state["C_ijk"].shape:
            assert_close(fa.christoffel(arm, q), state["C_ijk"], scale=np.max(np.abs(state["M"])))
        assert_close(fa.gravity_torque(arm, q), state["tau_gravity_only"])
        if state["jacobian_o6"].shape:
            assert_close(fa.jacobian(arm, q, "flange"), state["jacobian_o6"])


@pytest.mark.parametrize(
    "free", [("links[1].mass",), ("payload",), ("links[0].com", "joint3.inertia"), ("gravity",)]
)
def test_free_parameters_are_inputs_per_row(free):
    from forearm.compiler.model.free_parameters import current

    arm = with_drives(random_arm(3, 9, "RRR"))
    kernel = compile(arm, "inverse_dynamics", free=free)
    q, qd, qdd = arm.random_state(2, (4,))
    own = [current(arm, path) for path in free]
    scale = np.max(np.abs(fa.inverse_dynamics(arm, q, qd, qdd)))
    assert_close(kernel(q, qd, qdd, *own), fa.inverse_dynamics(arm, q, qd, qdd), scale=scale)
    doubled = [np.stack([x, 2 * x, x, x]) for x in own]
    got = kernel(q, qd, qdd, *doubled)
    want = fa.inverse_dynamics(arm, q, qd, qdd)
    assert_close(got[[0, 2, 3]], want[[0, 2, 3]], scale=scale)
    if free != ("payload",):
        assert np.max(np.abs(got[1] - want[1])) > 1e-3 * scale


@pytest.mark.parametrize(
    "quantity", [k for k, v in QUANTITIES.items() if v.derivative and "dt" not in v.inputs]
)
def test_derivatives_take_free_parameters_too(quantity):
    from forearm.compiler.model.free_parameters import current

    arm = random_arm(2, 9, "RR")
    free = ("links[1].mass", "payload") if quantity != "regressor" else ("gravity",)
    kernel, plain_kernel = compile(arm, quantity, free=free), compile(arm, quantity)
    given = dict(zip(("q", "qd", "qdd"), arm.random_state(1, (3,)), strict=True))
    state = [given.get(p.name, given["qdd"]) for p in plain_kernel.graph.inputs]
    got, want = kernel(*state, *(current(arm, path) for path in free)), plain_kernel(*state)
    pairs = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
    for ours, right in pairs:
        assert_close(ours, right, eps=1000, because="other frames, other roundings")


def test_a_free_payload_is_with_payload():
    arm = load("puma560")
    kernel = compile(arm, "inverse_dynamics", free=("payload",))
    mass, com = 2.5, np.array([0.02, -0.01, 0.1])
    inertia = Inertia.box(mass, 0.1, 0.2, 0.05)
    held = arm.with_payload(mass, com, inertia, frame="flange")
    tensor = np.array(inertia.tensor) + mass * (com @ com * np.eye(3) - np.outer(com, com))
    ten = [mass, *(mass * com), *tensor[np.triu_indices(3)]]
    state = arm.random_state(6, (3,))
    assert_close(
        kernel(*state, ten), fa.inverse_dynamics(held, *state), eps=200, because="two ways to add bodies"
    )


def test_search_finds_nothing_dearer_and_says_why():
    arm = random_arm(3, 12, "RRR", tilted=False)
    best, why = best_graph(arm, "inverse_dynamics", (), "search")
    default, _ = best_graph(arm, "inverse_dynamics")
    assert best.counts.operations <= default.counts.operations
    stems = {label.split(",")[0] for label, _ in why.candidates}
    assert {"luh_walker_paul_1980", "uicker_kahn_1969", "khalil_kleinfinger_1987"} <= stems
    assert why.candidates[0][1].operations == best.counts.operations
    assert "search" in str(why)


@pytest.mark.parametrize(
    "stem", [s for s, row in FORMULATIONS.items() if "joint_torques" in row.gives and not row.needs]
)
def test_any_formulation_can_be_asked_for(stem):
    arm = random_arm(2, 3, "RR")
    state = arm.random_state(0)
    assert_close(compile(arm, "inverse_dynamics", formulation=stem)(*state), TORQUES(arm, *state), eps=64)


def test_the_committed_table_names_built_in_arms():
    digests = {load(name).without_drives().digest[:16] for name in known_arms()}
    assert searched(), "searched.json is empty; run benchmarks/search.py"
    assert set(searched()) <= digests, "searched.json is stale; run benchmarks/search.py"


def test_messages():
    arm = golden_arm("STAN")
    with pytest.raises(fa.KernelFault, match="no quantity 'torque'; there are inverse_dynamics"):
        compile(arm, "torque")
    with pytest.raises(
        fa.KernelFault,
        match=r"inverse_dynamics takes no frame= \(it has no options\); frame is an option of pose, jacobian, .*Leave",
    ):
        compile(arm, "inverse_dynamics", frame="tool")
    with pytest.raises(
        fa.KernelFault, match=r"pose takes no framed= \(its options: frame\)\. Leave it out\."
    ):
        compile(arm, "pose", framed="tool")
    with pytest.raises(fa.KernelFault, match="no formulation 'newton'; there are"):
        compile(arm, "inverse_dynamics", formulation="newton")
    with pytest.raises(fa.KernelFault, match="turney_mudge_lee_1980_lagrange takes revolute joints only"):
        compile(arm, "inverse_dynamics", formulation="turney_mudge_lee_1980_lagrange")
    with pytest.raises(
        fa.KernelFault, match=r"free parameter 'links\[9\].mass' is not a field of arm 'STAN'"
    ):
        compile(arm, "inverse_dynamics", free=("links[9].mass",))
    with pytest.raises(fa.KernelFault, match="'colour' cannot be left free; give one of mass, com"):
        compile(arm, "inverse_dynamics", free=("joint1.colour",))
    with pytest.raises(fa.NoDynamics, match="has no masses or inertias"):
        fa.inverse_dynamics(load("cobra600"), np.zeros(4), np.zeros(4), np.zeros(4))


def test_a_free_gear_that_turns_no_rotor_is_refused():
    """A sweep over gears of an arm without rotors, or with reflected ones, gave one number for all."""
    bare = fa.load("rr")
    for drive, reason in (
        (fa.Drive(), "it has no rotor"),
        (fa.Drive(rotor_inertia=0.1, gear=50, side="joint"), "its rotor's inertia is already reflected"),
    ):
        arm = bare.replace(links=(bare.links[0].replace(drive=drive), bare.links[1]))
        with pytest.raises(fa.KernelFault, match=f"'links.0..drive.gear' of 'rr' changes nothing: {reason}"):
            compile(arm, "mass_matrix", free=("links[0].drive.gear",))
        with pytest.raises(fa.KernelFault, match="changes nothing"):
            fa.simulate(arm, [0.1, 0.2], duration=0.01, free={"links[0].drive.gear": [10.0, 100.0]})
    with pytest.raises(
        fa.KernelFault, match=r"on which side of the gear it is; give the joint a Drive\(side="
    ):
        compile(bare, "mass_matrix", free=("links[0].drive.rotor_inertia",))
    turned = fa.Drive(rotor_inertia=1e-3, gear=50, side="motor")
    arm = bare.replace(links=(bare.links[0].replace(drive=turned), bare.links[1]))
    kernel = compile(arm, "mass_matrix", free=("links[0].drive.gear",))
    rigid = fa.mass_matrix(bare, [0.1, 0.2])
    assert_close(kernel([0.1, 0.2], 100.0)[0, 0], rigid[0, 0] + 10.0)


def test_all_ten_parameters_of_every_link_are_one_input():
    arm = fa.load("rr")
    q, qd, qdd = arm.random_state(6, (4,))
    own = fa.parameters(arm).reshape(-1, 10)
    tables = own * np.random.default_rng(6).uniform(0.9, 1.1, (4, 2, 10))  # one for each row
    kernel = fa.compile(arm, "inverse_dynamics", free=("inertial",))
    want = np.einsum("sij,sj->si", fa.regressor(arm, q, qd, qdd), tables.reshape(4, -1))
    np.testing.assert_allclose(kernel(q, qd, qdd, tables), want, atol=1e-12)
    other = arm.with_parameters(1.1 * own)
    energies = fa.compile(arm, "energy", free=("inertial",))(q, qd, 1.1 * own)
    np.testing.assert_allclose(energies, fa.energy(other, q, qd), rtol=1e-12)


@pytest.mark.parametrize(
    "free",
    [
        ("links[1].mass", "joint2.mass"),
        ("inertial", "links[1].com"),
        ("joint3.drive.viscous", "friction"),
        ("geometry", "links[0].d"),
        ("links[1].mass", "links[-1].mass"),
    ],
)
def test_of_two_free_parameters_that_are_one_the_first_was_ignored(free):
    arm = fa.load("generic_3r")
    with pytest.raises(fa.KernelFault, match=r"set the same number|names one input twice"):
        fa.compile(arm, "bias_torque", free=free)
