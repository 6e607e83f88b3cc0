"""Verbs about the papers: count, derive, cite."""

from typing import Annotated, Any, Literal

from cyclopts import Parameter

from forearm.cli.inputs import STDIO, arm_of, writing
from forearm.cli.output import PLAIN, Shared, note, print_json, progress, table
from forearm.cli.running import FOUND, OK


def formulation_of(stem: str, quantity: str | None = None) -> Any:
    """The row of the registry, or a fault that lists the stems."""
    from forearm.faults import StateFault
    from forearm.formulations import FORMULATIONS
    from forearm.readers.toml_text import did_you_mean

    found = FORMULATIONS.get(stem)
    if found is None:
        raise StateFault(
            f"there is no formulation {stem!r}{did_you_mean(stem, tuple(FORMULATIONS))}; give one of "
            f"{', '.join(FORMULATIONS)}."
        )
    if quantity is not None and quantity not in found.gives:
        raise StateFault(
            f"{stem} gives {', '.join(found.gives)}, not {quantity}; choose another formulation."
        )
    return found


def count(
    formulation: str | None = None,
    /,
    *,
    n: int = 6,
    arm: str | None = None,
    quantity: str = "joint_torques",
    published: Annotated[bool, Parameter(negative=())] = False,
    form: Annotated[Literal["table", "csv", "markdown", "latex"], Parameter(name="--as")] = "table",
    shared: Shared = PLAIN,
) -> None:
    """Count operations exactly, by running a formulation on scalars that count.

    Without a formulation: every one of them, at n joints.

    Parameters
    ----------
    formulation
        A paper's stem, such as luh_walker_paul_1980.
    n
        Number of joints of the generic arm (6).
    arm
        Count on this arm instead, its zeros and ones free.
    quantity
        joint_torques (unless told otherwise), mass_matrix, …
    published
        The printed tables beside our counts, with the verdict on each number.
    form
        How to print it.
    """
    rows = _published_rows(formulation) if published else _count_rows(formulation, n, arm, quantity)
    if shared.json:
        print_json(rows)
    elif form != "table":
        from forearm.counting import written

        print(written(rows, form), end="")
    else:
        header = tuple(rows[0])
        table(shared, header, [tuple(row.values()) for row in rows], left=(0, 1) if published else (0,))


def _count_rows(stem: str | None, n: int, arm: str | None, quantity: str) -> list[dict[str, Any]]:
    from forearm.counting import count as counted

    subject = arm_of(arm) if arm is not None else None
    if stem is not None:
        formulation_of(stem, quantity)
        return counted(stem, n, arm=subject, quantity=quantity).rows()
    from forearm.formulations import FORMULATIONS

    rows = []
    for row in FORMULATIONS.values():
        if quantity in row.gives and (subject is None or row.accepts(subject)):
            found = counted(row.stem, n, arm=subject, quantity=quantity)
            total = {"multiplications": found.multiplications, "additions": found.additions}
            rows.append({"formulation": row.stem, **total, "order": row.order, "published": row.published})
    return rows


def _published_rows(paper: str | None) -> list[dict[str, Any]]:
    from forearm.counting import published as judged

    return [
        {key: row[key] for key in ("table", "row", "operation", "published", "ours", "status", "residual")}
        for found in judged(paper)
        for row in found.rows()
    ]


def derive(
    arm: str,
    /,
    *,
    formulation: str | None = None,
    symbolic: Annotated[bool, Parameter(negative=())] = False,
    group: Annotated[bool, Parameter(negative=())] = False,
    form: Annotated[Literal["text", "latex", "document", "markdown"], Parameter(name="--as")] = "text",
    timeout: float | None = None,
    out: Annotated[str, Parameter(name=["--out", "-o"])] = STDIO,
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
    form
        text, latex, document (a page that TeX compiles) or markdown.
    timeout
        Give up after so many seconds.
    out
        Where it goes; - is stdout.
    """
    from forearm.derivation import derive as derived
    from forearm.derivation import symbolic as lettered

    subject = arm_of(arm)
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
    if shared.json:
        entries = {what: [[str(x) for x in row] for row in getattr(found, what)] for what in ("M", "C")}
        vectors = {what: [str(x) for x in getattr(found, what)] for what in ("g", "tau")}
        about = {"arm": subject.name, "terms": found.size, "seconds": found.seconds, "passed": good}
        print_json(about | entries | vectors | {"parameters": found.parameters, "notes": found.notes})
        return OK if good else FOUND
    texts = {
        "text": lambda: str(found),
        "latex": found.to_latex,
        "document": lambda: found.to_latex(document=True),
        "markdown": found.to_markdown,
    }
    with writing(out) as file:
        file.write(texts[form]() + "\n")
    return OK if good else FOUND


def cite(
    *what: str,
    bibtex: Annotated[bool, Parameter(negative=())] = False,
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
        print_json([{"subject": subject, "source": text} for subject, text in rows])
    elif bibtex:
        print("\n\n".join(dict.fromkeys(bibtex_of(name) for name in (what or ("forearm",)))))
    else:
        for subject, text in rows:
            print(f"{subject}: {text}")
