"""One question, asked in every way that the library is asked: arrays of any kind, kernels, frameworks, files.

A question is a public function with its options. A door is given an arm, a question and states (N, …), and gives what
the plain call gives state by state: arrays (N, …) by name.
"""

import copy
import pickle
from dataclasses import dataclass, field

import numpy as np

import forearm as fa
from forearm.compiler.model.free_parameters import current

PUSH = fa.Wrench((3.0, -20.0, 7.0), (0.5, 1.0, -2.0), at="camera", frame="local")
POKE = fa.Wrench((1.0, 2.0, -4.0), at=(2, (0.1, 0.2, -0.1)))


@dataclass(frozen=True)
class Question:
    """A public function of states and its options."""

    function: str
    """Its name in forearm."""
    inputs: tuple
    """Names of its arrays."""
    options: dict = field(default_factory=dict)
    """What it is given by name."""
    quantity: str = ""
    """Its name to the compiler, where it is another; '-' where the compiler has none."""
    label: str = ""
    """What tells it from others of the function."""

    @property
    def compiled(self):
        """What the compiler calls it, or None."""
        return None if self.quantity == "-" else self.quantity or self.function

    def __str__(self):
        return f"{self.function} {self.label}".strip()


Q, QD, QDD, TAU = ("q",), ("q", "qd"), ("q", "qd", "qdd"), ("q", "qd", "tau")
OF = {
    Q: "mass_matrix gravity_torque christoffel center_of_mass center_of_mass_jacobian",
    QD: "bias_torque coriolis_matrix mass_matrix_rate momentum energy centroidal_momentum",
    QDD: "inverse_dynamics derivatives regressor reactions mount_wrench second_derivatives",
    TAU: "forward_dynamics forward_derivatives second_forward_derivatives",
}
FRAMED = {"pose": Q, "jacobian": Q, "jacobian_rate": QD}
WEIGHED = {"second_derivatives": QDD, "second_forward_derivatives": TAU}
QUESTIONS = [
    *(Question(name, inputs) for inputs, names in OF.items() for name in names.split()),
    Question("solve_mass", ("q", "b")),
    Question("coriolis_transpose_times", ("q", "qd", "v")),
    *(Question(name, x, {"frame": at}, label=str(at)) for name, x in FRAMED.items() for at in ("camera", 1)),
    *(Question(name, (*x, "weights"), {}, f"weighted_{name}", "weighed") for name, x in WEIGHED.items()),
    Question("inverse_dynamics", QDD, {"wrench": PUSH}, "-", "pushed"),
    Question("forward_dynamics", TAU, {"wrench": [PUSH, POKE]}, "-", "pushed twice"),
    Question("terms", QDD, {"wrench": PUSH}, "-"),
]


def states(arm, question, count, seed=0):
    """Arrays (count, n) of a question; numbers that float32 has, too."""
    q, qd, qdd = arm.random_state(seed, (count,))
    rng = np.random.default_rng(seed)
    given = {"q": q, "qd": qd, "qdd": qdd}
    given |= {name: 3 * rng.normal(size=qd.shape) for name in ("tau", "b", "v", "weights")}
    return [given[name].astype(np.float32).astype(float) for name in question.inputs]


def parts(found):
    """A result as a dict of arrays."""
    if hasattr(found, "_fields"):
        return {name: np.asarray(x) for name, x in zip(found._fields, found, strict=True)}
    if hasattr(found, "__dataclass_fields__"):
        return {name: np.asarray(getattr(found, name)) for name in found.__dataclass_fields__}
    return {"": np.asarray(found)}


def ask(arm, question, values, **more):
    """The plain call."""
    if "weights" in question.inputs:
        *values, more["weights"] = values
    return parts(getattr(fa, question.function)(arm, *values, **question.options, **more))


def one_by_one(arm, question, values):
    """The plain call, state by state."""
    rows = [ask(arm, question, [v[k].copy() for v in values]) for k in range(len(values[0]))]
    return stacked(rows)


def stacked(rows):
    """Results of single states as those of a batch."""
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}


# -- arrays of every kind ----------------------------------------------------------------------------------


def by_kind(change):
    """A door through which each array goes as another kind."""
    return lambda arm, question, values: ask(arm, question, [change(v) for v in values])


def strided(values):
    """Every second row and third column of a larger array, whose other numbers are none."""
    large = np.full((2 * len(values), 3 * values.shape[1]), np.nan)
    large[::2, 1::3] = values
    return large[::2, 1::3]


def in_two_axes(arm, question, values):
    found = ask(arm, question, [v.reshape(2, -1, v.shape[-1]) for v in values])
    return {name: x.reshape(-1, *x.shape[2:]) for name, x in found.items()}


def in_batches_of_one(arm, question, values):
    rows = [ask(arm, question, [v[k : k + 1] for v in values]) for k in range(len(values[0]))]
    return {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}


def as_objects(arm, question, values):
    rows = [
        ask(arm, question, [np.array(v[k].tolist(), dtype=object) for v in values])
        for k in range(len(values[0]))
    ]
    return {name: x.astype(float) for name, x in stacked(rows).items()}


def names_of(arm, name):
    """What the numbers of a state's array are called."""
    return arm.coordinates(name) if isinstance(arm, fa.Robot) else arm.joint_names


def by_joint_name(arm, question, values):
    """Dicts in another order."""
    named = [
        dict(reversed(list(zip(names_of(arm, name), v.T, strict=True))))
        for name, v in zip(question.inputs, values, strict=True)
    ]
    return ask(arm, question, named)


def mixed_precision(arm, question, values):
    return ask(arm, question, [v.astype(np.float32) if k else v for k, v in enumerate(values)])


def mixed_kinds(arm, question, values):
    return ask(arm, question, [v if k % 2 else v.tolist() for k, v in enumerate(values)])


def given_out(arm, question, values):
    """Into arrays of NaN; terms and pushes take none."""
    if question.function == "terms":
        return ask(arm, question, values)
    shaped = ask(arm, question, values)
    out = tuple(np.full(x.shape, np.nan) for x in shaped.values())
    ask(arm, question, values, out=out if len(out) > 1 else out[0])
    return dict(zip(shaped, out, strict=True))


def on_two_threads(arm, question, values):
    """A thousand rows, the last ones of which are looked at."""
    many = [np.resize(v, (1000 // len(v) * len(v) + len(v), v.shape[1])) for v in values]
    found = ask(arm, question, many, **({} if question.function == "terms" else {"threads": 2}))
    return {name: x[-len(values[0]) :] for name, x in found.items()}


def through_torch(arm, question, values):
    import torch

    return ask(arm, question, [torch.tensor(v) for v in values])


def through_jax(arm, question, values):
    import jax

    with jax.enable_x64(True):
        return ask(arm, question, [jax.numpy.asarray(v) for v in values])


ARRAYS = {
    "lists": by_kind(np.ndarray.tolist),
    "strided": by_kind(strided),
    "reversed": by_kind(lambda v: v[::-1, ::-1].copy()[::-1, ::-1]),
    "Fortran": by_kind(np.asfortranarray),
    "other byte order": by_kind(lambda v: v.astype(">f8")),
    "read-only": by_kind(lambda v: np.broadcast_to(v, v.shape)),
    "two axes": in_two_axes,
    "batches of one": in_batches_of_one,
    "objects": as_objects,
    "by joint name": by_joint_name,
    "mixed precision": mixed_precision,
    "mixed kinds": mixed_kinds,
    "out=": given_out,
    "two threads": on_two_threads,
    "PyTorch": through_torch,
    "JAX": through_jax,
}
"""Doors of the plain calls."""


# -- the same arm, made or written again -------------------------------------------------------------------


def again(remade):
    """A door through which the arm goes before it is asked."""
    return lambda arm, question, values: ask(remade(arm), question, values)


def as_tree(arm):
    """A chain as a robot without branches."""
    if isinstance(arm, fa.Robot):
        return arm
    hand = (fa.NamedFrame("hand", arm.n, arm.tool),)
    more = {"base": arm.base, "gravity": arm.gravity, "defects": arm.defects, "frames": arm.frames}
    return fa.Robot("tree", arm.links, tuple(range(arm.n)), tools=hand, **more)


def arm_doors(folder):
    """Doors of an arm that is the same."""
    return {
        "replace": again(lambda arm: arm.replace(name="other")),
        "pickle": again(lambda arm: pickle.loads(pickle.dumps(arm))),
        "copy": again(copy.deepcopy),
        "TOML": again(lambda arm: fa.load(fa.write_toml(arm, folder / "arm.toml"))),
        "a tree": again(as_tree),
    }


# -- kernels -----------------------------------------------------------------------------------------------


def listed(found):
    """All outputs of a kernel."""
    return [np.asarray(x) for x in (found if isinstance(found, (tuple, list)) else [found])]


def kernel(**how):
    """A kernel, compiled in some way."""
    return lambda arm, q, values: listed(fa.compile(arm, q.compiled, **how, **q.options)(*values))


def columns(arm, question, values):
    made = fa.compile(arm, question.compiled, layout="columns", **question.options)
    return [np.moveaxis(x, -1, 0) for x in listed(made(*(v.T.copy() for v in values)))]


def free(path):
    """A parameter given as it is."""
    return lambda arm, q, values: listed(
        fa.compile(arm, q.compiled, free=[path], **q.options)(*values, current(arm, path))
    )


def casadi(arm, question, values):
    made = fa.casadi_function(arm, question.compiled, **question.options)
    found = [made(*(v[k] for v in values)) for k in range(len(values[0]))]
    rows = [[x.full() for x in (row if isinstance(row, (tuple, list)) else [row])] for row in found]
    return [np.stack(column) for column in zip(*rows, strict=True)]


def jax_mapped(arm, question, values):
    import jax

    with jax.enable_x64(True):
        made = fa.jax_function(arm, question.compiled, **question.options)
        return listed(jax.jit(jax.vmap(made))(*values))


def torch_made(arm, question, values):
    import torch

    return listed(fa.torch_function(arm, question.compiled, **question.options)(*map(torch.tensor, values)))


FREE = ("payload@camera", "inertial", "gravity", "friction", "geometry", "links[0].mass", "links[0].com")
FREE += (
    "links[1].inertia",
    "links[1].d",
    "links[0].theta",
    "links[1].offset",
    "links[0].drive.rotor_inertia",
)
FREE += ("links[0].drive.gear", "links[0].drive.viscous", "links[0].drive.coulomb")
KERNELS = {
    "kernel": kernel(),
    "columns": columns,
    "WebAssembly": kernel(target="wasm"),
    "CasADi": casadi,
    "JAX function": jax_mapped,
    "PyTorch function": torch_made,
    **{f"free {path}": free(path) for path in FREE},
}
"""Doors of what the compiler knows by name."""


def file_doors(folder):
    """Doors through a file."""

    def stream(arm, question, values):
        np.save(folder / "rows.npy", np.hstack(values))
        fa.stream(arm, question.compiled, folder / "rows.npy", folder / "found.npy")
        return [np.load(folder / "found.npy")]

    return {"stream": stream}
