"""A formulation with some of its lines read as printed: the misprint is put in place of the correction."""

import sys
from types import ModuleType

from forearm.formulations import FORMULATIONS


def reading(stem, *changes):
    """The formulation's module, each (ours, printed) text replaced; every text of ours must be there."""
    path = FORMULATIONS[stem].module.__file__
    with open(path, encoding="utf-8") as file:
        source = file.read()
    for ours, printed in changes:
        assert ours in source, f"{stem} has no line {ours!r}"
        source = source.replace(ours, printed)
    module = ModuleType(f"{stem} as printed")
    sys.modules.pop(module.__name__, None)
    exec(compile(source, f"{path} as printed", "exec"), module.__dict__)
    return module
