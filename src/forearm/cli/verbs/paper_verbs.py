"""Verbs about the papers: derive, cite; count has a file of its own."""

from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from forearm.cli.exit_codes import FOUND, OK
from forearm.cli.hyphens import STDIO
from forearm.cli.inputs import (
    arm_of,
    check_places,
    doubted,
    refuse_names_of_pages,
    refuse_what_is_read,
    writing,
    written,
)
from forearm.cli.measures import NumberIfAny
from forearm.cli.option_groups import AS_WRITTEN, Flag, Out, Reading, Source
from forearm.cli.output import PLAIN, Outputs, Shared, note, print_json, progress, say

if TYPE_CHECKING:
    from forearm.derivation import Equations, LagrangeSteps


def derive(
    arm: Source,
    /,
    *,
    formulation: str | None = None,
    symbolic: Flag = False,
    group: Flag = False,
    steps: Flag = False,
    form: Annotated[Literal["text", "latex", "document", "markdown"] | None, Parameter(name="--as")] = None,
    timeout: NumberIfAny = None,
    reading: Reading = AS_WRITTEN,
    out: Out = STDIO,
    shared: Shared = PLAIN,
) -> int:
    """Derive the equations of motion in closed form: M, C, g and the torques, checked against numbers.

    Exit code 1 if the numeric check fails.

    Parameters
    ----------
    arm
        Name or file of the arm.
    formulation
        A paper whose torques to take; energies and derivatives otherwise.
    symbolic
        Give the arm letters (m1, l1 …) instead of its numbers.
    group
        Group the parameters into base parameters.
    steps
        Show the way too: T, V, L and its derivatives for arms small enough, or what the paper holds for each link.
    form
        text, latex, document (a page that TeX compiles, with the arm's table and drawing) or markdown; by default
        as the file's name ends (.tex, .md), text otherwise.
    timeout
        Give up after so many seconds.
    out
        Where it goes; - is stdout.
    """
    from forearm.derivation import derive as derived
    from forearm.derivation import symbolic as lettered
    from forearm.faults import StateFault

    refuse_names_of_pages(out, "equations as text", ".txt, .md or .tex")
    check_places(out)
    refuse_what_is_read(out, arm)
    if group and formulation is not None:
        raise StateFault(
            "derive: --group makes base parameters, which no paper runs on; leave --formulation out."
        )
    if form is not None and shared.json and out == STDIO:
        raise StateFault(
            "derive: --as is for text, and --json prints data; give --out, or leave one of them out."
        )
    subject = arm_of(arm, reading=reading, shared=shared)
    subject = lettered(subject) if symbolic else subject
    with progress(shared, f"deriving {subject.name}") as tell:
        found = derived(
            subject,
            formulation,
            group=group,
            timeout=timeout,
            progress=lambda stage, done, of: tell(done, of, stage),
        )
    good = found.check is None or bool(found.check.passed)
    for remark in found.notes:
        note(shared, remark)
    shown = found.lagrange_steps() if steps and formulation is None else found
    texts = {
        "text": found.recursion_text if steps and formulation else shown.to_text,
        "latex": shown.to_latex,
        "document": lambda: shown.to_latex(document=True),
        "markdown": shown.to_markdown,
    }
    by_name = {".tex": "document", ".md": "markdown"}
    with Outputs() as outputs:
        where = {}
        with outputs.one():
            if not shared.json or out != STDIO:
                text = texts[form or by_name.get(PurePath(out).suffix.lower(), "text")]() + "\n"
                with writing(out) as file:
                    file.write(text)
                where = written(out)
        with outputs.one():
            if shared.json:
                print_json(_as_data(found, good, shown, steps) | doubted(subject, found.notes) | where)
    return OK if good else FOUND


def _as_data(
    found: "Equations", good: bool, shown: "Equations | LagrangeSteps", steps: bool
) -> dict[str, Any]:
    """Equations, and the steps that were shown, for --json."""
    import numpy as np

    entries = {what: [[str(x) for x in row] for row in getattr(found, what)] for what in ("M", "C")}
    vectors = {what: [str(x) for x in getattr(found, what)] for what in ("g", "tau")}
    about = {
        "arm": found.arm.name,
        "terms": found.size,
        "seconds": found.seconds,
        "passed": good,
        "parameters": found.parameters,
        "notes": found.notes,
    }
    if found.groupings:
        about["groupings"] = {grouping.name: str(grouping.meaning) for grouping in found.groupings}
    way: dict[str, Any] = {}
    if shown is found and steps:
        way = {
            "steps": {k: [np.vectorize(str)(v).tolist() for v in values] for k, values in found.steps.items()}
        }
    elif shown is not found:
        energies = {what: str(getattr(shown, what)) for what in ("T", "V", "L")}
        rows = {what: [str(x) for x in getattr(shown, what)] for what in ("dL_dqd", "rates", "dL_dq")}
        way = {"steps": energies | rows}
    return about | entries | vectors | way


def cite(
    *what: Source,
    bibtex: Flag = False,
    shared: Shared = PLAIN,
) -> None:
    """Cite what was used: forearm itself, formulations by stem, arms by name or file.

    Parameters
    ----------
    what
        Stems of formulations and names of arms; forearm alone otherwise.
    bibtex
        Print BibTeX entries instead of sentences.
    """
    from forearm.cli.citations import bibtex_of, sources_of

    rows = [source for name in (what or ("forearm",)) for source in sources_of(name)]
    if shared.json:
        if bibtex:
            print_json(
                [{"subject": name, "bibtex": bibtex_of(name)} for name in dict.fromkeys(what or ("forearm",))]
            )
            return
        print_json([{"subject": subject, "source": text} for subject, text in rows])
    elif bibtex:
        print("\n\n".join(dict.fromkeys(bibtex_of(name) for name in (what or ("forearm",)))))
    else:
        for subject, text in rows:
            say(f"{subject}: {text}")
