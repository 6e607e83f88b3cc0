"""Search the cheapest formulation and frames for every built-in arm; write the table that `compile` reads.

python benchmarks/search.py            # rewrites src/forearm/compiler/model/searched.json (minutes)
"""

import json
from dataclasses import asdict
from pathlib import Path

import forearm
from forearm.compiler.model.choice import search
from forearm.compiler.model.chosen_model import Choice
from forearm.readers import known_arms, load

TABLE = Path(__file__).parents[1] / "src" / "forearm" / "compiler" / "searched.json"
QUANTITIES = ("inverse_dynamics", "mass_matrix", "forward_dynamics", "bias_torque")


def row(name: str) -> tuple[str, dict[str, object]]:
    arm = load(name).without_drives()
    found: dict[str, object] = {"arm": name}
    for quantity in QUANTITIES:
        choice, graph = search(arm, quantity)
        changed = {k: v for k, v in asdict(choice).items() if v != getattr(Choice(), k)}
        found[quantity] = changed
        print(f"{name:16s} {quantity:18s} {graph.counts.operations:6d}  {changed}", flush=True)
    return arm.digest[:16], found


def main() -> None:
    arms = dict(row(name) for name in known_arms() if load(name).dynamics)
    TABLE.write_text(
        json.dumps(
            {"made_by": f"benchmarks/search.py, forearm {forearm.__version__}", "arms": arms}, indent=1
        )
        + "\n"
    )


if __name__ == "__main__":
    main()
