"""The verb about cost: count."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from forearm.cli.hyphens import STDIO
from forearm.cli.inputs import arm_of, check_places, refuse_what_is_read, robot_of, writing
from forearm.cli.measures import WholeIfAny, Wholes
from forearm.cli.option_groups import AS_WRITTEN, Flag, Reading, Source, Target
from forearm.cli.output import PLAIN, Outputs, Shared, note, print_json, progress, table

if TYPE_CHECKING:
    from forearm.counting.answers.question import Answer, AnswerTable, Question, Rows

Form = Literal["table", "csv", "markdown", "latex"]
Picture = Callable[[], Any]
"""How to draw an answer; called only where a picture is wanted."""

TAKES = {
    "": ("n", "arm", "quantity", "convention", "by", "plot"),
    "published": (),
    "schedule": ("n", "arm", "quantity", "convention", "processors", "plot"),
    "strobing": ("n",),
    "customised": ("arm", "quantity"),
    "tables": ("n", "arm", "points"),
}
"""What is counted -> the options that mean something there."""


def count(
    formulation: str | None = None,
    /,
    *,
    n: WholeIfAny = None,
    arm: Source | None = None,
    quantity: str | None = None,
    convention: str | None = None,
    by: Literal["equation", "link"] | None = None,
    published: Flag = False,
    schedule: Flag = False,
    processors: Wholes = (),
    strobing: Flag = False,
    customised: Flag = False,
    tables: Flag = False,
    points: WholeIfAny = None,
    form: Annotated[Form | None, Parameter(name="--as")] = None,
    csv: Target | None = None,
    latex: Target | None = None,
    plot: Path | None = None,
    reading: Reading = AS_WRITTEN,
    shared: Shared = PLAIN,
) -> None:
    """Count operations exactly, by running a formulation on scalars that count.

    Without a formulation: all of them side by side.

    Parameters
    ----------
    formulation
        A paper's stem, such as luh_walker_paul_1980; with --published a paper or the number of a table.
    n
        Number of joints of the generic arm (6).
    arm
        Count on this arm instead, its zeros and ones free; a robot with branches is a sum of chains.
    quantity
        joint_torques (where it is given, unless told otherwise), mass_matrix, …
    convention
        What is charged, such as "as set forth"; --convention list explains them all.
    by
        Split by equation (unless told otherwise), or by link.
    published
        The printed tables beside our counts: status and explanation of each number. A table: --published I.
    schedule
        Longest chain, and the time on p multipliers and p adders with its bound and speed-up.
    processors
        These p, with --schedule; the first is drawn.
    strobing
        What M, the C^i and one simulation step cost by strobing.
    customised
        The arm's compiled cost beside general polynomials and published records, with --arm.
    tables
        Memory of tabulated torques (Albus, Raibert, Horn and Raibert): formulas, and an arm's own with --arm.
    points
        Points on each axis, with --tables (10).
    form
        How to print it: table, csv, markdown or latex.
    csv
        Write the (first) table into this file.
    latex
        Write the tables into this file.
    plot
        Draw into this file: cost against n and the split by equation; with --schedule who does what when, and T_p.
    """
    check_places(csv, latex, plot=plot)
    for place in (csv, latex):
        refuse_what_is_read(place or STDIO, arm)
    _refuse_two_forms(form, csv, latex, shared)
    asked = dict(
        published=published, schedule=schedule, strobing=strobing, customised=customised, tables=tables
    )
    options: dict[str, Any] = dict(
        n=n, arm=arm, quantity=quantity, convention=convention, by=by, plot=plot, points=points
    )
    options |= {"processors": processors or None}
    if convention == "list":
        from forearm.counting.answers.question import conventions

        _refuse_beside_list(
            formulation, asked | options | {"convention": None, "arm": arm or reading.options()}
        )
        tell(conventions(), shared, form, csv, latex)
        return
    what = _one_thing(formulation, asked, options)
    question = _question(formulation, n, _loaded(arm, what, reading), quantity, convention)
    if what == "tables":
        from forearm.tabulated.memory_answers import memory_of_tables

        answer = memory_of_tables(question.n, question.arm, 10 if points is None else points)
        tell(answer, shared, form, csv, latex)
        return
    if what == "schedule":
        answer, picture = _scheduled(question, processors)
    else:
        answer, picture = _counted(what, question, by or "equation", shared)
    with Outputs() as outputs:
        with outputs.one():
            tell(answer, shared, form, csv, latex)
            sys.stdout.flush()  # the numbers are there before the picture, which takes a while
        with outputs.one():
            if plot is not None:
                _draw(picture, plot, shared)


def _refuse_beside_list(formulation: str | None, given: dict[str, Any]) -> None:
    """Refuse what says what to count, where conventions are explained."""
    from forearm.faults import StateFault

    beside = [f"--{name}" for name, value in given.items() if value] + [formulation] * (
        formulation is not None
    )
    if beside:
        raise StateFault(f"--convention list explains conventions and counts nothing; leave {beside[0]} out.")


def _refuse_two_forms(form: str | None, csv: str | None, latex: str | None, shared: Shared) -> None:
    """Refuse two documents for one stdout."""
    from forearm.faults import StateFault

    named = {
        "--as": form is not None,
        "--csv -": csv == STDIO,
        "--latex -": latex == STDIO,
        "--json": shared.json,
    }
    given = [name for name, there in named.items() if there]
    if len(given) > 1:
        raise StateFault(f"{given[0]} and {given[1]} both say what stdout gets; leave one of them out.")


def _one_thing(formulation: str | None, chosen: dict[str, bool], given: dict[str, Any]) -> str:
    """What is to be counted, or a fault if the options do not go together."""
    from forearm.faults import StateFault
    from forearm.readers import known_arms

    if formulation is not None and (formulation in known_arms() or Path(formulation).is_file()):
        raise StateFault(
            f"count: {formulation} is an arm, and here goes a formulation; give --arm {formulation}."
        )
    asked = [name for name, wanted in chosen.items() if wanted]
    if len(asked) > 1:
        raise StateFault(f"--{' and --'.join(asked)} are different tables; give one of them.")
    what = asked[0] if asked else ""
    for name, value in given.items():
        if value is not None and name not in TAKES[what]:
            homes = [
                f"--{key}" if key else "plain counts" for key, options in TAKES.items() if name in options
            ]
            beside = f"beside --{what}" if what else "alone"
            raise StateFault(f"--{name} means nothing {beside}; it goes with {', '.join(homes)}.")
    if given["by"] is not None and formulation is None:
        raise StateFault(
            "--by splits one formulation; name it, as in forearm count luh_walker_paul_1980 --by link."
        )
    if what == "tables" and formulation is not None:
        raise StateFault(
            f"--tables is about stored torques, not about {formulation}; leave the formulation out."
        )
    if what == "customised" and given["arm"] is None:
        raise StateFault("--customised is about one arm; name it, as in --arm puma560.")
    if given["n"] is not None and given["arm"] is not None:
        raise StateFault("--n is for the generic arm and --arm has joints of its own; give one of them.")
    if given["n"] is not None and given["n"] < 1:
        raise StateFault(f"--n is {given['n']}; an arm has at least one joint.")
    return what


def _loaded(arm: str | None, what: str, reading: Reading) -> Any:
    """The arm to count on; plain counts take a robot with branches, too."""
    from forearm.faults import StateFault

    if arm is not None:
        return arm_of(arm, reading=reading) if what else robot_of(arm, reading=reading)
    if reading.options():
        raise StateFault(
            "count: --tip, --base and the like say how a file is read; name the file with --arm."
        )
    return None


def _question(
    formulation: str | None, n: int | None, arm: Any, quantity: str | None, convention: str | None
) -> "Question":
    """The question in its own terms: the convention found by its name."""
    from forearm.counting.answers.question import Question, convention_named

    return Question(
        formulation,
        6 if n is None else n,
        arm,
        quantity,
        None if convention is None else convention_named(convention),
    )


def _scheduled(question: "Question", processors: tuple[int, ...]) -> "tuple[Answer, Picture]":
    """The schedules, and how to draw them."""
    from forearm.counting.answers.cost_figures import schedule_picture
    from forearm.counting.answers.schedule_answers import schedule_graph, scheduled, table_5_graph

    graph, rule = schedule_graph(question)
    answer = scheduled(graph, rule, processors, table_5_graph(question))
    return answer, lambda: schedule_picture(graph, processors)


def _counted(what: str, question: "Question", by: str, shared: Shared) -> "tuple[Answer, Picture]":
    """The counts, and how to draw them."""
    from forearm.counting.answers.cost_figures import cost_picture

    return _answer(what, question, by, shared), lambda: cost_picture(question)


def _answer(what: str, question: "Question", by: str, shared: Shared) -> "Answer":
    from forearm.counting.answers import cost_answers, formulation_answers, table_answers

    if what == "published":
        return table_answers.printed(question.stem)
    if what == "strobing":
        return cost_answers.strobed(question)
    if what == "customised":
        return cost_answers.customised(question)
    if question.stem is not None:
        return formulation_answers.one(question, by)
    with progress(shared, "counting") as tells:
        return formulation_answers.side_by_side(question, tells)


# -- out -------------------------------------------------------------------------------------------------


def tell(answer: "Answer", shared: Shared, form: str | None, csv: str | None, latex: str | None) -> None:
    """Print an answer, or write it."""
    from forearm.counting import written

    with Outputs() as outputs:
        with outputs.one():
            if csv is not None:
                _write(csv, written(answer.tables[0].rows, "csv"), shared)
        with outputs.one():
            if latex is not None:
                _write(latex, "\n".join(_latex(part) for part in _for_reading(answer)), shared)
        with outputs.one():
            if STDIO not in (csv, latex):
                _show(answer, shared, form)


def _show(answer: "Answer", shared: Shared, form: str | None) -> None:
    from forearm.counting import written

    if shared.json:
        print_json(answer.document)
    elif form == "csv":
        print(written(answer.tables[0].rows, "csv"), end="")
    elif form == "latex":
        print("\n".join(_latex(part) for part in _for_reading(answer)), end="")
    elif form == "markdown":
        print("\n".join(_markdown(part) for part in _for_reading(answer)), end="")
    else:
        _print(answer, shared)


def _for_reading(answer: "Answer") -> "Sequence[AnswerTable]":
    """The tables without the one that is only for files."""
    return [part for part in answer.tables if not part.file_only]


def _latex(part: "AnswerTable") -> str:
    from forearm.counting.answers.row_formats import to_latex
    from forearm.outside.escapes import latex as escape

    notes = "".join(rf"\noindent {escape(sentence)}\par" + "\n" for sentence in part.notes)
    return to_latex(part.rows, part.title) + notes


def _markdown(part: "AnswerTable") -> str:
    from forearm.counting.answers.row_formats import to_markdown
    from forearm.outside.escapes import markdown as escape

    notes = "".join(f"\n{escape(sentence)}\n" for sentence in part.notes)
    return (f"**{escape(part.title)}**\n\n" if part.title else "") + to_markdown(part.rows) + notes


def _write(target: str, text: str, shared: Shared) -> None:
    with writing(target) as file:
        file.write(text)
    if target != STDIO:
        note(shared, f"written: {target}")


def _print(answer: "Answer", shared: Shared) -> None:
    for sentence in answer.sentences:
        print(sentence)
    for part in _for_reading(answer):
        print()
        rows = _without_empty_columns(part.rows)
        names = list(rows[0])
        table(
            shared,
            names,
            [tuple(row.values()) for row in rows],
            title=part.title,
            left=_words(rows),
            styles=_status_style if "status" in names else None,
        )
        for sentence in part.notes:
            print(sentence)


def _status_style(row: Sequence[Any]) -> str:
    """Colour of a published number by its status."""
    colours = {"exact": "green", "inconsistent in print": "yellow", "not reproduced": "red"}
    return next((colours[word] for word in row if word in colours), "")


def _without_empty_columns(rows: "Rows") -> "Rows":
    """Columns in which nothing but zeros and blanks stand say nothing to a reader."""
    kept = [name for name in rows[0] if any(row[name] not in (0, "", "0", None) for row in rows)]
    return [{name: row[name] for name in kept} for row in rows]


def _words(rows: "Rows") -> list[int]:
    """Columns that hold words: to the left."""
    names = list(rows[0])
    return [k for k, name in enumerate(names) if any(isinstance(row[name], str) for row in rows)]


# -- pictures --------------------------------------------------------------------------------------------


def _draw(picture: Picture, path: Path, shared: Shared) -> None:
    from forearm import plots

    note(shared, f"drawing {path}: what is drawn is counted first, which may take half a minute")
    plots.save(picture(), path)
    note(shared, f"drawn: {path}")
