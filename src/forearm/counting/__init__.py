"""What formulations cost: exact operation counts, the published tables, schedules, customised costs."""

from forearm.counting.conventions import CONVENTIONS, Convention
from forearm.counting.polynomials import Polynomial, Polynomials, polynomial
from forearm.counting.tallies import Count, Tally, count

__all__ = ["CONVENTIONS", "Convention", "Count", "Polynomial", "Polynomials", "Tally", "count", "polynomial"]
