"""Exact operation counts before and after the passes, for every built-in arm: deterministic, so tests may hold them.

python benchmarks/counts.py            # rewrites benchmarks/counts.json
python benchmarks/counts.py --check    # says what changed; exit status 1 if anything grew
"""

import argparse
import json
import sys
from pathlib import Path

from forearm.compiler.model.choice import best_graph
from forearm.readers import known_arms, load

FILE = Path(__file__).parent / "counts.json"
QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_torque", "bias_torque")


def counted() -> dict[str, dict[str, dict[str, int]]]:
    found: dict[str, dict[str, dict[str, int]]] = {}
    for name in known_arms():
        arm = load(name).without_drives()
        if arm.dynamics:
            found[name] = {}
            for quantity in QUANTITIES:
                c = best_graph(arm, quantity)[0].counts
                found[name][quantity] = {
                    "mul": c.mul,
                    "add": c.add,
                    "div": c.div,
                    "sincos": c.sincos,
                    "operations": c.operations,
                }
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    new = counted()
    if not parser.parse_args().check:
        FILE.write_text(json.dumps(new, indent=1) + "\n")
        return 0
    old, grew = json.loads(FILE.read_text()), False
    for arm, quantities in new.items():
        for quantity, counts in quantities.items():
            before = old.get(arm, {}).get(quantity, {}).get("operations")
            if before != counts["operations"]:
                print(f"{arm} {quantity}: {before} -> {counts['operations']}")
                grew |= before is not None and counts["operations"] > before
    return int(grew)


if __name__ == "__main__":
    sys.exit(main())
