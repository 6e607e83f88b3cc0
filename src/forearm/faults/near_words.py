"""Words near to one that there is not, for messages."""

from collections.abc import Iterable

LONGEST_WORD, MOST_WORDS = 48, 1000
"""Letters and number of words that are compared: that takes time with the square of their length and worse."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """' (did you mean ..?)' where a known word is close or holds this one, or nothing."""
    import difflib

    words = [word for word in list(known)[:MOST_WORDS] if len(word) <= LONGEST_WORD]
    if len(name) > LONGEST_WORD:
        return ""
    close = difflib.get_close_matches(name, words, n=1, cutoff=0.6)
    if not close and len(name) > 2:
        close = sorted((word for word in words if name.lower() in word.lower()), key=len)
    return f" (did you mean {close[0]!r}?)" if close else ""
