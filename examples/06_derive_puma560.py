"""The PUMA 560 in closed form, with its numbers and with every letter.

With numbers: the torques have a few hundred terms and compile to a kernel. With ten letters per link, lengths
and gravity: ten thousand terms, grouped into the 36 base parameters that torques can tell apart.
"""

import time

import numpy as np

import forearm as fa
from forearm.derivation import symbolic


def main() -> None:
    """Derive, group, compile, compare."""
    puma = fa.load("puma560").without_drives()
    started = time.perf_counter()
    equations = fa.derive(puma)
    print(f"with numbers: {equations.size} terms in {time.perf_counter() - started:.2f} s")
    print("tau6 =", str(equations).split("tau6 = ")[1].splitlines()[0])
    print("check:", equations.check)

    kernel = equations.compile("tau")
    q, qd, qdd = puma.random_state(1, (1000,))
    difference = np.max(np.abs(kernel(q, qd, qdd) - fa.inverse_dynamics(puma, q, qd, qdd)))
    print(
        f"compiled closed form: {kernel.counts}; largest difference to inverse_dynamics {difference:.1e} N m"
    )

    letters = symbolic(puma, style="full")
    started = time.perf_counter()
    full = fa.derive(letters)
    print(f"\nwith every letter: {full.size} terms in {time.perf_counter() - started:.2f} s")
    grouped = fa.derive(letters, group=True)
    print(f"over {len(grouped.groupings)} base parameters: {grouped.size} terms, the first of them")
    for grouping in grouped.groupings[:4]:
        print("  ", grouping)
    print("M66 =", grouped.M[5, 5])
    print("M45 =", grouped.M[3, 4])


if __name__ == "__main__":
    main()
