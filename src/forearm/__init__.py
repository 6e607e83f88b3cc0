"""forearm: the dynamics of robot arms.

    import forearm as fa

    arm = fa.load("puma560")
    tau = fa.inverse_dynamics(arm, q, qd, qdd)

The public names, grouped by purpose. Each is imported when it is first used, so that `import forearm` is light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_NAMES = {
    # the arm
    "Arm": "arm",
    "Link": "link",
    "Inertia": "inertia",
    "Drive": "link",
    "Wrench": "link",
    "Pose": "frames",
    "NamedFrame": "frames",
    "Defect": "arm",
    "load": "readers",
    "known_arms": "readers",
    "parameters_of": "readers",
    "write_toml": "writers.toml",
    "write_urdf": "writers.urdf",
    # what is refused
    "Fault": "faults",
    "ArmFault": "faults",
    "NoDynamics": "faults",
    "StateFault": "faults",
    "ReadFault": "faults",
    "SingularInertia": "faults",
    "TraceFault": "faults",
    "KernelFault": "faults",
    # dynamics
    "inverse_dynamics": "dynamics",
    "forward_dynamics": "dynamics",
    "mass_matrix": "dynamics",
    "solve_mass": "dynamics",
    "mass_matrix_rate": "dynamics",
    "coriolis_matrix": "dynamics",
    "coriolis_transpose_times": "dynamics",
    "christoffel": "dynamics",
    "gravity_torque": "dynamics",
    "bias_torque": "dynamics",
    "momentum": "dynamics",
    "terms": "dynamics",
    "reactions": "dynamics",
    "external_torque": "dynamics",
    "derivatives": "dynamics",
    "forward_derivatives": "dynamics",
    "regressor": "dynamics",
    "parameters": "dynamics",
    "parameter_names": "dynamics",
    "pose": "dynamics",
    "jacobian": "dynamics",
    "jacobian_rate": "dynamics",
    "energy": "dynamics",
    "task": "taskspace",
    "Coordinates": "taskspace",
    # the papers
    "FORMULATIONS": "formulations",
    "strobe": "strobing",
    "count": "counting",
    "polynomial": "counting",
    "published": "counting",
    "derive": "derivation",
    "symbolic": "derivation",
    "prove_equal": "derivation",
    # the compiler
    "compile": "compiler.pipeline",
    "Kernel": "compiler.call.processor",
    "emit_c": "compiler.sources.controller",
    "torch_function": "gradients",
    "jax_function": "gradients",
    "casadi_function": "compiler.sources.casadi_symbols",
    "sin": "algebra",
    "cos": "algebra",
    "sqrt": "algebra",
    "where": "algebra",
    # simulation
    "simulate": "simulation",
    "significance": "simulation",
    # trust
    "check": "verification",
    "verify": "verification",
    "compare": "verification",
}

__all__ = ["__version__", *_NAMES]


def __getattr__(name: str) -> Any:
    home = _NAMES.get(name)
    if home is None:
        raise AttributeError(f"module 'forearm' has no attribute {name!r}")
    value = getattr(import_module(f"forearm.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from forearm.algebra import cos as cos
    from forearm.algebra import sin as sin
    from forearm.algebra import sqrt as sqrt
    from forearm.algebra import where as where
    from forearm.arm import Arm as Arm
    from forearm.arm import Defect as Defect
    from forearm.frames import NamedFrame as NamedFrame
    from forearm.frames import Pose as Pose
    from forearm.inertia import Inertia as Inertia
    from forearm.link import Drive as Drive
    from forearm.link import Link as Link
    from forearm.link import Wrench as Wrench
    from forearm.readers import load as load
