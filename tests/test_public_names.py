"""The public names of every package are a file, so that a change is seen.

After a change that is meant: `python -m tests.test_public_names`.
"""

import importlib
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


if __name__ == '__main__':
  text = json.dumps(public_names(), indent=2) + '\n'
  PATH.write_text(text, encoding='utf-8', newline='\n')
