"""The equations of the RR arm, both ways.

The lecture notes derive a planar arm of two links twice, by Euler-Lagrange and by Newton-Euler. Here both
derivations run on symbols, and their results are shown to be the same formula. A page of LaTeX and a report
in Markdown land in the folder given on the command line (default: out).
"""

import sys
from pathlib import Path

import forearm as fa
from forearm.derivation import prove_equal, symbolic


def main() -> None:
    """Derive, compare, write."""
    rr = symbolic(fa.load("rr"))
    lagrange = fa.derive(rr, "euler_lagrange_notes")
    newton = fa.derive(rr, "newton_euler_notes")

    print(newton)
    print("\nlink by link:")
    for name in ("w", "a_c", "f", "tau"):
        for i, vector in enumerate(newton.steps[name], 1):
            print(f"  {name}{i} = ({', '.join(map(str, vector))})")

    print("\nM and C by Euler-Lagrange:")
    for i in range(2):
        print("  M:", " | ".join(map(str, lagrange.M[i])), "   C:", " | ".join(map(str, lagrange.C[i])))

    print()
    print(prove_equal(rr))

    out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
    out.mkdir(exist_ok=True)
    (out / "rr.tex").write_text(newton.to_latex(document=True), encoding="utf-8")
    (out / "rr.md").write_text(newton.to_markdown(), encoding="utf-8")
    print(f"\nwritten: {out / 'rr.tex'}, {out / 'rr.md'}")


if __name__ == "__main__":
    main()
