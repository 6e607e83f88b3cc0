"""forearm: the dynamics of robot arms.

    import forearm as fa

    arm = fa.load("puma560")
    tau = fa.inverse_dynamics(arm, q, qd, qdd)

The public names, grouped by purpose. Each is imported when it is first used, so that `import forearm` is light; type
checkers see them all below. The functions of states are those that `dynamics` lists in its `__all__`.

The modules of this level are one noun a file, the rooms a folder each; docs/architecture.md is their map.
"""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

_NAMES = {
    # the arm
    "Arm": "arm",
    "Robot": "robot",
    "Coupling": "couplings",
    "Body": "link",
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
    # from a pose to joint values
    "inverse_kinematics": "reach",
    "Reached": "reach",
    # derivatives of the second order
    "second_derivatives": "second_order",
    "second_forward_derivatives": "second_order",
    "hessian_times": "second_order",
    "forward_hessian_times": "second_order",
    "rollout_gradient": "rollout_gradients",
    "rollout_parameter_gradient": "rollout_gradients",
    "rollout_sensitivity": "rollout_gradients",
    "rollout_gain_gradient": "simulation.law_gradients",
    # dynamics in other coordinates
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
    "compile_function": "compiler.function_kernels",
    "Kernel": "compiler.kernel",
    "emit_c": "compiler.sources.controller",
    "emit_wasm": "compiler.browser_modules",
    "torch_function": "frameworks",
    "jax_function": "frameworks",
    "casadi_function": "compiler.sources.casadi_symbols",
    "sin": "algebra",
    "cos": "algebra",
    "sqrt": "algebra",
    "where": "algebra",
    # simulation
    "simulate": "simulation",
    "significance": "simulation",
    # motions
    "point_to_point": "motion.profiles.point_to_point",
    "via_points": "motion.profiles.via_splines",
    "tool_path": "motion.tool_paths.tool_motion",
    "Arc": "motion.tool_paths.tool_legs",
    "fastest": "motion.time_optimal.fastest_motions",
    "speed_up": "motion.speed_ups",
    "feasible": "motion.feasibility",
    # torques by look-up
    "tabulate": "tabulated",
    "plan_table": "tabulated",
    "learn_table": "tabulated",
    "open_table": "tabulated",
    "LookupTable": "tabulated",
    # the numbers of a real arm
    "identify": "identification",
    "Identified": "identification",
    "identify_payload": "identification",
    "Payload": "identification",
    "base_parameters": "identification",
    "excite": "identification",
    "observer": "identification",
    "watch": "identification",
    "Watched": "identification",
    # larger than memory, larger than one machine
    "sweep": "sweeps",
    "plan_sweep": "sweeps",
    "Swept": "sweeps",
    "Uniform": "sweeps",
    "Normal": "sweeps",
    "Extremes": "sweeps",
    "Moments": "sweeps",
    "Quantiles": "sweeps",
    "Histogram": "sweeps",
    "stream": "streams",
    "Streamed": "streams",
    # the page
    "view": "page.live_view",
    "report": "page.motion_report",
    "View": "page.live_view",
    # trust
    "check": "verification",
    "verify": "verification",
    "compare": "verification",
}
"""Public name -> the module it lives in; what `dynamics` lists comes on top."""

if TYPE_CHECKING:
    from forearm.algebra import cos as cos, sin as sin, sqrt as sqrt, where as where
    from forearm.arm import Arm as Arm, Defect as Defect
    from forearm.compiler.function_kernels import compile_function as compile_function
    from forearm.compiler.kernel import Kernel as Kernel
    from forearm.compiler.pipeline import compile as compile
    from forearm.compiler.sources.casadi_symbols import casadi_function as casadi_function
    from forearm.compiler.sources.controller import emit_c as emit_c
    from forearm.couplings import Coupling as Coupling
    from forearm.counting import count as count, polynomial as polynomial, published as published
    from forearm.derivation import derive as derive, prove_equal as prove_equal, symbolic as symbolic
    from forearm.dynamics import *
    from forearm.faults import (
        ArmFault as ArmFault,
        Fault as Fault,
        KernelFault as KernelFault,
        NoDynamics as NoDynamics,
        ReadFault as ReadFault,
        SingularInertia as SingularInertia,
        StateFault as StateFault,
        TraceFault as TraceFault,
    )
    from forearm.formulations import FORMULATIONS as FORMULATIONS
    from forearm.frames import NamedFrame as NamedFrame
    from forearm.frames import Pose as Pose
    from forearm.frameworks import jax_function as jax_function, torch_function as torch_function
    from forearm.identification import (
        Identified as Identified,
        Payload as Payload,
        Watched as Watched,
        base_parameters as base_parameters,
        excite as excite,
        identify as identify,
        identify_payload as identify_payload,
        observer as observer,
        watch as watch,
    )
    from forearm.inertia import Inertia as Inertia
    from forearm.link import Body as Body, Drive as Drive, Link as Link, Wrench as Wrench
    from forearm.motion.speed_ups import speed_up as speed_up
    from forearm.motion.feasibility import feasible as feasible
    from forearm.motion.profiles.point_to_point import point_to_point as point_to_point
    from forearm.motion.profiles.via_splines import via_points as via_points
    from forearm.motion.time_optimal.fastest_motions import fastest as fastest
    from forearm.motion.tool_paths.tool_legs import Arc as Arc
    from forearm.motion.tool_paths.tool_motion import tool_path as tool_path
    from forearm.reach import Reached as Reached, inverse_kinematics as inverse_kinematics
    from forearm.page.live_view import View as View, view as view
    from forearm.page.motion_report import report as report
    from forearm.readers import known_arms as known_arms, load as load, parameters_of as parameters_of
    from forearm.robot import Robot as Robot
    from forearm.rollout_gradients import (
        rollout_gradient as rollout_gradient,
        rollout_parameter_gradient as rollout_parameter_gradient,
        rollout_sensitivity as rollout_sensitivity,
    )
    from forearm.second_order import (
        forward_hessian_times as forward_hessian_times,
        hessian_times as hessian_times,
        second_derivatives as second_derivatives,
        second_forward_derivatives as second_forward_derivatives,
    )
    from forearm.simulation import significance as significance, simulate as simulate
    from forearm.simulation.law_gradients import rollout_gain_gradient as rollout_gain_gradient
    from forearm.compiler.browser_modules import emit_wasm as emit_wasm
    from forearm.strobing import strobe as strobe
    from forearm.streams import Streamed as Streamed, stream as stream
    from forearm.sweeps import (
        Extremes as Extremes,
        Histogram as Histogram,
        Moments as Moments,
        Normal as Normal,
        Quantiles as Quantiles,
        Swept as Swept,
        Uniform as Uniform,
        plan_sweep as plan_sweep,
        sweep as sweep,
    )
    from forearm.tabulated import (
        LookupTable as LookupTable,
        learn_table as learn_table,
        open_table as open_table,
        plan_table as plan_table,
        tabulate as tabulate,
    )
    from forearm.taskspace import Coordinates as Coordinates, task as task
    from forearm.verification import check as check, compare as compare, verify as verify
    from forearm.writers.toml import write_toml as write_toml
    from forearm.writers.urdf import write_urdf as write_urdf
else:  # out of a checker's sight: to it, a name that is not above is a mistake

    def __getattr__(name):
        from importlib import import_module

        if name == "__all__":
            return ["__version__", *_NAMES, *import_module("forearm.dynamics").__all__]
        if name not in _NAMES:
            # the import system asks here before it looks for a module: what it could have meant is not looked for
            known = () if name.startswith("_") or _is_module(name) else __getattr__("__all__")
            if name not in known:
                hint = import_module("forearm.outside.libraries.foreign_names").hint(name, known)
                raise AttributeError(f"module 'forearm' has no attribute {name!r}{hint}")
        import_module(
            "forearm.outside.whole_process.forks"
        )  # a copy of the process may be made while a thread loads
        home = _NAMES.get(name, "dynamics")
        value = globals()[name] = getattr(import_module(f"forearm.{home}"), name)
        return value

    def _is_module(name):
        from importlib import machinery

        return machinery.PathFinder.find_spec(f"forearm.{name}", __path__) is not None

    def __dir__():
        return sorted(__getattr__("__all__"))
