"""Libraries that some kinds of files need, each an extra of ours."""

from importlib import import_module
from typing import Any

from forearm.faults import ReadFault


def library(module: str, extra: str) -> Any:
    """An optional library, or a fault that says how to get it."""
    try:
        return import_module(module)
    except ImportError:
        raise ReadFault(
            f"this kind of file needs {module.partition('.')[0]}; install it: pip install 'forearm[{extra}]'."
        ) from None
