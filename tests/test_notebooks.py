"""Notebooks run from the first cell to the last."""

import contextlib
import json

import pytest

from docs.blocks import ROOT, Block, run_python

NOTEBOOKS = sorted((ROOT / 'docs' / 'notebooks').glob('*.ipynb'))
QUICK = ('tables',)  # They load no model.


@pytest.mark.parametrize(
  'path',
  [
    pytest.param(
      path, id=path.stem, marks=[] if path.stem in QUICK else pytest.mark.slow
    )
    for path in NOTEBOOKS
  ],
)
def test_notebook_runs(path, tmp_path):
  import matplotlib

  matplotlib.use('agg')
  cells = json.loads(path.read_text(encoding='utf-8'))['cells']
  blocks = [
    Block('python', ''.join(cell['source']), (number, number), frozenset())
    for number, cell in enumerate(cells)
    if cell['cell_type'] == 'code'
  ]
  with contextlib.chdir(tmp_path):
    run_python(blocks, path)


def test_notebooks_are_small_and_were_run():
  assert len(NOTEBOOKS) == 4
  for path in NOTEBOOKS:
    assert path.stat().st_size < 200_000, path.name
    for cell in json.loads(path.read_text(encoding='utf-8'))['cells']:
      if cell['cell_type'] == 'code':
        assert cell['execution_count'], f'{path.name}: make notebooks'
