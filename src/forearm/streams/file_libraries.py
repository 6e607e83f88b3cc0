"""Libraries that some kinds of files need, each an extra of ours."""

from typing import Any

from forearm.faults import ReadFault
from forearm.outside.libraries.optional_libraries import optional


def library(module: str, extra: str) -> Any:
    """An optional library, or a fault that says how to get it."""
    try:
        return optional(module)
    except ImportError:
        raise ReadFault(
            f"this kind of file needs {module.partition('.')[0]}; install it: pip install 'forearm[{extra}]'."
        ) from None
