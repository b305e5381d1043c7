"""Every example in a docstring gives what it says."""

import doctest
import importlib
from pathlib import Path

import pytest

import stepwise

ROOT = Path(stepwise.__file__).parent
# These need libraries that only some installations have.
OPTIONAL = ('stepwise.tasks', 'stepwise.t5x_adapter')


def module_names() -> list[str]:
  """Names from files: importing packages to list them would load all."""
  names = (
    '.'.join(path.relative_to(ROOT.parent).with_suffix('').parts)
    for path in sorted(ROOT.rglob('*.py'))
  )
  return [
    name.removesuffix('.__init__')
    for name in names
    if not name.startswith(OPTIONAL)
  ]


@pytest.mark.parametrize('name', module_names())
def test_docstring_examples(name):
  module = importlib.import_module(name)
  failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
  assert not failed


def test_there_are_examples():
  """A finder that finds nothing would pass every test above."""
  module = importlib.import_module('stepwise.layers._global_local')
  assert doctest.testmod(module).attempted
