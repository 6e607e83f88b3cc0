"""A formulation with one line read as the paper prints it, to show that the misprint is real."""

import importlib
import sys
import types
from pathlib import Path


def as_printed(stem, *readings):
    """The module `stem` with pieces of its source (ours, printed) exchanged; ours must occur exactly once.

    The source is the formulation's own, so a misprint is tested against the very line that corrects it.
    """
    source = Path(importlib.import_module(f"forearm.formulations.{stem}").__file__).read_text(
        encoding="utf-8"
    )
    for ours, printed in readings:
        assert source.count(ours) == 1, f"{stem}.py has {source.count(ours)} times: {ours}"
        source = source.replace(ours, printed)
    module = types.ModuleType(f"{stem}_as_printed")
    module.__file__ = f"<{stem} as printed>"
    sys.modules[module.__name__] = module
    exec(compile(source, module.__file__, "exec"), module.__dict__)
    return module
