"""The public names of every package are a file, so that a change is seen.

After a change that is meant: `python -m tests.test_public_names`.
"""

import importlib
import inspect
import json
import pkgutil
from pathlib import Path

import stepwise

PATH = Path(__file__).parent / 'public_names.json'
# t5x is not on the package index; verbs are the names of the command line.
SKIPPED = ('stepwise.t5x_adapter', 'stepwise.cli')


def packages():
  """Modules whose whole path is public."""
  for module in pkgutil.walk_packages(stepwise.__path__, 'stepwise.'):
    private = any(part.startswith('_') for part in module.name.split('.'))
    if not private and not module.name.startswith(SKIPPED):
      yield module.name


def public_names():
  found = {'stepwise': sorted(stepwise.__all__)}
  for name in packages():
    module = importlib.import_module(name)
    if hasattr(module, '__all__'):
      found[name] = sorted(module.__all__)
  return found


def test_public_names_are_those_of_the_file():
  listed = json.loads(PATH.read_text(encoding='utf-8'))
  assert public_names() == listed, 'run python -m tests.test_public_names'


def test_every_public_name_is_there():
  for package, names in public_names().items():
    module = importlib.import_module(package)
    for name in names:
      assert hasattr(module, name), f'{package}.{name}'
    assert len(names) == len(set(names))


def test_every_function_and_class_says_what_it_is():
  """The reference of the docs is made of these."""
  silent = [
    f'{package}.{name}'
    for package, names in public_names().items()
    for name in names
    for thing in [getattr(importlib.import_module(package), name)]
    if inspect.isfunction(thing) or inspect.isclass(thing)
    if not thing.__doc__ or thing.__doc__.startswith(f'{name}(')
  ]
  assert silent == []


if __name__ == '__main__':
  text = json.dumps(public_names(), indent=2) + '\n'
  PATH.write_text(text, encoding='utf-8', newline='\n')
