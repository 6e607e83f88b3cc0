"""One look-up, and a batch of them, in C99: no allocation, no library but math.h.

The stored numbers are not in the text: the caller gives them as one array (`table.flat()`), which may be mapped from
a file. A state outside the table leaves the torques alone and returns the number of the axis, from 1.
"""

import re

from forearm.arm import Arm
from forearm.tabulated.grids import Axis, Grid
from forearm.tabulated.plans import TablePlan
from forearm.tabulated.stencils import MARGIN, ORDERS


def table_c(plan: TablePlan, *, learnt: bool = False) -> str:
    """The whole text: one function for a state, one for a batch; a learnt table has cells that hold no numbers."""
    name = "forearm_" + re.sub(r"\W", "_", plan.arm.name, flags=re.ASCII) + "_table"
    order, n = ORDERS[plan.interpolation], plan.arm.n
    number = "double" if plan.dtype == "float64" else "float"
    axes = list(dict.fromkeys(axis for grid in plan.grids for axis in grid.axes))
    body = [line for k, axis in enumerate(axes) for line in _stencil(axis, k + 1, order)]
    begin = 0
    for k, grid in enumerate(plan.grids):
        body += _look_up(grid, k, begin, order, number)
        begin += grid.size
    if learnt:
        unmet = " || ".join(f"t[{i}] != t[{i}]" for i in range(n))
        body.append(f"if ({unmet}) return {UNMET};")
    body += [f"tau[{i}] = t[{i}]{_friction(plan.arm, i)};" for i in range(n)]
    lines = "\n".join(f"    {line}" for line in body)
    never = (
        f"\n   or {UNMET} in cells that the log never met or does not tell; not for -ffast-math, which knows no NaN"
        if learnt
        else ""
    )
    return f"""\
/* {_comment(str(plan))}.
   Torques by look-up. numbers: {begin} of type {number}, as LookupTable.flat() gives them. q, qd, qdd, tau: {n} each.
   Returns 0, or the number of the axis that the state is outside of (tau is then as it was){never}. */
#include <math.h>

int {name}(const {number} *restrict numbers, const double *restrict q, const double *restrict qd,
    const double *restrict qdd, double *restrict tau)
{{
    double t[{n}] = {{0}};
{lines}
    return 0;
}}

/* The same for a batch, row after row; stops at the first state outside and returns its axis. */
int {name}_batch(const {number} *restrict numbers, long count, const double *restrict q,
    const double *restrict qd, const double *restrict qdd, double *restrict tau)
{{
    for (long b = 0; b < count; b++) {{
        int outside = {name}(numbers, q + b * {n}, qd + b * {n}, qdd + b * {n}, tau + b * {n});
        if (outside) return outside;
    }}
    return 0;
}}
"""


UNMET = -1
"""What a look-up gives where a learnt table has no number."""
COUNTED = 1e9
"""Steps of an axis that goes round, beyond which a position has no digits left to look up."""


def _stencil(axis: Axis, number: int, order: int) -> list[str]:
    """Indices and weights on one axis: i_q2[], w_q2[]."""
    x, u, points = axis.name, f"u_{axis.name}", axis.points
    lines = [f"double {u} = ({axis.what}[{axis.joint}] - ({axis.low!r})) / {axis.step!r};"]
    if axis.circular:
        # what is no number, or so large that its turns cannot be counted, has no place on the axis
        lines.append(f"if (!({u} >= {-COUNTED!r} && {u} <= {COUNTED!r})) return {number};")
        lines.append(f"{u} -= {float(points)!r} * floor({u} / {float(points)!r});")
        lines.append(f"{u} = {u} < 0.0 ? 0.0 : {u} > {float(points)!r} ? {float(points)!r} : {u};")
    else:
        lines.append(f"if (!({u} >= {-MARGIN!r} && {u} <= {points - 1 + MARGIN!r})) return {number};")
    if order == 1:
        wrapped = f"% {points}" if axis.circular else ""
        return [
            *lines,
            f"const long i_{x}[1] = {{(long)rint({u}) {wrapped}}};",
            f"const double w_{x}[1] = {{1.0}};",
        ]
    lines.append(f"long f_{x} = (long)floor({u}) - {order // 2 - 1};")
    if not axis.circular:
        lines.append(f"f_{x} = f_{x} < 0 ? 0 : f_{x} > {points - order} ? {points - order} : f_{x};")
    lines.append(f"const double s_{x} = {u} - (double)f_{x};")
    at = [f"(f_{x} + {k + points}) % {points}" if axis.circular else f"f_{x} + {k}" for k in range(order)]
    lines.append(f"const long i_{x}[{order}] = {{{', '.join(at)}}};")
    lines.append(f"const double w_{x}[{order}] = {{{', '.join(_weights(f's_{x}', order))}}};")
    return lines


def _weights(s: str, order: int) -> list[str]:
    if order == 2:
        return [f"1.0 - {s}", s]
    a, b, c, d = s, f"({s} - 1.0)", f"({s} - 2.0)", f"({s} - 3.0)"
    sixth = repr(1 / 6)
    return [
        f"-{sixth} * {b} * {c} * {d}",
        f"0.5 * {a} * {c} * {d}",
        f"-0.5 * {a} * {b} * {d}",
        f"{sixth} * {a} * {b} * {c}",
    ]


def _look_up(grid: Grid, k: int, begin: int, order: int, number: str) -> list[str]:
    """The entries of one grid, and what they do to the torques."""
    count, e = len(grid.entries), f"e{k}"
    lines = [f"double {e}[{count}] = {{0}};"]
    place, weight, depth = [], ["1.0"], 0
    for axis, stride in zip(grid.axes, grid.strides, strict=True):
        c = f"c{depth}"
        lines.append("    " * depth + f"for (int {c} = 0; {c} < {order}; {c}++) {{")
        place.append(f"i_{axis.name}[{c}] * {stride}")
        weight.append(f"w_{axis.name}[{c}]")
        depth += 1
    inner = "    " * depth
    lines.append(f"{inner}const {number} *cell = numbers + {begin} + ({' + '.join(place) or '0'}) * {count};")
    lines.append(f"{inner}const double w = {' * '.join(weight)};")
    lines.append(f"{inner}for (int k = 0; k < {count}; k++) {e}[k] += w * cell[k];")
    lines += ["    " * level + "}" for level in reversed(range(depth))]
    if not depth:  # a scope of its own for names that every grid uses
        lines[1:] = ["{", *(f"    {line}" for line in lines[1:]), "}"]
    for at, entry in enumerate(grid.entries):
        for term in entry.terms:
            parts = [
                f"{e}[{at}]",
                *(["2.0"] if term.times == 2 else []),
                *(f"{w}[{j}]" for w, j in term.factors),
            ]
            lines.append(f"t[{term.joint}] += {' * '.join(parts)};")
    return lines


def _friction(arm: Arm, i: int) -> str:
    """What a joint's friction adds, as C."""
    drive = arm.links[i].drive
    text = f" + {float(drive.viscous)!r} * qd[{i}]" if drive.viscous else ""
    forth, back = map(float, drive.coulomb)
    if forth or back:
        s = f"(qd[{i}] / sqrt(qd[{i}] * qd[{i}] + {float(drive.smoothing) ** 2!r}))"
        text += f" + {s} * ({(forth + back) / 2!r} + {(forth - back) / 2!r} * {s})"
    return text


def _comment(text: str) -> str:
    """Text that ends no comment."""
    return text.replace("*/", "* /").replace("/*", "/ *").replace("\\", " ").replace("\n", " ")
