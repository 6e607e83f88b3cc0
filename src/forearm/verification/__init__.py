"""Is my dynamics right? `check` questions the numbers, `verify` proves the code, `compare` names differences."""
