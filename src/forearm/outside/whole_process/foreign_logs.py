"""Files that other libraries write unasked into the folder where somebody works: not written.

MuJoCo appends its warnings to MUJOCO_LOG.TXT there, which in a stranger's folder may be a link to any file.
"""

from collections.abc import Callable

from forearm.outside.whole_process.shared_changes import SharedChange


def _unheard() -> Callable[[], object]:
    import mujoco

    if mujoco.get_mju_user_warning() is not None:
        return lambda: None
    mujoco.set_mju_user_warning(lambda sentence: None)
    return lambda: mujoco.set_mju_user_warning(None)


NO_MUJOCO_LOG = SharedChange(_unheard)
"""Within this MuJoCo's warnings go to no file; whoever has a function for them hears them as always."""
