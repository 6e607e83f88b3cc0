"""Files that other libraries write unasked into the folder where somebody works: not written.

MuJoCo appends its warnings to MUJOCO_LOG.TXT there, which in a stranger's folder may be a link to any file.
"""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_mujoco_log() -> Iterator[None]:
    """Within this MuJoCo's warnings go to no file; whoever has a function for them hears them as always."""
    import mujoco

    heard = mujoco.get_mju_user_warning()
    if heard is None:
        mujoco.set_mju_user_warning(lambda sentence: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(heard)
