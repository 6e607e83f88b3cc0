# ruff: noqa: E501  (prose)
"""Write docs/equations.md: every numbered equation of the five papers, where it is here, and how it is checked.

    python docs/make_equations.py

The numbers are those of docs/equation_numbers.toml. Where an equation is, is looked up: a tag beside a line of a formulation, a comment
in a page that runs, the name of a test, or a mention on a paper's page. A test says when the page is due, and that nothing is missing.
"""

import re
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA, PAGE = ROOT / "docs" / "equation_numbers.toml", ROOT / "docs" / "equations.md"

STEMS = {
    "turney_mudge_lee_1980": ["lagrange", "newton_euler", "modified"],
    "newton_euler_notes": [""],
    "hollerbach_1980": ["uicker_kahn_1969", "waters_1979", "hollerbach_1980_4x4", "hollerbach_1980_3x3"],
    "giacaglia_kottke_2007": [""],
    "rr_notes": ["euler_lagrange_notes"],
}
"""Paper -> its formulations ('' and short names continue the paper's stem)."""
TESTS = {
    "turney_mudge_lee_1980": [],
    "newton_euler_notes": [],
    "hollerbach_1980": ["papers/test_hollerbach.py"],
    "giacaglia_kottke_2007": ["papers/test_giacaglia_kottke.py", "derivation/test_double_pendulum.py"],
    "rr_notes": ["papers/test_rr_notes.py", "derivation/test_rr_notes.py"],
}
"""Paper -> tests whose names have numbers of equations."""
SECTIONS = {
    "One body": "newton_euler_notes",
    "The notes": "newton_euler_notes",
    "Turney": "turney_mudge_lee_1980",
    "Hollerbach": "hollerbach_1980",
    "Giacaglia": "giacaglia_kottke_2007",
}
"""How a heading of docs/derivations.md begins -> the paper."""
KINDS = {
    "line": "a line that computes",
    "run": "a check on a page that runs",
    "test": "a test of its own",
    "page": "explained on the paper's page",
}


def numbered() -> dict[str, list[str]]:
    """Paper -> the numbers of its equations."""
    found = {}
    for paper, row in _data().items():
        if paper != "gaps":
            found[paper] = [
                f"{prefix}{k}"
                for prefix, first, last in map(_range, row["numbers"])
                for k in range(first, last + 1)
            ]
    return found


def places() -> dict[tuple[str, str], list[tuple[str, str]]]:
    """(paper, number) -> (kind, file:line) for every place."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for paper in STEMS:
        for stem in _stems(paper):
            _tags(paper, ROOT / "src" / "forearm" / "formulations" / f"{stem}.py", found)
            _mentions(paper, ROOT / "docs" / "papers" / f"{stem}.md", found)
        for name in TESTS[paper]:
            _names(paper, ROOT / "tests" / name, found)
    _comments(ROOT / "docs" / "equivalence.md", lambda heading: "turney_mudge_lee_1980", found)
    _comments(ROOT / "docs" / "rr_both_ways.md", lambda heading: "rr_notes", found)
    _comments(ROOT / "docs" / "derivations.md", _paper_of, found)
    return found


def page() -> str:
    """The page as text."""
    data, all_numbers, found = _data(), numbered(), places()
    total = sum(map(len, all_numbers.values()))
    checked = sum(
        any(kind != "page" for kind, _ in found[paper, k]) for paper, ks in all_numbers.items() for k in ks
    )
    lines = [
        "# Every equation, and where it is\n",
        "<!-- written by docs/make_equations.py; do not edit -->\n",
        f"{total} numbered equations of five papers; {'all' if checked == total else checked} of them are a line that computes, a check that runs or a test of their own. "
        "Formulations are in `src/forearm/formulations/`, pages in `docs/`, tests in `tests/`. "
        "Torques of every formulation are compared with each other and with the oracle in `tests/agreement/`. "
        "What is printed wrongly: [errata](errata.md).\n",
    ]
    for paper, ks in all_numbers.items():
        lines += [
            f"\n## {data[paper]['title']}\n",
            "| equation | where | how it is checked |",
            "|---|---|---|",
        ]
        for k in ks:
            here = found[paper, k]
            kinds = dict.fromkeys(kind for kind in KINDS if any(kind == other for other, _ in here))
            shown = list(
                dict.fromkeys(
                    place
                    for kind in kinds
                    for other, place in here
                    if other == kind and (kind != "page" or len(kinds) == 1)
                )
            )
            lines.append(
                f"| {_mark(k)} | {', '.join(f'`{place}`' for place in shown[:6])} | {', '.join(KINDS[kind] for kind in kinds if kind != 'page' or len(kinds) == 1)} |"
            )
        for k, why in data["gaps"].get(paper, {}).items():
            lines.append(f"\n{k}: {why}.")
    return "\n".join(lines) + "\n"


def _data():
    return tomllib.loads(DATA.read_text(encoding="utf-8"))


def _range(text):
    prefix, _, span = text.partition(":")
    first, last = map(int, span.split("-"))
    return prefix, first, last


def _mark(k):
    return k if "." in k else f"({k})"


def _stems(paper):
    return [
        name
        if ("_" in name and name[-1].isdigit()) or name.startswith(("hollerbach", "euler"))
        else "_".join(filter(None, (paper, name)))
        for name in STEMS[paper]
    ]


def _paper_of(heading):
    return next((paper for start, paper in SECTIONS.items() if heading.startswith(start)), None)


def _tags(paper, path, found):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        mark = re.search(r"#\s*((?:\([^()\s]+\)[,;]?\s*)+)$", line)
        for tag in re.findall(r"\(([^()\s]+)\)", mark[1]) if mark else ():
            found[paper, tag.partition("-")[0]].append(("line", f"{path.stem}.py:{number}"))


def _mentions(paper, path, found):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for k in _numbers(line):
            found[paper, k].append(("page", f"papers/{path.stem}.md:{number}"))


def _comments(path, paper_of, found):
    """Comments and docstrings of the Python blocks."""
    paper, inside = None, False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("## "):
            paper = paper_of(line[3:])
        inside = line.startswith("```python") or (inside and not line.startswith("```"))
        told = re.search(r'#.*|""".*', line)
        if inside and told and paper:
            for k in _numbers(told[0]):
                found[paper, k].append(("run", f"{path.name}:{number}"))


def _numbers(text):
    """Numbers in parentheses, '(1) to (4)' and '(10)-(13)' counted through."""
    one = r"\(([AB]?\d+(?:\.\d+)?)\)"
    found = re.findall(one, text)
    for first, last in re.findall(rf"{one}(?: to |-|–){one}", text):
        prefix = re.match(r"[AB]|\d+\.|", first)[0]
        a, b = (x.removeprefix(prefix) for x in (first, last))
        if a.isdigit() and b.isdigit():
            found += [f"{prefix}{k}" for k in range(int(a), int(b) + 1)]
    return found


def _names(paper, path, found):
    """Numbers in the names of tests: test_mass_matrix_3_to_7, test_equation_15_as_a_direct_sum."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        name = re.match(r"def (test_\w+)\(", line)
        if name:
            text = re.sub(r"_g\d+", "", name[1])
            spans = re.findall(r"_(\d+)_to_(\d+)", text)
            alone = re.findall(r"(?<=_)(\d+)(?=_|$)", text)
            for k in {*alone, *(str(k) for a, b in spans for k in range(int(a), int(b) + 1))}:
                found[paper, k].append(("test", f"{path.parent.name}/{path.name}:{number}"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
