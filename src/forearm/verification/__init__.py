"""Is my dynamics right? Three questions, one room each.

proof/       verify: is the code right? Formulations against each other, an oracle that shares no code, laws
numbers/     check: are the numbers of this arm plausible?
difference/  compare: how do two descriptions differ, and why?
"""

from forearm.verification.difference.comparison import compare
from forearm.verification.numbers.plausibility import check
from forearm.verification.proof.examination import verify

__all__ = ["check", "compare", "verify"]
