"""Fill the parts of README.md that are worked out: the table of papers, and the summary of benchmarks.

    python docs/make_readme.py

A part stands between `<!-- name: written by docs/make_readme.py -->` and `<!-- end -->`; a test says when it is due.
"""

import json
import re
from pathlib import Path

from forearm.formulations import FORMULATIONS

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PART = re.compile(r"(<!-- (\w+): written by docs/make_readme.py -->\n).*?(<!-- end -->)", re.DOTALL)
WORDS = {
    "joint_torques": "torques",
    "mass_matrix": "M",
    "christoffel": "Christoffel",
    "coriolis_matrix": "C",
    "gravity_torque": "g",
    "reactions": "reactions",
    "joint_accelerations": "accelerations",
}


def papers() -> str:
    """Paper -> file."""
    lines = ["| paper | file | gives | joints | grows with |", "| --- | --- | --- | --- | --- |"]
    for row in FORMULATIONS.values():
        gives = ", ".join(WORDS[name] for name in row.gives)
        file = f"[{row.stem}.py](src/forearm/formulations/{row.stem}.py)"
        page = f"[{row.paper}](docs/papers/{row.stem}.md)"
        order = re.sub(r"\^(\d)", lambda m: "²³⁴"[int(m[1]) - 2], row.order)
        lines.append(f"| {page} | {file} | {gives} | {row.joints} | {order} |")
    return "\n".join(lines) + "\n"


def benchmarks() -> str:
    """How many times faster than each peer, and rates on the GPU, from the committed JSON."""
    lines = []
    for path in sorted((ROOT / "benchmarks" / "results").glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        if "rows" in data:
            lines += _gpu(data, path) if "device" in data.get("about", {}) else _cpu(data, path)
    return "\n".join(lines) + "\n"


def _cpu(data: dict, path: Path) -> list[str]:
    rows = [row for row in data["rows"] if row.get("peers") and "forearm_ns" in row]
    if not rows:
        return []
    lines = [
        f"One thread, float64, batches, ns a state ([{path.name}](benchmarks/results/{path.name})):",
        "",
        "| arm | quantity | forearm, ns | faster than Pinocchio | than generated C | than that C, vectorised by gcc |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        cells = [row["arm"], row["quantity"].replace("_", " "), f"{row['forearm_ns']:.0f}"]
        for word in ("pinocchio", "generated C", "vectorised by gcc"):
            ratios = [p["ratio"] for p in row["peers"] if word in p["peer"]]
            cells.append(f"{min(ratios):.1f} times" if ratios else "")
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def _gpu(data: dict, path: Path) -> list[str]:
    best: dict[tuple[str, str], dict] = {}
    for row in data["rows"]:
        if row.get("quantity") == "inverse_dynamics" and "G_per_s" in row:
            key = (row["arm"], row["dtype"])
            best[key] = max(best.get(key, row), row, key=lambda r: r["G_per_s"])
    device = data["about"]["device"]
    lines = [
        f"Inverse dynamics on one {device}, arrays on the GPU ([{path.name}](benchmarks/results/{path.name})); a copy "
        "writes as many numbers as it reads, torques a third of that, and writes cost more: hence over 100 %.",
        "",
        "| arm | precision | billion states a second | of the copy bandwidth |",
        "| --- | --- | --- | --- |",
    ]
    for (arm, dtype), row in best.items():
        lines.append(f"| {arm} | {dtype} | {row['G_per_s']:.1f} | {100 * row['share_of_copy']:.0f} % |")
    return [*lines, ""]


PARTS = {"papers": papers, "benchmarks": benchmarks}


def filled(text: str) -> str:
    """The text with every part made anew."""
    return PART.sub(lambda found: f"{found[1]}\n{PARTS[found[2]]()}\n{found[3]}", text)


if __name__ == "__main__":
    README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")
