"""Every example in a docstring gives what it says."""

import doctest
import importlib
import pkgutil

import pytest

import stepwise

# These need libraries that only some installations have.
_OPTIONAL = ('stepwise.tasks', 'stepwise.t5x_adapter')
MODULES = [
  module.name
  for module in pkgutil.walk_packages(stepwise.__path__, 'stepwise.')
  if not module.name.startswith(_OPTIONAL)
]


@pytest.mark.parametrize('name', MODULES)
def test_docstring_examples(name):
  module = importlib.import_module(name)
  failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
  assert not failed


def test_there_are_examples():
  """A finder that finds nothing would pass every test above."""
  module = importlib.import_module('stepwise.layers._global_local')
  assert doctest.testmod(module).attempted
