"""Notebooks in a fresh kernel. `python -m tests.notebooks.executing` writes the outputs of the examples anew."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import nbclient
import nbformat

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
CLEARED = "<span></span>"
SECONDS = 600  # for a cell: far more than one takes


def execute(notebook: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    """Run all cells in a kernel of their own, in a folder; outputs go into the notebook. Raises what a cell raises."""
    client = nbclient.NotebookClient(
        notebook, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    for cell in notebook.cells:
        if "outputs" in cell:  # a line of progress leaves an empty place, if it was there at all
            cell.outputs = [each for each in cell.outputs if each.get("data", {}).get("text/html") != CLEARED]
    return notebook


def cells(*sources: str) -> nbformat.NotebookNode:
    """A notebook of code cells."""
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])


def main() -> None:
    """Run the examples, and keep them with their outputs."""
    for path in sorted(EXAMPLES.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        with TemporaryDirectory() as folder:
            execute(notebook, Path(folder))
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)  # when it ran
        nbformat.write(notebook, path)


if __name__ == "__main__":
    main()
