"""Pages and their code: where they are, and what stands in them."""

import importlib.util
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def script(name):
    """A script of docs/ as a module."""
    sys.path.insert(0, str(DOCS))
    try:
        spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(DOCS))
    return module


def snippets(text):
    """Python blocks of a page that are meant to run: not the excerpts of sources."""
    whole = re.sub(r"<!-- lines \([^\n]*-->\n+```python\n.*?```", "", text, flags=re.DOTALL)
    return re.findall(r"^```python\n(.*?)^```", whole, re.DOTALL | re.MULTILINE)
