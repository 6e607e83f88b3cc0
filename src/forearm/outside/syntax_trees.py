"""Python's syntax tree of a text, also where several threads ask for one.

Threads of Python 3.11 share one number for how deep their trees are, and where one is stopped within its own another
ends in "AST constructor recursion depth mismatch" (python/cpython#106905). The text is as good as before: ask again.
"""

import ast

TRIES = 100


def syntax_tree(text: str, mode: str = "exec") -> ast.AST:
    """What `ast.parse` gives of a text."""
    for _ in range(TRIES):
        try:
            return ast.parse(text, mode=mode)
        except SystemError:
            continue
    return ast.parse(text, mode=mode)
