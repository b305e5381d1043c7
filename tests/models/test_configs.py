"""Names, exact parameter counts, twins."""

import subprocess
import sys

import jax
import pytest
from flax import linen as nn
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.cli.main import app
from stepwise.layers import DEFAULT_RULES
from stepwise.models import (
  CONFIGS,
  count_params,
  find_config,
)
from tests.models.documents import make_batch
from tests.models.tiny_models import CONFIGS as TINY
from tests.models.tiny_models import KINDS, RECORDS

PUBLISHED = {
  'etcsum_base': 165_825_793,
  'hibert_cnndm': 133_784_833,
  'hibert_rotowire': 91_448_065,
  'realizer': 152_491_008,
}


@pytest.fixture(scope='module')
def counts():
  """Of all configurations, as the command line lists them."""
  shown = CliRunner().invoke(app, ['params'])
  lines = (line.rsplit(maxsplit=1) for line in shown.stdout.splitlines())
  return {name.strip(): int(count.replace(',', '')) for name, count in lines}


def test_the_command_line_lists_all(counts):
  """So every configuration builds."""
  assert list(counts) == list(CONFIGS)


@pytest.mark.parametrize('name', PUBLISHED)
def test_parameters_are_those_of_the_paper(name, counts):
  assert counts[name] == PUBLISHED[name]


def test_realizers_share_and_tie_their_weights(counts):
  """Tokens, positions, a norm; layers with one cross attention each."""
  sizes = ('', '_mini', '_small', '_tiny')
  for name in (f'realizer{size}' for size in sizes):
    config = find_config(name)
    h, square = config.embed, config.embed**2 + config.embed
    feed = 2 * h * config.mlp + config.mlp + h
    layer = 8 * square + feed + 3 * 2 * h
    rows = config.vocab + config.positions
    assert counts[name] == rows * h + 2 * h + config.layers * layer


def test_the_command_line_counts_one(counts):
  shown = CliRunner().invoke(app, ['params', 'hibert_tiny'])
  assert shown.stdout == f'{counts["hibert_tiny"]}\n'
  assert count_params('hibert_tiny') == counts['hibert_tiny']


def test_an_unknown_configuration():
  with pytest.raises(InputError, match="named 'etcsum', there are etcsum_base"):
    find_config('etcsum')
  done = subprocess.run(
    [sys.executable, '-m', 'stepwise.cli.main', 'params', 'etcsum'],
    capture_output=True,
    text=True,
  )
  assert done.returncode == 2
  assert done.stderr.startswith("stepwise: no configuration is named 'etcsum'")


@pytest.mark.parametrize('kind', KINDS)
def test_a_twin_is_the_same_body(kind):
  """BERTSum and ETCSum lose no parameter, HiBERT what reads the summary."""
  config = TINY[kind]
  other = config.twin()
  assert config.stepwise
  assert not other.stepwise
  paths, other_paths = (_paths(c.build()) for c in (config, other))
  lost = {path for path in paths if path not in other_paths}
  assert set(other_paths.items()) <= set(paths.items())
  assert all('cross' in p or 'summary_position' in p for p in lost), lost
  assert bool(lost) == (kind == 'hibert')


def _paths(model):
  variables = jax.eval_shape(model.init, jax.random.key(0), make_batch(RECORDS))
  flat = jax.tree_util.tree_flatten_with_path(variables)[0]
  return {jax.tree_util.keystr(path): leaf.shape for path, leaf in flat}


def test_the_realizer_has_no_twin():
  with pytest.raises(InputError, match='RealizerConfig has no'):
    find_config('realizer').twin()


@pytest.mark.parametrize('name', CONFIGS)
def test_every_parameter_names_its_axes(name):
  """So that rules can shard any model; a name without a rule is an error."""
  config = find_config(name)
  shapes = jax.eval_shape(
    config.build().init, jax.random.key(0), *config.smallest_inputs()
  )
  boxed = jax.tree.leaves(
    shapes['params'], is_leaf=lambda x: isinstance(x, nn.Partitioned)
  )
  known = {axis for axis, _ in DEFAULT_RULES}
  for leaf in boxed:
    assert isinstance(leaf, nn.Partitioned)
    assert len(leaf.names) == leaf.value.ndim
    assert {*leaf.names} <= known
