"""Files that other libraries write unasked into the folder where somebody works: not written.

MuJoCo appends its warnings to MUJOCO_LOG.TXT there, which in a stranger's folder may be a link to any file.
"""

from typing import Any

from forearm.outside.libraries.optional_libraries import mujoco
from forearm.outside.whole_process.shared_changes import SharedChange


def _heard() -> Any:
    return mujoco().get_mju_user_warning()


def _unheard(before: Any) -> None:
    _hear((lambda sentence: None) if before is None else before)


def _hear(listener: Any) -> None:
    mujoco().set_mju_user_warning(listener)


NO_MUJOCO_LOG = SharedChange(_heard, _unheard, _hear)
"""Within this MuJoCo's warnings go to no file; whoever has a function for them hears them as always."""
