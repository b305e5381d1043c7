"""Bundles come back as they were, or not at all."""

import dataclasses
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from typer.testing import CliRunner

import stepwise
from stepwise._errors import InputError
from stepwise.checkpoints import _bundle as bundle_module
from stepwise.checkpoints import export, load_bundle, save_bundle
from stepwise.checkpoints._config_json import config_from_json, config_to_json
from stepwise.checkpoints._quantised import dequantise, quantise
from stepwise.cli.main import app
from stepwise.decoding import DecodeConfig
from stepwise.inference import PredictConfig
from stepwise.layers import HierarchicalConfig, TransformerConfig
from stepwise.models import (
  CONFIGS,
  BERTSum,
  BERTSumConfig,
  ETCSumConfig,
  HiBERTConfig,
  RealizerConfig,
  find_config,
)
from tests.checkpoints.foreign import flat, random_params
from tests.layers.parameters import run
from tests.models.documents import make_batch, random_record

BODY = TransformerConfig(
  vocab=97, embed=15, heads=3, mlp=17, layers=1, positions=61
)
CONFIG = BERTSumConfig(BODY, cls=2, sep=3)
# Large enough that some of its matrices are stored in eight bits.
WIDE = BERTSumConfig(
  dataclasses.replace(BODY, vocab=197, embed=66, mlp=71), cls=2, sep=3
)
BPE_BODY = dataclasses.replace(BODY, vocab=100)


@pytest.fixture
def folder(tmp_path):
  save_bundle(tmp_path / 'model', CONFIG, random_params(CONFIG), tokenizer=None)
  return tmp_path / 'model'


def change_json(folder, change):
  path = folder / 'config.json'
  values = json.loads(path.read_text())
  change(values)
  path.write_text(json.dumps(values))


def assert_equal(ours, theirs):
  ours, theirs = flat(ours), flat(theirs)
  assert ours.keys() == theirs.keys()
  for path in ours:
    np.testing.assert_array_equal(ours[path], theirs[path], err_msg=path)


def test_round_trip(folder):
  bundle = load_bundle(folder)
  params = random_params(CONFIG)
  assert bundle.config == CONFIG
  assert bundle.tokenizer is None
  assert_equal(bundle.variables['params'], params)
  batch = make_batch([random_record(np.random.default_rng(0), 3)])
  np.testing.assert_array_equal(
    run(bundle.model, bundle.variables, batch),
    run(BERTSum(CONFIG), {'params': params}, batch),
  )


def test_files(folder):
  assert {path.name for path in folder.iterdir()} == {
    *('config.json', 'model.safetensors', 'README.md')
  }
  assert [path.name for path in folder.parent.iterdir()] == ['model']
  # Whoever may read one of them may read all.
  assert len({path.stat().st_mode for path in folder.iterdir()}) == 1


def test_card(tmp_path):
  params = random_params(CONFIG)
  save_bundle(
    tmp_path / 'x', CONFIG, params, tokenizer=None, card='Trained on nothing.'
  )
  card = (tmp_path / 'x' / 'README.md').read_text()
  total = sum(leaf.size for leaf in jax.tree.leaves(params))
  assert card.startswith(f'# x\n\nBERTSum of stepwise, {total:,} parameters')
  assert card.endswith('Trained on nothing.\n')
  assert "stepwise.summarize('article.txt', model=bundle)" in card


def test_cards_of_planners_do_not_speak_of_summaries(tmp_path):
  config = find_config('hibert_rotowire_tiny')
  params = random_params(config)
  save_bundle(tmp_path / 'x', config, params, tokenizer=None)
  card = (tmp_path / 'x' / 'README.md').read_text()
  assert "stepwise.load('x')\n```" in card


def test_float16_halves_the_file_and_rounds(folder, tmp_path):
  params = random_params(CONFIG)
  half = tmp_path / 'half'
  save_bundle(half, CONFIG, params, tokenizer=None, dtype='float16')
  loaded = load_bundle(half).variables['params']
  for path, array in flat(params).items():
    np.testing.assert_array_equal(
      flat(loaded)[path], array.astype(np.float16).astype(np.float32)
    )
    assert flat(loaded)[path].dtype == np.float32
  sizes = [
    (each / 'model.safetensors').stat().st_size for each in (folder, half)
  ]
  assert sizes[1] < 0.6 * sizes[0]


def test_values_too_large_for_float16(tmp_path):
  params = random_params(CONFIG)
  params['scorer']['dense']['bias'][0] = 1e6
  with pytest.raises(InputError, match='scorer/dense/bias are too large for f'):
    save_bundle(tmp_path / 'x', CONFIG, params, tokenizer=None, dtype='float16')
  assert not list(tmp_path.iterdir())


def test_int8_rounds_no_further_than_half_a_step(folder, tmp_path):
  params = random_params(WIDE)
  eighth = tmp_path / 'eighth'
  save_bundle(eighth, WIDE, params, tokenizer=None, dtype='int8')
  save_bundle(tmp_path / 'whole', WIDE, params, tokenizer=None)
  stored = load_file(eighth / 'model.safetensors')
  loaded = flat(load_bundle(eighth).variables['params'])
  assert loaded.keys() == flat(params).keys()
  for path, array in flat(params).items():
    assert loaded[path].dtype == np.float32
    if array.size >= 4096:
      assert stored[path].dtype == np.int8
      scale = stored[f'{path}#scale']
      error = np.abs(loaded[path] - array)
      assert (error <= scale * 0.5001).all()
      # As many steps as there are: some value of each reaches the end.
      assert np.abs(stored[path]).max() == 127
      assert scale.size * 64 <= array.size
    else:
      rounded = array.astype(np.float16).astype(np.float32)
      np.testing.assert_array_equal(loaded[path], rounded)
  sizes = [
    (tmp_path / name / 'model.safetensors').stat().st_size
    for name in ('whole', 'eighth')
  ]
  assert sizes[1] < 0.32 * sizes[0]


def test_scales_are_of_rows_or_columns_whichever_lose_less():
  """Rows of different length want scales by row, columns by column."""
  values = np.random.default_rng(0).normal(size=(67, 71)).astype(np.float32)
  steep = np.geomspace(1, 1000, 67, dtype=np.float32)[:, None]
  weights = {'rows': values * steep, 'columns': (values * steep).T}
  stored = quantise(weights)
  assert stored['rows#scale'].shape == (67, 1)
  assert stored['columns#scale'].shape == (1, 67)
  heads = values[:64, :64].reshape(64, 4, 16) * np.geomspace(
    1, 1000, 64, dtype=np.float32
  ).reshape(1, 4, 16)
  assert quantise({'x': heads})['x#scale'].shape == (1, 4, 16)
  zeros = quantise({'x': np.zeros((64, 64), np.float32)})
  assert (dequantise('here', zeros)['x'] == 0).all()


def test_damaged_scales(tmp_path):
  save_bundle(
    tmp_path / 'x', WIDE, random_params(WIDE), tokenizer=None, dtype='int8'
  )
  path = tmp_path / 'x' / 'model.safetensors'
  stored = load_file(path)
  name = 'encoder/embeddings/token/embedding'
  wrong = {f'{name}#scale': np.ones((3, 1), np.float32)}
  save_file(stored | wrong, path)
  with pytest.raises(InputError, match=r'which scales of \[3, 1\] do not fit'):
    load_bundle(tmp_path / 'x')
  del stored[f'{name}#scale']
  save_file(stored, path)
  with pytest.raises(InputError, match='embedding#scale do not belong'):
    load_bundle(tmp_path / 'x')


DECODING = PredictConfig(
  DecodeConfig(3, min_units=2, beam_size=5, stop_unit=0, never=(1,)),
  top_k=2,
  trigram_blocking=True,
)


def test_how_to_choose_travels_along(folder):
  assert load_bundle(folder).decoding is None
  params = random_params(CONFIG)
  save_bundle(folder, CONFIG, params, tokenizer=None, decoding=DECODING)
  loaded = load_bundle(folder)
  assert loaded.decoding == DECODING
  assert loaded.name == 'model'
  change_json(folder, lambda v: v['decoding']['decode'].pop('beam_size'))
  decode = dataclasses.replace(DECODING.decode, beam_size=1)
  assert load_bundle(folder).decoding == dataclasses.replace(
    DECODING, decode=decode
  )


def test_bundles_of_the_first_format_load(folder):
  change_json(folder, lambda values: values.update(format=1))
  assert load_bundle(folder).config == CONFIG


@pytest.mark.parametrize(
  ('decoding', 'message'),
  [
    ([], 'decoding must be an object of'),
    ({'top': 1}, r"has unknown \['top'\]"),
    ({'top_k': 'a'}, "top_k is 'a'; int is needed"),
    ({'decode': {}}, 'max_units'),
    ({'decode': {'max_units': 0}}, 'max_units is 0 but must be at least 1'),
    ({'decode': {'max_units': 3, 'never': 1}}, 'a list of units is needed'),
  ],
)
def test_wrong_ways_to_choose(folder, decoding, message):
  change_json(folder, lambda values: values.update(decoding=decoding))
  with pytest.raises(InputError, match=message):
    load_bundle(folder)


def test_export_keeps_all_but_the_precision(folder, tmp_path):
  params = random_params(CONFIG)
  save_bundle(
    folder, CONFIG, params, tokenizer=None, decoding=DECODING, card='Of mine.'
  )
  export(folder, tmp_path / 'small', dtype='float16')
  small = load_bundle(tmp_path / 'small')
  assert (small.config, small.decoding) == (CONFIG, DECODING)
  card = (tmp_path / 'small' / 'README.md').read_text()
  assert card.count('Of mine.') == card.count('```python') == 1
  assert '(float16)' in card


def test_export_from_the_command_line(tmp_path):
  config = CONFIGS['bertsum_tiny']
  save_bundle(tmp_path / 'x', config, random_params(config))
  arguments = ['export', str(tmp_path / 'x'), str(tmp_path / 'y')]
  arguments += ['--dtype', 'int8', '--max-sentences', '2', '--trigram-blocking']
  done = CliRunner().invoke(app, arguments)
  assert done.stdout.startswith(f'Wrote {tmp_path / "y"}: int8, ')
  loaded = stepwise.load(tmp_path / 'y')
  assert loaded.decoding.top_k == 2
  assert loaded.decoding.trigram_blocking
  assert loaded.tokenizer.name == 'wordpiece'


def test_bundled_vocabulary(tmp_path):
  config = CONFIGS['bertsum_tiny']
  save_bundle(tmp_path / 'x', config, random_params(config))
  tokenizer = load_bundle(tmp_path / 'x').tokenizer
  assert tokenizer is not None
  assert (tokenizer.name, tokenizer.cls) == ('wordpiece', 101)


def test_vocabulary_files_travel_along(tmp_path):
  pieces = ['<s>', '<pad>', '</s>', '<unk>', 'a', 'b', 'ab']
  source = tmp_path / 'roberta'
  source.mkdir()
  vocabulary = {piece: i for i, piece in enumerate(pieces)}
  (source / 'vocab.json').write_text(json.dumps(vocabulary))
  (source / 'merges.txt').write_text('#version: 0.2\na b\n')
  config = BERTSumConfig(BPE_BODY, cls=0, sep=2)
  save_bundle(tmp_path / 'x', config, random_params(config), tokenizer=source)
  tokenizer = load_bundle(tmp_path / 'x').tokenizer
  assert tokenizer is not None
  assert tokenizer.encode_units(['abba']) == [[6, 5, 4]]


def test_a_vocabulary_larger_than_the_table(tmp_path):
  with pytest.raises(InputError, match='97 token rows, but wordpiece has 3052'):
    save_bundle(tmp_path / 'x', CONFIG, random_params(CONFIG))
  with pytest.raises(InputError, match=r'vocab.json: no such file'):
    save_bundle(
      tmp_path / 'x', CONFIG, random_params(CONFIG), tokenizer=tmp_path
    )


def test_an_older_bundle_is_replaced(folder):
  save_bundle(folder, CONFIG, random_params(CONFIG, 5), tokenizer=None)
  assert_equal(
    load_bundle(folder).variables['params'], random_params(CONFIG, 5)
  )
  assert [path.name for path in folder.parent.iterdir()] == ['model']


def test_a_failure_leaves_the_older_bundle(folder, monkeypatch):
  def fail(*_):
    raise OSError('disk full')

  monkeypatch.setattr(bundle_module, 'save_file', fail)
  with pytest.raises(OSError, match='disk full'):
    save_bundle(folder, CONFIG, random_params(CONFIG, 5), tokenizer=None)
  assert_equal(load_bundle(folder).variables['params'], random_params(CONFIG))
  assert [path.name for path in folder.parent.iterdir()] == ['model']


def test_other_folders_are_not_replaced(tmp_path):
  def save(folder):
    save_bundle(folder, CONFIG, random_params(CONFIG), tokenizer=None)

  (tmp_path / 'thesis').mkdir()
  (tmp_path / 'thesis' / 'chapter.tex').write_text('x')
  (tmp_path / 'file').write_text('x')
  with pytest.raises(InputError, match='thesis exists and is not a bundle'):
    save(tmp_path / 'thesis')
  with pytest.raises(InputError, match='file exists and is not a folder'):
    save(tmp_path / 'file')
  with pytest.raises(InputError, match=r'no such folder: .*absent'):
    save(tmp_path / 'absent' / 'x')


def test_params_of_another_configuration(tmp_path):
  params = random_params(CONFIG)
  del params['scorer']
  params['extra'] = np.zeros(3)
  with pytest.raises(
    InputError,
    match=r'params: weights do not fit: 2 missing \(scorer/dense/bias \[1\], '
    r'scorer/dense/kernel \[15, 1\]\); 1 unexpected \(extra \[3\]\)',
  ):
    save_bundle(tmp_path / 'x', CONFIG, params, tokenizer=None)
  assert not list(tmp_path.iterdir())


def test_weights_of_another_configuration(folder):
  weights = load_file(folder / 'model.safetensors')
  weights['scorer/dense/bias'] = np.zeros(2, np.float32)
  save_file(weights, folder / 'model.safetensors')
  with pytest.raises(InputError, match=r'bias is \[2\] but \[1\] is needed'):
    load_bundle(folder)


def test_damaged_files(folder):
  path = folder / 'model.safetensors'
  path.write_bytes(path.read_bytes()[:-10])
  with pytest.raises(InputError, match='damaged or not a safetensors file'):
    load_bundle(folder)
  path.unlink()
  with pytest.raises(InputError, match=r'model.safetensors: no such file'):
    load_bundle(folder)
  (folder / 'config.json').write_text('{')
  with pytest.raises(InputError, match=r'config.json is not readable JSON'):
    load_bundle(folder)
  (folder / 'config.json').unlink()
  with pytest.raises(InputError, match=r'is not the folder of a model'):
    load_bundle(folder)
  with pytest.raises(InputError, match='absent: no such folder'):
    load_bundle(folder / 'absent')


def set_field(value, *path):
  def change(values):
    for name in path[:-1]:
      values = values[name]
    values[path[-1]] = value

  return change


@pytest.mark.parametrize(
  ('change', 'message'),
  [
    (set_field(3, 'format'), 'has format 3, but this version .* format 2'),
    (set_field('1', 'format'), 'not the configuration of a stepwise bundle'),
    (set_field(1, 'more'), r"has \['format', 'model', 'more', 'tokenizer'\]"),
    (
      set_field('spm', 'tokenizer'),
      "tokenizer is 'spm'; wordpiece, reports or",
    ),
    (set_field([], 'model'), 'a configuration is an object of type, fields'),
    (set_field('int', 'model', 'type'), "is of type 'int', there are ETCSum"),
    (
      set_field(1, 'model', 'fields', 'encoder', 'depth'),
      r'BERTSumConfig.encoder: TransformerConfig lacks \[\] and has unknown '
      r"\['depth'\]",
    ),
    (
      set_field([], 'model', 'fields', 'encoder'),
      'encoder must be an object of the TransformerConfig',
    ),
    (
      set_field(True, 'model', 'fields', 'encoder', 'layers'),
      'TransformerConfig.layers is True; int is needed',
    ),
    (
      set_field('1', 'model', 'fields', 'encoder', 'dropout'),
      "TransformerConfig.dropout is '1'; float or int is needed",
    ),
    (
      set_field('float7', 'model', 'fields', 'encoder', 'dtype'),
      "TransformerConfig.dtype is 'float7'; no such dtype",
    ),
    (
      set_field(7, 'model', 'fields', 'encoder', 'heads'),
      'embed is 15, which is not a multiple of heads 7',
    ),
  ],
)
def test_wrong_configuration(folder, change, message):
  change_json(folder, change)
  with pytest.raises(InputError, match=message):
    load_bundle(folder)


def test_a_missing_field(folder):
  change_json(folder, lambda values: values['model']['fields'].pop('sep'))
  with pytest.raises(InputError, match=r"BERTSumConfig lacks \['sep'\] and"):
    load_bundle(folder)


def test_a_field_that_came_later_has_its_default(folder):
  change_json(
    folder, lambda values: values['model']['fields']['encoder'].pop('remat')
  )
  assert load_bundle(folder).config.encoder.remat is False


OTHERS = {
  'not_stepwise': ETCSumConfig(begin_unit=None),
  'bfloat16': RealizerConfig(
    **dataclasses.asdict(BODY) | {'dtype': jnp.bfloat16}
  ),
  'mean': HiBERTConfig(
    HierarchicalConfig(BODY, document_layers=1, pooling='mean'), first_token=0
  ),
}


@pytest.mark.parametrize('name', [*CONFIGS, *OTHERS])
def test_every_configuration_comes_back_from_json(name):
  config = (CONFIGS | OTHERS)[name]
  text = json.dumps(config_to_json(config))
  assert config_from_json('here', json.loads(text)) == config
