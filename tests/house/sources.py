"""The sources as tests of the house see them: files, modules, who imports whom."""

import ast
from pathlib import Path

import forearm

HOME = Path(forearm.__file__).parent
FILES = sorted(p for p in HOME.rglob("*.py") if p != HOME / "__init__.py")


def component(path):
    """The module of the first level that a file belongs to."""
    return path.relative_to(HOME).parts[0].removesuffix(".py")


def module_of(path):
    """The dotted name of a file; a package for its __init__."""
    parts = path.relative_to(HOME.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _for_checkers(tree):
    """Nodes under `if TYPE_CHECKING`: never executed."""
    return {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }


def imports(path, for_checkers=True):
    """(dotted module, whether at the top of the file) of every import of a file, inside functions too."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top = set(map(id, tree.body))
    unseen = set() if for_checkers else _for_checkers(tree)
    for node in ast.walk(tree):
        if id(node) in unseen:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}:{node.lineno}: say the whole module name"
            named = [f"{node.module}.{alias.name}" for alias in node.names]
            modules = {name for name in named if name in MODULES or node.module == "forearm"}
            yield from ((name, id(node) in top) for name in sorted(modules))
            if len(modules) < len(named):
                yield node.module, id(node) in top


MODULES = {module_of(path) for path in FILES}


def links():
    """Module -> the modules of forearm that it imports, inside functions too; not those for type checkers alone."""
    return {
        module_of(path): {name for name, _ in imports(path, for_checkers=False) if name in MODULES}
        for path in FILES
    }


def circles(graph):
    """Sets of modules that reach each other, by Tarjan's method; and any that import themselves."""
    index, low, stack, found = {}, {}, [], []

    def visit(module):
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in graph[module]:
            if other not in index:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == index[module]:
            circle = set(stack[stack.index(module) :])
            del stack[stack.index(module) :]
            if len(circle) > 1 or module in graph[module]:
                found.append(circle)

    for module in graph:
        if module not in index:
            visit(module)
    return found
