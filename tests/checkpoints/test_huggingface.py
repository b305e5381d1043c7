"""Our encoder computes what the library of the weights computes."""

import json
import shutil

import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from stepwise._errors import InputError
from stepwise.checkpoints import load_huggingface
from stepwise.layers import TransformerEncoder
from tests.checkpoints.foreign import HUGGINGFACE
from tests.layers.parameters import run


@pytest.fixture
def bert(tmp_path):
  """A copy to spoil."""
  return shutil.copytree(HUGGINGFACE / 'bert', tmp_path / 'bert')


def change_config(folder, **values):
  path = folder / 'config.json'
  path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def change_weights(folder, change):
  path = folder / 'model.safetensors'
  weights = load_file(path)
  change(weights)
  save_file(weights, path)


@pytest.mark.parametrize('file', ['model.safetensors', 'pytorch_model.bin'])
@pytest.mark.parametrize('name', ['bert', 'roberta'])
def test_states_equal_those_of_transformers(name, file, tmp_path):
  folder = tmp_path / name
  folder.mkdir()
  for kept in ('config.json', file):
    shutil.copy(HUGGINGFACE / name / kept, folder)
  config, params = load_huggingface(folder)
  expected = np.load(HUGGINGFACE / f'{name}.npz')
  mask = expected['mask']
  states = run(
    TransformerEncoder(config),
    {'params': params},
    jnp.asarray(expected['tokens'], jnp.int32),
    jnp.asarray(mask),
    jnp.asarray(expected['types'], jnp.int32),
  )
  np.testing.assert_allclose(
    np.asarray(states)[mask], expected['states'][mask], atol=5e-6
  )


def test_configuration():
  bert, _ = load_huggingface(HUGGINGFACE / 'bert')
  roberta, _ = load_huggingface(HUGGINGFACE / 'roberta')
  assert (bert.positions, bert.token_types) == (13, 2)
  assert (bert.activation, bert.norm_epsilon) == ('gelu_exact', 1e-12)
  # Of 15 rows, two are reserved.
  assert (roberta.positions, roberta.token_types) == (13, 1)
  assert roberta.norm_epsilon == 1e-5


def test_norms_under_their_old_names(bert):
  def rename(weights):
    for name in list(weights):
      old = name.replace('LayerNorm.weight', 'LayerNorm.gamma')
      old = old.replace('LayerNorm.bias', 'LayerNorm.beta')
      weights[old] = weights.pop(name)

  expected = load_huggingface(bert)
  change_weights(bert, rename)
  np.testing.assert_array_equal(
    load_huggingface(bert).params['embeddings']['norm']['scale'],
    expected.params['embeddings']['norm']['scale'],
  )


def test_every_weight_that_does_not_fit_is_named(bert):
  layer = 'bert.encoder.layer'

  def spoil(weights):
    del weights[f'{layer}.1.attention.self.key.bias']
    del weights[f'{layer}.4.output.dense.weight']
    weights[f'{layer}.5.output.dense.bias'] = np.zeros(15, np.float32)
    weights['bert.embeddings.word_embeddings.weight'] = np.zeros(
      (7, 15), np.float32
    )

  change_weights(bert, spoil)
  with pytest.raises(InputError) as caught:
    load_huggingface(bert)
  assert str(caught.value) == (
    f'{bert}: weights do not fit: '
    '2 missing (encoder.layer.1.attention.self.key.bias [15], '
    'encoder.layer.4.output.dense.weight [15, 17]); '
    '1 unexpected (encoder.layer.5.output.dense.bias [15]); '
    '1 of another shape (embeddings.word_embeddings.weight is [7, 15] but '
    '[53, 15] is needed).'
  )


@pytest.mark.parametrize(
  ('values', 'message'),
  [
    ({'model_type': 't5'}, "model_type is 't5'; bert or roberta"),
    ({'hidden_act': 'relu'}, "hidden_act is 'relu'; known are"),
    ({'hidden_size': 'wide'}, "hidden_size='wide'; positive numbers"),
    ({'layer_norm_eps': None}, 'layer_norm_eps is None; a number is needed'),
    ({'num_attention_heads': 4}, 'not a multiple of heads 4'),
    ({'position_embedding_type': 'relative_key'}, 'only absolute is known'),
    ({'num_hidden_layers': 6}, r'missing \(encoder.layer.5.attention'),
    ({'num_hidden_layers': 4}, r'unexpected \(encoder.layer.4.attention'),
  ],
)
def test_wrong_configuration(bert, values, message):
  change_config(bert, **values)
  with pytest.raises(InputError, match=message):
    load_huggingface(bert)


def test_incomplete_configuration(bert):
  (bert / 'config.json').write_text('{"model_type": "bert", "vocab_size": 5}')
  with pytest.raises(InputError, match='lacks hidden_size, num_attention_he'):
    load_huggingface(bert)


@pytest.mark.parametrize('text', ['{"model_type": ', '[1]', '\xff'])
def test_unreadable_configuration(bert, text):
  (bert / 'config.json').write_text(text, encoding='latin-1')
  with pytest.raises(InputError, match=r'config.json (is not|holds a list)'):
    load_huggingface(bert)


def test_missing_files(bert, tmp_path):
  with pytest.raises(InputError, match='absent: no such folder'):
    load_huggingface(tmp_path / 'absent')
  (bert / 'model.safetensors').unlink()
  (bert / 'pytorch_model.bin').unlink()
  with pytest.raises(InputError, match=r'neither model.safetensors nor'):
    load_huggingface(bert)
  (bert / 'config.json').unlink()
  with pytest.raises(InputError, match=r'config.json: no such file'):
    load_huggingface(bert)


def test_truncated_weights(bert):
  path = bert / 'model.safetensors'
  path.write_bytes(path.read_bytes()[:-100])
  with pytest.raises(InputError, match='is damaged or not a safetensors file'):
    load_huggingface(bert)
