"""Several Python threads at once."""

import threading


def at_once(function, callers):
    """Run a function in so many threads at the same time; their exceptions come back to the caller."""
    failed = []

    def caller():
        try:
            function()
        except BaseException as error:
            failed.append(error)

    crowd = [threading.Thread(target=caller) for _ in range(callers)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    if failed:
        raise failed[0]
