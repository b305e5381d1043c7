"""Runs the notebooks and keeps what they print: `make notebooks`."""

import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent / 'notebooks'


def main() -> None:
  for path in sorted(FOLDER.glob('*.ipynb')):
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
      resources = {'metadata': {'path': folder}}
      client = NotebookClient(
        notebook, timeout=900, resources=resources, record_timing=False
      )
      client.execute()
    for number, cell in enumerate(
      (cell for cell in notebook.cells if cell.cell_type == 'code'), 1
    ):
      cell.execution_count = number
      # What libraries complain of is of this machine.
      cell.outputs = [o for o in cell.outputs if o.get('name') != 'stderr']
    notebook.metadata = {
      'kernelspec': notebook.metadata.kernelspec,
      'language_info': {'name': 'python'},
    }
    nbformat.write(notebook, path)
    print(path.name)


if __name__ == '__main__':
  main()
