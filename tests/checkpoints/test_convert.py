"""`stepwise convert`, from foreign files to a model that can be trained."""

import json
import shutil

import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.checkpoints import convert, load_bundle
from stepwise.checkpoints._etc import _their_name, _their_shape
from stepwise.checkpoints._initial import config_shapes
from stepwise.cli.main import main
from stepwise.layers import TransformerConfig, TransformerEncoder
from stepwise.models import CONFIGS
from tests.checkpoints.foreign import (
  HUGGINGFACE,
  flat,
  save_tensorflow,
  write_bert,
)
from tests.layers.parameters import draw

# The sizes of the tiny configurations.
TINY = TransformerConfig(
  vocab=30522,
  embed=32,
  heads=4,
  mlp=64,
  layers=2,
  token_types=2,
  norm_epsilon=1e-6,
)


@pytest.fixture(scope='module')
def bert(tmp_path_factory):
  ids = np.zeros((1, 3), np.int32)
  params = draw(TransformerEncoder(TINY), ids, ids == 0)['params']
  return write_bert(tmp_path_factory.mktemp('source') / 'bert', TINY, params)


@pytest.fixture(scope='module')
def etc(tmp_path_factory):
  """A checkpoint of the encoder of etcsum_tiny, in which all is 3."""
  config = CONFIGS['etcsum_tiny']
  variables = {}
  for path, shape in config_shapes(config).items():
    if path.startswith('encoder/'):
      path = path.removeprefix('encoder/')
      name = f'etc/{_their_name(path, config.encoder)}'
      variables[name] = np.full(_their_shape(path, shape), 3, np.float32)
  return save_tensorflow(tmp_path_factory.mktemp('etc') / 'ckpt', variables)


@pytest.mark.parametrize('name', ['bertsum_tiny', 'etcsum_tiny'])
def test_a_folder_becomes_a_bundle(bert, name, tmp_path):
  convert(bert, tmp_path / 'a', name, seed=3)
  bundle = load_bundle(tmp_path / 'a')
  assert type(bundle.config) is type(CONFIGS[name])
  assert bundle.config.encoder.activation == 'gelu_exact'
  assert bundle.tokenizer is not None
  assert bundle.tokenizer.name == 'wordpiece'
  weights = flat(bundle.variables['params'])
  suffixes = ('feed_norm/scale', 'long_feed_forward_norm/scale')
  norms = [array for k, array in weights.items() if k.endswith(suffixes)]
  assert len(norms) == 2
  # Drawn around one, not one as in a fresh model.
  assert all(np.abs(norm - 1).max() > 0.1 for norm in norms)
  assert 0 < weights['scorer/dense/kernel'].std() < 0.05
  card = (tmp_path / 'a' / 'README.md').read_text()
  assert 'started from the checkpoint `bert`' in card
  assert 'seed 3' in card


def test_a_bare_encoder_on_the_way_changes_nothing(bert, tmp_path):
  convert(bert, tmp_path / 'bare', 'etc_tiny')
  convert(tmp_path / 'bare', tmp_path / 'late', 'etcsum_tiny')
  convert(bert, tmp_path / 'direct', 'etcsum_tiny')
  late, direct = (load_bundle(tmp_path / name) for name in ('late', 'direct'))
  assert late.config == direct.config
  assert late.tokenizer == direct.tokenizer
  expected = flat(direct.variables['params'])
  for path, array in flat(late.variables['params']).items():
    # Relative labels are drawn.
    if path.startswith('encoder/') and '_relative/' not in path:
      np.testing.assert_array_equal(array, expected[path])


def test_the_seed_draws_the_head(bert, tmp_path):
  kernels = []
  for name, seed in (('a', 3), ('b', 3), ('c', 4)):
    convert(bert, tmp_path / name, 'bertsum_tiny', seed=seed)
    weights = flat(load_bundle(tmp_path / name).variables['params'])
    kernels.append(weights['scorer/dense/kernel'])
  np.testing.assert_array_equal(kernels[0], kernels[1])
  assert not np.array_equal(kernels[0], kernels[2])


def test_a_tensorflow_checkpoint_becomes_an_etcsum(etc, tmp_path):
  convert(etc, tmp_path / 'a', 'etcsum_tiny', dtype='float16')
  bundle = load_bundle(tmp_path / 'a')
  assert bundle.config == CONFIGS['etcsum_tiny']
  for path, array in flat(bundle.variables['params']).items():
    if path.startswith('encoder/'):
      assert (array == 3).all(), path
  with pytest.raises(InputError, match='only ETCSum starts, not bertsum_tiny'):
    convert(etc, tmp_path / 'b', 'bertsum_tiny')


def test_sources_that_do_not_fit(bert, tmp_path):
  def fails(source, name, message):
    with pytest.raises(InputError, match=message):
      convert(source, tmp_path / 'out', name)
    assert not (tmp_path / 'out').exists()

  fails(bert, 'bertsum', "no configuration is named 'bertsum'")
  fails(tmp_path, 'bertsum_tiny', 'neither a Hugging Face folder')
  fails(bert, 'bertsum_mini', 'embed is 32 but 384 is needed; heads is 4 but')
  fails(bert, 'robertasum_base', 'begin with token 101, but the configuration')
  fails(HUGGINGFACE / 'bert', 'bertsum_tiny', r'vocab.txt: no such file')
  fails(HUGGINGFACE / 'roberta', 'hibert_mini', 'begin with token 0, but the')


def test_another_vocabulary(bert, tmp_path):
  cased = shutil.copytree(bert, tmp_path / 'cased')
  path = cased / 'vocab.txt'
  path.write_text(path.read_text().replace('\nthe\n', '\nThe\n'))
  with pytest.raises(InputError, match='not the vocabulary of uncased English'):
    convert(cased, tmp_path / 'out', 'bertsum_tiny')


def test_the_command(bert, tmp_path, monkeypatch, capsys):
  out = tmp_path / 'out'

  def run(*arguments):
    monkeypatch.setattr('sys.argv', ['stepwise', 'convert', *arguments])
    with pytest.raises(SystemExit) as caught:
      main()
    return caught.value.code, capsys.readouterr()

  code, shown = run(str(bert), str(out), '--config', 'bertsum_tiny')
  assert code == 0
  assert f'Wrote {out}: bertsum_tiny' in shown.out
  assert json.loads((out / 'config.json').read_text())['format'] == 2
  code, shown = run('absent', str(out), '--config', 'bertsum_tiny')
  assert code == 2
  assert shown.err.startswith('stepwise: absent is neither a Hugging Face')
