"""The papers' counting conventions as data: what is charged, what is free, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from forearm.counting.meter.line_tags import MATRIX, SCALING, SUM
from forearm.faults import choice

EVERYTHING = frozenset({MATRIX, SCALING, SUM, "other"})
NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Convention:
    """What an operation costs. Additions and subtractions are one kind; a negation is free and counted apart."""

    name: str
    """Short name, for tables."""
    why: str
    """The convention in words, with its source."""
    entries: str = "dense"
    """'dense': every entry of A_i, p*_i, the axis in link i is some number; 'structural': zeros and ones are free."""
    fill: str = "charged"
    """Zeros and ones that pad a larger matrix (4x4 forms): 'charged' or 'free'."""
    z: str = "dense"
    """The joint axis z_{i-1} in its own frame: 'dense', or 'sparse' (0, 0, 1), which makes Q multiplications free."""
    inertia: str = "full"
    """'full' tensors, or 'diagonal' ones whose zeros are free."""
    gravity: str = "dense"
    """'dense' (three components), 'vertical' (one, the zeros free), or 'none' (zero, free)."""
    constants: str = "charged"
    """Operations on constants of the links alone: 'charged', or 'free' (done once, beforehand)."""
    free_at_base: frozenset[str] = EVERYTHING
    """Where zeros and ones written in the formulation are free while walking outward: the first link's savings."""
    free_at_tip: frozenset[str] = EVERYTHING
    """The same for all other places: the last link's savings."""
    accumulate: tuple[str, ...] = ()
    """Equations in which a written sum of m terms is m additions, zero terms included, as an accumulator that
    starts at zero makes it; ('*',) for all."""
    needed_only: bool = False
    """Whether operations that no result needs are left out."""

    def __post_init__(self) -> None:
        for field, allowed in _CHOICES.items():
            choice(getattr(self, field), allowed, f"Convention {self.name!r}: {field}")

    def but(self, name: str, why: str, **changes: Any) -> Convention:
        """The same convention with a few things different."""
        return replace(self, name=name, why=why, **changes)

    def accumulates(self, tag: str) -> bool:
        """Whether written sums of this equation are charged one addition for every term."""
        return "*" in self.accumulate or tag in self.accumulate


_CHOICES = {
    "entries": ("dense", "structural"),
    "fill": ("charged", "free"),
    "z": ("dense", "sparse"),
    "inertia": ("full", "diagonal"),
    "gravity": ("dense", "vertical", "none"),
    "constants": ("charged", "free"),
}

AS_SET_FORTH = Convention(
    "as set forth",
    "Hollerbach 1980, p. 731: operations as the equations have them, no sparseness of matrices; the entries of "
    "A, A', A'' are given; zeros at the base and beyond the tip are left out.",
)
WITHOUT_GRAVITY = AS_SET_FORTH.but(
    "as set forth, base at rest",
    "as set forth, and the base does not accelerate: p''_0 = 0 is left out (gravity is not mentioned).",
    gravity="none",
)
NOTHING_SKIPPED = AS_SET_FORTH.but(
    "nothing skipped",
    "every operation that the formulation writes, zeros at the base and beyond the tip included.",
    free_at_base=NOTHING,
    free_at_tip=NOTHING,
)
STRUCTURAL = Convention(
    "structural zeros and ones free",
    "products with zeros and ones that the arm or the formulation fixes are free, and so is work on constants alone.",
    entries="structural",
    fill="free",
    z="sparse",
    constants="free",
)
TURNEY = Convention(
    "Turney, Mudge, Lee",
    "dense rotations and 4x4 forms, sparse z (Q multiplications free), work on link constants free, "
    "the base may move (no first-link savings), nothing beyond the tip.",
    z="sparse",
    constants="free",
    free_at_base=NOTHING,
)
TURNEY_DIAGONAL = TURNEY.but(
    "Turney, Mudge, Lee, diagonal inertia",
    TURNEY.why[:-1] + ", inertia diagonal in link axes.",
    inertia="diagonal",
)

HOLLERBACH_LEDGER = AS_SET_FORTH.but(
    "Hollerbach's ledger",
    "as set forth; at link 1 only products of matrices with W_0 = 1, W'_0 = W''_0 = 0 are left out, not scalings and "
    "sums; in (9) and (10) a sum of m terms is m additions (6 matrix additions for each link instead of 4).",
    free_at_base=frozenset({MATRIX}),
    accumulate=("9", "10"),
)
SUMS_OF_PRODUCTS = WITHOUT_GRAVITY.but(
    "sums of p'', r'', N from zero",
    "as set forth, base at rest; the sums for p'' (NE3), r'' (NE4) and N (NE6) are m additions for m terms, zero terms "
    "included; all other sums m - 1. The same structure and ends as the multiplications. Weak "
    "evidence, found by search: of the 128 choices of sums to charge so, 3 fit (the others have (NE1) or (NE7) for "
    "(NE3)).",
    accumulate=("NE3", "NE4", "NE6"),
)
TURNEY_VERTICAL = TURNEY.but(
    "Turney, Mudge, Lee, vertical gravity", TURNEY.why[:-1] + ", gravity along z_0.", gravity="vertical"
)
TURNEY_NO_ENDS = TURNEY.but(
    "Turney, Mudge, Lee, no end savings",
    TURNEY.why.replace("nothing beyond the tip", "and something may act on the hand (no last-link savings)")[
        :-1
    ]
    + "; where vectors are added up, a sum of m terms is m additions.",
    free_at_tip=NOTHING,
    accumulate=("add_n",),
)
TURNEY_DIAGONAL_NO_ENDS = TURNEY_DIAGONAL.but(
    "Turney, Mudge, Lee, diagonal inertia, no end savings",
    TURNEY_NO_ENDS.why[:-1] + "; inertia diagonal.",
    free_at_tip=NOTHING,
    accumulate=("add_n",),
)

CONVENTIONS = {
    c.name: c
    for c in (
        AS_SET_FORTH,
        WITHOUT_GRAVITY,
        NOTHING_SKIPPED,
        STRUCTURAL,
        HOLLERBACH_LEDGER,
        SUMS_OF_PRODUCTS,
        TURNEY,
        TURNEY_VERTICAL,
        TURNEY_DIAGONAL,
        TURNEY_NO_ENDS,
        TURNEY_DIAGONAL_NO_ENDS,
    )
}
"""The named conventions."""
