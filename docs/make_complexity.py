# ruff: noqa: E501  (prose)
"""Write docs/complexity.md and its figures from the counts themselves: `python docs/make_complexity.py`.

Nothing on the page is typed: numbers, statuses and residuals come from `forearm.counting`, so that the page cannot
differ from the code. A test says when it is due.
"""

from importlib import import_module
from pathlib import Path

from forearm.counting import (
    cost_curves,
    count,
    customised_rows,
    first_above,
    formulation_rows,
    macro_schedule,
    makespan,
    operation_graph,
    polynomial,
    published,
    schedule_table,
    simulation_costs,
    strobing_costs,
    tables_lose,
)
from forearm.counting.answers.row_formats import to_markdown
from forearm.counting.costs.customised_costs import GENERAL_RECORDS, RECORDS
from forearm.counting.costs.strobing_costs import coefficients
from forearm.counting.costs.strobing_structures import structure_costs, structure_rows
from forearm.counting.meter.conventions import CONVENTIONS, TURNEY_DIAGONAL, WITHOUT_GRAVITY
from forearm.counting.published_tables.claims import claims
from forearm.counting.published_tables.printed import PAPERS, TABLES
from forearm.counting.published_tables.verdicts import EXACT, REPRODUCED, STATUSES
from forearm.counting.schedules.list_schedules import list_schedule
from forearm.counting.schedules.operation_graphs import SLOW_MULTIPLY, SPLIT_TASKS, TABLE_5_TASKS
from forearm.formulations import FORMULATIONS
from forearm.readers import load

HERE = Path(__file__).parent
FIGURES = HERE / "figures"
ARMS = ("puma560", "stanford", "panda", "ur5e", "iiwa14")
TITLES = {"hollerbach_1980": "Hollerbach 1980", "turney_mudge_lee_1980": "Turney, Mudge, Lee 1980"}
MODIFIED, TABLE_4 = "turney_mudge_lee_1980_modified", "turney_mudge_lee_1980_table_4"

HEAD = """# What each formulation costs

<!-- written by docs/make_complexity.py; do not edit -->

The papers of 1980 are about cost. Here every formulation is run on *counted scalars*: floats that tell a meter about
each multiplication and addition, and which equation of the paper asked for it. The formulation's source is the one that
computes torques, unchanged, and the counted run gives the same torques. So the counts below are measurements, and where a
published number differs we can say by how much, and mostly why.

```python
import forearm as fa

print(fa.count("luh_walker_paul_1980", n=6, convention="as set forth, base at rest").total)      # 852 | 681
print(fa.polynomial("luh_walker_paul_1980", convention="as set forth, base at rest"))            # 150n - 48 | 122n - 51
for row in fa.published("hollerbach_1980", "I"):
    print(row.row, row.multiplications.status, row.additions.status)
```

Without `convention=` the first line gives 861 | 690: gravity, an acceleration of the base, is charged too; the published 852
leaves it out.

"""


def overview() -> str:
    """All formulations, and the crossing of the tabular method."""
    stems = ("horn_raibert_1978", "luh_walker_paul_1980")
    tables, recursion = (polynomial(stem, convention=WITHOUT_GRAVITY) for stem in stems)
    multiplications = first_above(tables.multiplications, recursion.multiplications)
    additions = first_above(tables.additions, recursion.additions)
    return (
        "## All formulations\n\n![cost against n](figures/cost_against_joints.png)\n\n"
        f"The configuration space method of Horn and Raibert loses to Newton-Euler from n = {multiplications} in "
        f"multiplications (as Hollerbach says) and from n = {additions} in additions.\n\n"
        "Multiplications and additions *as set forth*: nothing skipped but the zeros at the base and beyond the tip; the "
        "entries of A are given. Every polynomial is fitted in exact fractions on at least two points more than it has "
        'coefficients. "Besides" is what a formulation does on lines that carry no equation: derivatives of A, turning '
        "vectors into base axes. The published polynomials are corrected in two places, 25n^4 (printed 25n^3) and "
        "620 1/2 n (printed 620 1/4 n); below they stand as printed.\n\n" + to_markdown(formulation_rows())
    )


def verdicts() -> str:
    """Every published row."""
    rows = published()
    cells = [v for row in rows for v in (row.multiplications, row.additions)]
    tally = ", ".join(f"{sum(v.status == status for v in cells)} {status}" for status in STATUSES)
    text = [
        "## The published tables\n",
        f"{len(cells)} printed numbers: {tally}. Of those not exact, every one that is not reproduced has its residual, "
        f"and {sum(v.accounted for v in cells if v.status not in REPRODUCED)} of "
        f"{sum(v.status not in REPRODUCED for v in cells)} have reasons that add up exactly. A reason found by trying "
        "conventions until the difference vanishes is a sufficient one, not proof of what the authors did.\n",
    ]
    for paper in PAPERS:
        for table in dict.fromkeys(row.table for row in rows if row.paper == paper):
            text.append(f"### {TITLES[paper]}, table {table}\n")
            text.append(to_markdown([_line(r) for r in rows if (r.paper, r.table) == (paper, table)]))
            text.append(_notes([r for r in rows if (r.paper, r.table) == (paper, table)]))
    conventions = [{"convention": c.name, "what is charged": c.why} for c in CONVENTIONS.values()]
    structures = [
        {
            "structure": name,
            "what it is": import_module(f"forearm.counting.as_counted.{name}").__doc__.splitlines()[0],
        }
        for name in sorted(
            {m.label.split()[0].rstrip(",") for row in _printed() for m in (row.ours, *row.others)}
        )
        if name.startswith(("turney", "hollerbach", "horn")) and name not in FORMULATIONS
    ]
    text += [
        "### The conventions\n",
        to_markdown(conventions),
        "### The structures that are not formulations\n",
    ]
    return "\n".join([*text, to_markdown(structures)])


def _printed():
    return [row for tables in TABLES.values() for rows in tables.values() for row in rows]


def _line(row) -> dict[str, str]:
    def verdict(v):
        if v.residual == "0" or v.status == EXACT:
            return v.status
        return f"{v.status}, residual {v.residual}" + (", accounted for" if v.accounted else "")

    m, a = row.multiplications, row.additions
    return {
        "row": row.row,
        "multiplications": m.published,
        "ours": m.ours,
        "status": verdict(m),
        "additions": a.published,
        "ours ": a.ours,
        "status ": verdict(a),
    }


def _notes(rows) -> str:
    """Reasons, accounts and remarks of a table, each said once."""
    said: dict[str, list[str]] = {}
    for row in rows:
        for cell, v in (("multiplications", row.multiplications), ("additions", row.additions)):
            if v.reason:
                said.setdefault(v.reason, []).append(f"{row.row} ({cell})")
            for account in v.accounts:
                said.setdefault(f"difference {account}", []).append(f"{row.row} ({cell})")
        if row.remark:
            said.setdefault(row.remark, []).append(row.row)
    return "".join(f"- *{', '.join(dict.fromkeys(where))}*: {_plain(what)}\n" for what, where in said.items())


def _plain(text: str) -> str:
    return text.replace("*", "\\*").replace("_", "\\_").replace("|", "\\|")


def claims_text() -> str:
    """What the papers say in words about their tables, each computed."""
    return (
        "## Claims in words\n\nWhat Hollerbach's text says of his tables, computed from the printed polynomials and from our "
        "counts of the formulations as written (`forearm.counting.published_tables.claims`):\n\n"
        + to_markdown([claim.row() for claim in claims()])
    )


def breakdown_text() -> str:
    """Term by term, by equation and by link."""
    found = count(MODIFIED, 6, convention=TURNEY_DIAGONAL)
    links = [
        {
            "walk": direction or "joints",
            "link": link or "",
            "multiplications": t.multiplications,
            "additions": t.additions,
        }
        for (direction, link), t in found.by_link.items()
    ]
    return (
        "## Term by term\n\n![breakdown](figures/breakdown.png)\n\n"
        f"`count({MODIFIED!r}, 6)` by link:\n\n" + to_markdown(links)
    )


def strobing() -> str:
    """Sections 6 and 7 of Turney, Mudge, Lee."""
    return (
        "## Strobing and simulation\n\nSection 6 of Turney, Mudge and Lee gives the cost of M and of the C^i by strobing "
        "as k1 n(n+1)/2 + d1 n(n+1)/2 and k2 n(n+1)(2n+1)/6 + d2 n(n+1)/2, k for the kinematics and d for the dynamics of "
        "one link. Counted for the modified set, in the limit of long chains (the number of dynamic visits for C is "
        "n^2(n+1)/2, since all n torques of every response are needed):\n\n"
        + to_markdown(coefficients())
        + "\n"
        + to_markdown([cost.row() for cost in strobing_costs()])
        + structures_text()
        + "\nOne acceleration and one step of the four point integration, as section 7 does it:\n\n"
        + to_markdown([cost.row() for cost in simulation_costs()])
    )


def structures_text() -> str:
    """How much the cost of M depends on the structure that is strobed."""
    costs = [cost for _, cost in structure_costs()]
    same = [
        c for c in costs if (c.multiplications, c.additions) == (costs[2].multiplications, costs[2].additions)
    ]
    assert len(same) == 2, "two structures of the same cost are spoken of"
    trace, force = (
        costs[0].multiplications - costs[1].multiplications,
        costs[2].additions - costs[1].additions,
    )
    return (
        "\nThe report prints no number for M, and small choices move it. With a diagonal inertia I α is cheaper at rest than "
        f"the trace of the modified set, by {trace} multiplications and as many additions in all (3 for each visit of a "
        "link); forming f_j, the force at the joint that is accelerated, which no torque asks for, costs "
        f"{force} additions. {same[0].multiplications} \\| {same[0].additions} can be had in two ways, of which a count alone "
        "does not tell which was meant:\n\n" + to_markdown(structure_rows())
    )


def concurrency() -> str:
    """Critical path, macro schedule, list schedules."""
    graph = operation_graph(MODIFIED, 6)
    tasks = operation_graph(TABLE_4, 6)
    kinds = (("multiplications",), ("additions",), ("multiplications", "additions"))
    macro = [
        {
            "tasks": name,
            **{" and ".join(kind): makespan(macro_schedule(tasks, kind, merge)) for kind in kinds},
        }
        for name, merge in (
            ("one for each quantity and link", TABLE_5_TASKS),
            ("A r and A s apart", SPLIT_TASKS),
        )
    ]
    table = [{**row, "speed_up": f"{row['speed_up']:.2f}"} for row in schedule_table(graph)]
    return (
        "## At the same time\n\nTable 5 adds up the largest cost of each row; it is not the time of any schedule. Three "
        "statements that can be checked, for the modified Newton-Euler set at n = 6 "
        f"({graph.count('multiplications')} multiplications, {graph.count('additions')} additions):\n\n"
        f"- The longest chain of operations has {graph.critical_path()} steps (8n + 9); with multiplications twice as slow "
        f"{graph.critical_path(SLOW_MULTIPLY)} (10n + 13). No machine is faster.\n"
        "- Each quantity of each link as one serial task on a processor of its own, steps until all is done:\n\n"
        + to_markdown(macro)
        + "\n- List schedules on p multipliers and p adders, the longest remaining chain first, each checked for "
        "dependencies and capacities; speed-up against one operation at a time:\n\n"
        + to_markdown(table)
        + "\n![time against units](figures/time_against_units.png)\n\n![list schedule](figures/gantt.png)\n\n"
        "![macro schedule](figures/macro.png)\n"
    )


def customised_text() -> str:
    """Compiled arms beside general polynomials and records."""
    general = [
        {
            "method": r.source,
            "multiplications": str(r.multiplications),
            "additions": str(r.additions),
            "n = 6": f"{int(r.multiplications(6))} | {int(r.additions(6))}",
            "standing": r.standing,
        }
        for r in GENERAL_RECORDS
    ]
    records = [
        {
            "arm": r.arm,
            "source": r.source,
            "inertias": r.inertias,
            "multiplications": r.multiplications or "",
            "additions": r.additions or "",
            "operations": r.operations,
            "standing": r.standing,
        }
        for r in RECORDS
    ]
    ours = [
        {key: value for key, value in row.items() if key != "records"}
        for row in customised_rows(load(name).without_drives() for name in ARMS)
    ]
    return (
        "## One arm at a time\n\nThe compiler folds an arm's numbers into the graph: zeros, ones, right angles, inertial "
        "parameters that cannot be told apart. Inverse dynamics, rigid arms, exact (no term is dropped); *arbitrary* is the "
        "same arm with inertial parameters in which nothing vanishes, which is what most records assume; *general* is "
        "Luh, Walker, Paul as set forth at the same n. An instruction is a fused multiply-add or a single operation.\n\n"
        + to_markdown(ours)
        + "\nWhat others report for customised arms (the RX-90 is PUMA-like):\n\n"
        + to_markdown(records)
        + "\nGeneral costs of later methods, for comparison:\n\n"
        + to_markdown(general)
    )


def figures() -> None:
    """Draw all pictures of the page."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from forearm.plots import cost_lines as pictures

    FIGURES.mkdir(exist_ok=True)
    graph, tasks = operation_graph(MODIFIED, 6), operation_graph(TABLE_4, 6)
    schedule = list_schedule(graph, 4)
    macro = macro_schedule(tasks, merge=TABLE_5_TASKS)
    drawings = {
        "cost_against_joints": (
            (8.6, 5.4),
            lambda ax: pictures.cost_against_joints(ax, cost_curves(), tables_lose()),
        ),
        "gantt": ((9.0, 3.4), lambda ax: pictures.gantt(ax, schedule)),
        "macro": ((9.0, 3.8), lambda ax: pictures.macro_gantt(ax, macro)),
        "time_against_units": ((5.6, 3.8), lambda ax: pictures.time_against_units(ax, schedule_table(graph))),
    }
    for name, (size, draw) in drawings.items():
        figure, ax = plt.subplots(figsize=size)
        draw(ax)
        _save(figure, name)
    stems = ("luh_walker_paul_1980", MODIFIED, "hollerbach_1980_3x3", "turney_mudge_lee_1980_lagrange")
    figure, axes = plt.subplots(2, 2, figsize=(10, 6.4), layout="constrained")
    for ax, stem in zip(axes.flat, stems, strict=True):
        pictures.breakdown(ax, count(stem, 6))
    _save(figure, "breakdown")


def _save(figure, name: str) -> None:
    import matplotlib.pyplot as plt

    figure.savefig(FIGURES / f"{name}.png", dpi=150, bbox_inches="tight", metadata={"Software": ""})
    plt.close(figure)


def page() -> str:
    """The whole page as text."""
    parts = (
        overview(),
        verdicts(),
        claims_text(),
        breakdown_text(),
        strobing(),
        concurrency(),
        customised_text(),
    )
    return HEAD + "\n\n".join(part.strip() for part in parts) + "\n"


def main() -> None:
    """Write the page and the figures."""
    (HERE / "complexity.md").write_text(page(), encoding="utf-8")
    figures()


if __name__ == "__main__":
    main()
