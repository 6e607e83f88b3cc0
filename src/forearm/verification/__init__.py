"""Is my dynamics right? `check` questions the numbers, `verify` proves the code, `compare` names differences."""

from forearm.verification.checking import check
from forearm.verification.comparing import compare
from forearm.verification.proving import verify

__all__ = ["check", "compare", "verify"]
