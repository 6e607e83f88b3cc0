"""Execute the notebooks: from each .py with cells (`# %%`) the .ipynb beside it, outputs included.

    python examples/notebooks/make_notebooks.py [NAME ...]

Needs nbclient, nbformat and ipykernel (the extra `test-more`). A test executes them again and compares what they print.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
SOURCES = sorted(path for path in HERE.glob("*.py") if path.name != Path(__file__).name)


def cells(path):
    """(kind, text) of each cell."""
    parts = re.split(r"^# %%(.*)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    found = []
    for mark, body in zip(parts[::2], parts[1::2], strict=True):
        if "[markdown]" in mark:
            lines = [line.removeprefix("#").removeprefix(" ") for line in body.strip("\n").splitlines()]
            found.append(("markdown", "\n".join(lines).strip()))
        else:
            found.append(("code", body.strip("\n")))
    return found


def executed(path, folder):
    """The notebook of a source, run in a folder of its own; nothing in it tells of the machine or the hour."""
    import nbformat
    from nbclient import NotebookClient

    book = nbformat.v4.new_notebook()
    for k, (kind, text) in enumerate(cells(path)):
        cell = nbformat.v4.new_markdown_cell(text) if kind == "markdown" else nbformat.v4.new_code_cell(text)
        cell["id"] = f"cell-{k}"
        book.cells.append(cell)
    book.metadata["kernelspec"] = {"name": "python3", "language": "python", "display_name": "Python 3"}
    client = NotebookClient(
        book, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    done = client.execute()
    done.metadata.pop("language_info", None)
    for cell in done.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":  # warnings are about the machine, not about the subject
            cell.outputs = [x for x in cell.outputs if x.get("name") != "stderr"]
    return done


if __name__ == "__main__":
    import tempfile

    import nbformat

    wanted = sys.argv[1:]
    for source in SOURCES:
        if not wanted or source.stem in wanted:
            with tempfile.TemporaryDirectory() as place:
                nbformat.write(executed(source, place), source.with_suffix(".ipynb"))
            print("executed", source.stem)
