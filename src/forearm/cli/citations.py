"""Citations: of forearm, of a formulation (its docstring has the paper), of an arm (its provenance)."""

import inspect
import re
from importlib import resources

import forearm
from forearm.cli.inputs import arm_of
from forearm.formulations import FORMULATIONS
from forearm.outside.escapes import bibtex

OURSELVES = f"The forearm authors, forearm {forearm.__version__}: the dynamics of robot arms, software."
OURS = "\n".join(
    (
        "@software{forearm,",
        "  title = {forearm: the dynamics of robot arms},",
        "  author = {{The forearm authors}},",
        f"  version = {{{forearm.__version__}}}",
        "}",
    )
)


def sources_of(name: str) -> list[tuple[str, str]]:
    """(subject, citation) of a formulation's stem, an arm, or 'forearm'."""
    if name == "forearm":
        return [("forearm", OURSELVES)]
    if name in FORMULATIONS:
        return [(name, paper_of(name))]
    arm = arm_of(name)
    told = [
        (f"{arm.name}, {what.replace('_', ' ')}", text) for what, text in arm.provenance if what != "title"
    ]
    return told or [(arm.name, "its file does not say where the numbers come from")]


def paper_of(stem: str) -> str:
    """The paragraph under "Paper" in a formulation's docstring, up to the remark on equation numbers."""
    text = inspect.cleandoc(FORMULATIONS[stem].module.__doc__ or "")
    found = re.search(r"^Paper\n((?:    .*\n)+)", text + "\n", re.MULTILINE)
    paragraph = " ".join(found[1].split()) if found else FORMULATIONS[stem].paper
    return re.split(
        r"(?<=[.)\"])\s+(?=Equation numbers|That section|The section|The method|\(W1\))", paragraph
    )[0]


def bibtex_of(name: str) -> str:
    """BibTeX entries of a formulation's stem, or of forearm; arms are told in sentences."""
    entries = _entries()
    if name in FORMULATIONS:
        return "\n\n".join(text for text in entries.values() if re.search(rf"\b{name}\b", _used_by(text)))
    if name == "forearm":
        return OURS
    sentences = "; ".join(text for _, text in sources_of(name))
    return bibtex(f"% {name}: {sentences}")


def _entries() -> dict[str, str]:
    """Key -> entry of the bibliography."""
    text = (resources.files("forearm") / "bibliography.bib").read_text(encoding="utf-8")
    return {entry[2]: entry[1] for entry in re.finditer(r"(@\w+\{(\w+),.*?\n\})", text, re.DOTALL)}


def _used_by(entry: str) -> str:
    found = re.search(r"keywords = \{([^}]*)\}", entry)
    return found[1] if found else ""
