"""Who may import whom, and what an import costs."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import stepwise

ROOT = Path(stepwise.__file__).parent

# Private helpers of the whole package; they import nothing but each other.
SHARED = {
  '_errors',
  '_extras',
  '_files',
  '_parallel',
  '_rouge',
  '_runtime',
  '_tpu_compiler',
  '_typing',
}
# The arrows of CONTRIBUTING.md: a package, and the packages it may import.
ARROWS: dict[str, set[str]] = {
  # `stepwise.load` and `summarize`, imported when they are first asked for.
  '': {'summarization', 'tables'},
  'layers': set(),
  'decoding': set(),
  'documents': set(),
  'data': {'documents'},
  'pages': set(),
  'evaluation': {'pages'},
  'ranking': set(),
  'models': {'layers', 'decoding'},
  'tables': {'data', 'documents', 'pages'},
  'rotowire': {'tables', 'data'},
  # From records to chosen units, for training, bulk use and summaries.
  'inference': {'layers', 'decoding', 'models', 'data', 'documents'},
  # JAX in `learned` alone; the rules do without.
  'extraction': {'tables', 'rotowire', 'data', 'evaluation'},
  # A bundle says how its model chooses.
  'checkpoints': {'layers', 'decoding', 'models', 'data', 'inference'},
  'training': {
    *('layers', 'decoding', 'models', 'data', 'evaluation', 'inference'),
    *('documents', 'pages'),
  },
  'pretraining': {'models', 'data', 'training'},
  'summarization': {
    *('models', 'decoding', 'checkpoints', 'data', 'documents', 'inference'),
    *('pages', 'ranking'),
  },
  'planning': {
    *('models', 'decoding', 'inference', 'checkpoints', 'data', 'tables'),
    *('rotowire', 'pages'),
  },
  'realization': {
    *('layers', 'models', 'checkpoints', 'training', 'data', 'tables'),
    *('rotowire', 'extraction', 'evaluation', 'pages'),
  },
  # What people ask, done as the command line does it.
  'serve': {
    *('documents', 'pages', 'planning', 'realization', 'rotowire'),
    *('summarization', 'tables'),
  },
  # `rotowire_realize` has the examples of the realizer.
  'tasks': {
    *('data', 'documents', 'evaluation', 'tables', 'rotowire'),
    *('extraction', 'realization'),
  },
  'beam': {
    *('data', 'documents', 'evaluation', 'summarization', 'planning'),
    *('rotowire', 'tables'),
  },
  't5x_adapter': {'layers', 'decoding', 'models', 'inference', 'tasks'},
  'cli': {
    *('layers', 'decoding', 'models', 'checkpoints', 'training'),
    *('data', 'evaluation', 'tasks', 'rotowire', 'summarization'),
    *('extraction', 'inference', 'planning', 'realization', 'pages'),
    *('tables', 'documents', 'ranking', 'serve', 'beam', 'pretraining'),
  },
}
# Where a library may be imported; others are free.
_NUMERIC = {
  *('layers', 'decoding', 'models', 'inference', 'checkpoints', 'training'),
  *('summarization', 'extraction', 'planning', 'realization', 'pretraining'),
}
CONFINED: dict[str, set[str]] = {
  'tensorflow': {'tasks', 'checkpoints'},
  'seqio': {'tasks', 't5x_adapter'},
  't5x': {'t5x_adapter'},
  'jax': {*_NUMERIC, 't5x_adapter', 'cli', '_typing', '_runtime'},
  'flax': {*_NUMERIC, 't5x_adapter', 'cli'},
  'typer': {'cli'},
  'starlette': {'serve'},
  'uvicorn': {'serve'},
  # The command line names the type of its options.
  'apache_beam': {'beam', 'cli'},
}
# Nothing of ours imports these.
LEAVES = {'benchmarks', 'tests', 'examples'}


def owner(path: Path, root: Path) -> str:
  """The package of a file: `layers` of `layers/_etc.py`, '' of `__init__`."""
  first = path.relative_to(root).parts[0]
  return '' if first == '__init__.py' else first.removesuffix('.py')


def imported_names(tree: ast.AST) -> Iterator[str]:
  """Dotted names; `from a.b import c` gives `a.b.c`."""
  for node in ast.walk(tree):
    if isinstance(node, ast.Import):
      yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
      module = '.' * node.level + (node.module or '')
      yield from (f'{module}.{alias.name}' for alias in node.names)


def violation(importer: str, name: str) -> str | None:
  """Why a package may not import a name, or None if it may."""
  top, *rest = name.split('.')
  if not top:
    return 'relative imports hide the arrows'
  if top in LEAVES:
    return f'nothing imports {top}'
  if top != 'stepwise':
    allowed = CONFINED.get(top)
    if allowed is None or importer in allowed:
      return None
    return f'only {sorted(allowed)} import {top}'
  return _own_violation(importer, *(rest or ['']))


def _own_violation(importer: str, target: str, *inner: str) -> str | None:
  if target in SHARED and importer:
    return None
  if not target or target == importer or target not in ARROWS:
    return None
  if target not in ARROWS.get(importer, set()):
    return f'no arrow from {importer or "stepwise"} to {target}'
  private = [part for part in inner if part.startswith('_')]
  if private:
    return f'{private[0]} is private to {target}'
  return None


def violations(root: Path) -> list[str]:
  """All forbidden imports below a copy of the package."""
  found = []
  for path in sorted(root.rglob('*.py')):
    importer = owner(path, root)
    for name in imported_names(ast.parse(path.read_text())):
      reason = violation(importer, name)
      if reason:
        found.append(f'{path.relative_to(root)} imports {name}: {reason}')
  return found


def test_imports_follow_the_arrows():
  assert violations(ROOT) == []


def test_every_package_has_arrows():
  owners = {owner(path, ROOT) for path in ROOT.rglob('*.py')}
  assert owners <= set(ARROWS) | SHARED


@pytest.mark.parametrize(
  ('file', 'line', 'reason'),
  [
    ('layers/_x.py', 'import stepwise.models', 'no arrow from layers'),
    ('layers/_x.py', 'from stepwise import models', 'no arrow from layers'),
    ('data/_x.py', 'from stepwise.layers import attend', 'no arrow from data'),
    ('models/x.py', 'from stepwise.layers._etc import E', '_etc is private'),
    ('models/x.py', 'from stepwise.layers import _etc', '_etc is private'),
    ('models/x.py', 'from ..layers import E', 'relative imports'),
    ('models/x.py', 'from stepwise.cli import main', 'no arrow from models'),
    ('_errors.py', 'import stepwise.data', 'no arrow from _errors'),
    ('__init__.py', 'from stepwise.data import x', 'no arrow from stepwise'),
    ('cli/x.py', 'import benchmarks.attention', 'nothing imports benchmarks'),
    ('cli/x.py', 'from tests.layers import x', 'nothing imports tests'),
    ('data/_x.py', 'def f():\n  import tensorflow.io', 'import tensorflow'),
    ('models/x.py', 'import seqio', 'import seqio'),
    ('tasks/x.py', 'import t5x', "only ['t5x_adapter'] import t5x"),
    ('data/_x.py', 'import jax.numpy as jnp', 'import jax'),
  ],
)
def test_forbidden_imports_are_found(file, line, reason, tmp_path):
  path = tmp_path / file
  path.parent.mkdir(exist_ok=True)
  path.write_text(line)
  (found,) = violations(tmp_path)
  assert found.startswith(file)
  assert reason in found


@pytest.mark.parametrize(
  ('file', 'line'),
  [
    ('layers/_x.py', 'from stepwise.layers._etc import ETCConfig'),
    ('models/x.py', 'from stepwise.layers import ETCConfig'),
    ('data/_x.py', 'from stepwise._rouge._lcs import lcs'),
    ('cli/x.py', 'from stepwise import __version__'),
    ('cli/x.py', 'import stepwise'),
    ('tasks/x.py', 'import seqio, tensorflow'),
  ],
)
def test_allowed_imports_are_not_found(file, line, tmp_path):
  path = tmp_path / file
  path.parent.mkdir(exist_ok=True)
  path.write_text(line)
  assert violations(tmp_path) == []


def loaded_after(statement: str) -> set[str]:
  """Top-level packages in a clean process, those of Python included."""
  names = "{name.partition('.')[0] for name in sys.modules}"
  done = subprocess.run(
    [sys.executable, '-c', f'{statement}\nimport sys; print(*{names})'],
    capture_output=True,
    text=True,
    check=True,
  )
  return set(done.stdout.split())


def test_layers_load_jax_and_flax_only():
  peers = loaded_after('import jax, flax.linen, jaxtyping')
  assert loaded_after('import stepwise.layers') - peers == {'stepwise'}


def test_the_package_itself_loads_nothing():
  libraries = loaded_after('import stepwise') - loaded_after('')
  assert libraries - sys.stdlib_module_names == {'stepwise'}


@pytest.mark.parametrize(
  'package',
  [
    *('documents', 'data', 'evaluation', 'tables', 'rotowire'),
    *('extraction', 'realization'),
  ],
)
def test_pure_packages_load_no_accelerator_library(package):
  loaded = loaded_after(f'import stepwise.{package}')
  assert not loaded & {'jax', 'flax', 'tensorflow', 'seqio', 'matplotlib'}
