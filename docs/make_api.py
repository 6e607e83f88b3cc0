"""Write docs/api.md: every public name with its signature, its docstring and an example that runs.

    python docs/make_api.py

A test keeps the page in step with the code, runs the examples, and finds public names without one.
"""

import inspect
import re
import textwrap
from pathlib import Path

from api_examples import EXAMPLES
from run_blocks import refreshed

import forearm

PAGE = Path(__file__).parent / "api.md"

GROUPS = {
    "The arm": (
        "Arm Link Inertia Drive Wrench Pose NamedFrame Defect load known_arms parameters_of write_toml write_urdf"
    ),
    "Robots with branches": (
        "Robot Body Coupling mount_wrench center_of_mass center_of_mass_jacobian centroidal_momentum"
    ),
    "Torques and accelerations": "inverse_dynamics forward_dynamics external_torque reactions terms",
    "The terms of the equation of motion": (
        "mass_matrix solve_mass mass_matrix_rate coriolis_matrix coriolis_transpose_times christoffel "
        "gravity_torque bias_torque momentum energy"
    ),
    "Derivatives and parameters": (
        "derivatives forward_derivatives second_derivatives second_forward_derivatives hessian_times "
        "forward_hessian_times rollout_gradient rollout_sensitivity rollout_parameter_gradient rollout_gain_gradient "
        "regressor parameters parameter_names"
    ),
    "Frames and other coordinates": "pose jacobian jacobian_rate task Coordinates",
    "From a pose to joint values": "inverse_kinematics Reached",
    "The papers": "FORMULATIONS strobe count polynomial published derive symbolic prove_equal",
    "The compiler": (
        "compile compile_function Kernel emit_c emit_wasm torch_function jax_function casadi_function "
        "sin cos sqrt where"
    ),
    "Simulation": "simulate significance",
    "Motions": "point_to_point via_points tool_path Arc fastest speed_up feasible",
    "Torques by look-up": "tabulate plan_table learn_table open_table LookupTable",
    "The numbers of a real arm": (
        "identify Identified identify_payload Payload base_parameters excite observer watch Watched"
    ),
    "Much": "sweep Swept Uniform Normal Extremes Moments Quantiles Histogram plan_sweep stream Streamed",
    "To look at": "view View report",
    "Trust": "check verify compare",
    "What is refused": "Fault ArmFault NoDynamics StateFault ReadFault SingularInertia TraceFault KernelFault",
}
"""Public names by purpose, in the order of the page."""

HEAD = """# Public names

<!-- written by docs/make_api.py; do not edit -->

Everything is `fa.name` after `import forearm as fa`, and is loaded when it is first used. Arrays are `(..., n)`,
float64, SI units and radians; leading axes broadcast. The examples share

```python
import forearm as fa

arm, rr = fa.load("puma560"), fa.load("rr")
q, qd, qdd = arm.random_state(seed=0)
```
"""


def signature(name: str, value: object) -> str:
    """The call, without annotations."""
    if not callable(value):
        return name
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    bare = [_short(p.replace(annotation=inspect.Parameter.empty)) for p in found.parameters.values()]
    text = f"{name}{found.replace(parameters=bare, return_annotation=inspect.Signature.empty)}"
    return textwrap.fill(re.sub(r"<factory>|<[^>]*>", "…", text), 90, subsequent_indent=" " * (len(name) + 1))


class _Dots:
    """A default that is too long to print."""

    def __repr__(self) -> str:
        return "…"


def _short(parameter: inspect.Parameter) -> inspect.Parameter:
    """The parameter, its default shortened."""
    long = parameter.default is not inspect.Parameter.empty and len(repr(parameter.default)) > 40
    return parameter.replace(default=_Dots()) if long else parameter


def description(name: str, value: object) -> str:
    """The docstring as Markdown: arguments become a list, the rest stays."""
    if name == "FORMULATIONS":
        return "The papers by stem: each gives plain functions of one arm and one state (`joint_torques`, …)."
    text = inspect.getdoc(value) or ""
    text = text.partition("\n>>>")[0]
    lines = []
    for line in text.splitlines():
        section = line.strip() in ("Args:", "Returns:", "Raises:")
        item = re.fullmatch(r"    (\*{0,2}\w+): (.*)", line)
        if section:
            lines += ["", f"**{line.strip()}**", ""]
        elif item:
            lines.append(f"- `{item[1]}`: {item[2]}")
        elif line.startswith("        "):
            lines.append(f"  {line.strip()}")
        elif line.startswith("    "):
            lines += (
                ["", f"```text\n{line.strip()}\n```", ""]
                if "=" in line and len(line) < 60
                else [line.strip()]
            )
        else:
            lines.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).replace("*args", r"\*args").strip()


def fields(value: object) -> str:
    """The fields of a dataclass with the sentences under them."""
    if not (inspect.isclass(value) and hasattr(value, "__dataclass_fields__")):
        return ""
    source = inspect.getsource(value)
    rows = re.findall(r'^    (\w+): [^\n]+\n    """(.*?)"""', source, re.MULTILINE | re.DOTALL)
    listed = [f"- `{name}`: {' '.join(text.split())}" for name, text in rows]
    return "\n" + "\n".join(listed) + "\n" if listed else ""


def entry(name: str) -> str:
    """One name on the page."""
    value = getattr(forearm, name)
    parts = [
        f"### {name}",
        f"```text\n{signature(name, value)}\n```",
        description(name, value),
        fields(value),
    ]
    if name in EXAMPLES:
        parts.append(f"```python\n{textwrap.dedent(EXAMPLES[name]).strip()}\n```")
    return "\n\n".join(part for part in parts if part) + "\n"


def page() -> str:
    """The page before its examples have run."""
    blocks = [HEAD]
    for title, names in GROUPS.items():
        blocks += [f"## {title}\n", *(entry(name) for name in names.split())]
    return "\n".join(blocks)


if __name__ == "__main__":
    import os
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        PAGE.write_text(refreshed(page()), encoding="utf-8")
