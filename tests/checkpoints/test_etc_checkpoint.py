"""A checkpoint under the reference's names computes what the reference did."""

import dataclasses
import json

import jax.numpy as jnp
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.checkpoints import load_etc
from stepwise.checkpoints._etc import _their_name
from stepwise.layers import ETCEncoder
from tests.checkpoints.foreign import flat, save_tensorflow
from tests.layers.golden import Fixture
from tests.layers.parameters import run

GOLDEN = 'etc_model_default_segments'


def reference_variables(fixture):
  """The weights of a fixture under the names the reference gave them."""
  names = json.loads(str(fixture.arrays['tf_names']))
  return {
    theirs.removesuffix(':0'): fixture.arrays[f'w/{ours}'].astype(np.float32)
    for ours, theirs in names.items()
  }


@pytest.fixture(scope='module')
def fixture():
  return Fixture(GOLDEN, jnp.float32)


@pytest.fixture(scope='module')
def checkpoint(fixture, tmp_path_factory):
  """What a training run leaves: heads, slots and the step too."""
  variables = reference_variables(fixture)
  extra = {f'{name}/adam_m': value for name, value in variables.items()}
  extra['global_step'] = np.int64(7)
  extra['cls/predictions/output_bias'] = np.zeros(50, np.float32)
  folder = tmp_path_factory.mktemp('etc')
  return save_tensorflow(folder / 'model.ckpt-7', variables | extra)


def test_reproduces_the_golden_outputs(fixture, checkpoint):
  config = fixture.config('dense')
  long, glob = run(
    ETCEncoder(config),
    {'params': load_etc(checkpoint, config)},
    *(
      jnp.asarray(fixture.arrays[f'in/{name}'])
      for name in ('token_ids', 'global_token_ids')
    ),
    fixture.structure(),
  )
  arrays = fixture.arrays
  np.testing.assert_allclose(long, arrays['out_float64/long'], atol=2e-5)
  np.testing.assert_allclose(glob, arrays['out_float64/global'], atol=2e-5)


@pytest.mark.parametrize('suffix', ['', '.index'])
def test_every_way_to_name_a_checkpoint(fixture, checkpoint, suffix):
  path = checkpoint.with_name(checkpoint.name + suffix)
  params = flat(load_etc(path, fixture.config('dense')))
  expected = flat(fixture.tree('w'))
  assert params.keys() == expected.keys()
  for name in params:
    np.testing.assert_array_equal(params[name], expected[name])


def test_a_folder_means_its_latest_checkpoint(fixture, tmp_path):
  variables = reference_variables(fixture)
  save_tensorflow(tmp_path / 'model.ckpt-9', variables)
  (tmp_path / 'checkpoint').write_text(
    'model_checkpoint_path: "model.ckpt-9"\n'
  )
  params = load_etc(tmp_path, fixture.config('dense'))
  assert flat(params).keys() == flat(fixture.tree('w')).keys()


def test_scanned_layers_are_stacked(fixture, checkpoint):
  config = fixture.config('dense')
  looped = flat(load_etc(checkpoint, config))
  scanned = dataclasses.replace(config, scan_layers=True)
  stacked = flat(load_etc(checkpoint, scanned))
  for path, array in stacked.items():
    if path.startswith('stack/'):
      rest = path.removeprefix('stack/layers/layer/')
      layers = [looped[f'stack/layer_{i}/{rest}'] for i in range(2)]
      np.testing.assert_array_equal(array, np.stack(layers))
    else:
      np.testing.assert_array_equal(array, looped[path])


@pytest.mark.parametrize(
  'name',
  [
    'etc_transformer_default',
    'etc_transformer_etcsum',
    'etc_transformer_separate_ff',
  ],
)
def test_names_under_every_way_of_sharing(name):
  """The name map against all names of the reference, of every fixture."""
  fixture = Fixture(name, jnp.float32)
  config = fixture.config('dense')
  ours = {
    _their_name(f'stack/{path}', config) for path in flat(fixture.tree('w'))
  }
  names = json.loads(str(fixture.arrays['tf_names'])).values()
  assert ours == {theirs.removesuffix(':0') for theirs in names}


def test_every_variable_that_does_not_fit_is_named(fixture, tmp_path):
  variables = reference_variables(fixture)
  scope = 'etc_document_bert/'
  del variables[f'{scope}long_emb_layer_norm/gamma']
  variables[f'{scope}position_table'] = np.zeros((3, 16), np.float32)
  variables[f'{scope}token_emb_lookup/embedding_table'] = np.zeros(
    (7, 16), np.float32
  )
  path = save_tensorflow(tmp_path / 'model.ckpt', variables)
  with pytest.raises(InputError) as caught:
    load_etc(path, fixture.config('dense'))
  assert str(caught.value) == (
    f'{path}: weights do not fit: 1 missing (long_emb_layer_norm/gamma [16]); '
    '1 unexpected (position_table [3, 16]); 1 of another shape '
    '(token_emb_lookup/embedding_table is [7, 16] but [50, 16] is needed).'
  )


def test_a_checkpoint_of_another_model(fixture, tmp_path):
  path = save_tensorflow(
    tmp_path / 'model.ckpt', {'a': np.zeros(3, np.float32)}
  )
  with pytest.raises(InputError, match='has 0 variables named token_emb_look'):
    load_etc(path, fixture.config('dense'))


def test_files_that_are_no_checkpoint(fixture, checkpoint, tmp_path):
  config = fixture.config('dense')
  with pytest.raises(InputError, match='absent: no TensorFlow checkpoint'):
    load_etc(tmp_path / 'absent', config)
  (tmp_path / 'broken.index').write_bytes(b'not an index')
  with pytest.raises(InputError, match='is not a readable TensorFlow check'):
    load_etc(tmp_path / 'broken', config)
  (tmp_path / 'checkpoint').write_text('model_checkpoint_path: "gone"\n')
  with pytest.raises(InputError, match='names a checkpoint it has not'):
    load_etc(tmp_path, config)


@pytest.mark.parametrize(
  ('option', 'value'), [('sharing', 'kv'), ('long_positions', 9)]
)
def test_options_no_checkpoint_has(fixture, checkpoint, option, value):
  config = dataclasses.replace(fixture.config('dense'), **{option: value})
  with pytest.raises(InputError, match=f'{option} is {value!r}, but check'):
    load_etc(checkpoint, config)
