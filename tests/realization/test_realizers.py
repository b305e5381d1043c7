"""A realizer that knows eight sentences by heart."""

import dataclasses

import jax
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.checkpoints import Bundle, save_bundle
from stepwise.data import Buckets, wordpiece
from stepwise.models import build_model, find_config
from stepwise.realization import (
  InputFormat,
  LearnedRealizer,
  Realizer,
  SearchConfig,
  TemplateRealizer,
  known_entries,
  load_realizer,
  open_realizer,
  realizer_task,
  save_realizer,
)
from stepwise.realization import _realizers as module
from stepwise.rotowire import oracle_plan, tokenize
from stepwise.training import InputConfig, train
from tests.realization.runs import (
  FORMAT,
  SENTENCES,
  TINY,
  make_run,
  report_game,
  write_examples,
)

STEPS = 150


@pytest.fixture(scope='module')
def learned(tmp_path_factory):
  """Trained through the loop of `stepwise train`."""
  folder = tmp_path_factory.mktemp('realizer')
  path = write_examples(folder / 'examples.jsonl')
  inputs = InputConfig(str(path), batch_size=8, buckets=Buckets((144,), (32,)))
  config = make_run(path, steps=STEPS, input=inputs)
  result = train(config, folder / 'run', task=realizer_task(config))
  params = jax.tree.map(np.asarray, result.params)
  model = find_config(TINY)
  bundle = Bundle(model, build_model(model), {'params': params}, wordpiece())
  search = SearchConfig(beam_size=2, max_tokens=32)
  return LearnedRealizer(bundle, FORMAT, search, batch_size=2)


@pytest.fixture(scope='module')
def game():
  return report_game()


@pytest.fixture(scope='module')
def plan(game):
  return known_entries(oracle_plan(game), game)


@pytest.fixture(scope='module')
def written(learned, game, plan):
  return learned.realize([game], [plan])[0]


def test_eight_sentences_are_learnt_by_heart(written):
  assert written == SENTENCES


def test_every_sentence_reads_the_one_before(learned, game, plan, monkeypatch):
  seen = []

  def encode(inputs, tokenizer):
    seen.extend(part.previous for part in inputs)
    return encode_inputs(inputs, tokenizer)

  encode_inputs = module.encode_inputs
  monkeypatch.setattr(module, 'encode_inputs', encode)
  [sentences] = learned.realize([game], [plan[:3]])
  before = [' '.join(tokenize(sentence)) for sentence in sentences[:-1]]
  assert seen == ['', *before]


def test_games_together_or_one_by_one(learned, game, plan, written):
  """Plans of different lengths, in batches that are not full."""
  plans = [plan[:3], plan[4:5], plan[:2]]
  together = learned.realize([game] * 3, plans)
  assert together[0] == written[:3]
  assert together == [learned.realize([game], [p])[0] for p in plans]


def test_no_numeral_that_was_not_read(learned, game, plan):
  """Free, the model writes the number it knows; confined, it cannot."""
  points = plan[1]
  other = tuple(r for r in points if r.value != '31')
  free = dataclasses.replace(learned, confine_numerals=False)
  [[text]] = learned.realize([game], [(other,)])
  assert '31' not in text
  [[said]] = free.realize([game], [(points,)])
  assert '31' in said


def test_a_plan_that_does_not_fit_is_an_error(learned, game, plan):
  long = (plan[0] * 12,)
  with pytest.raises(InputError) as error:
    learned.realize([game], [long])
  assert 'sentence 1 of the plan has 120 entries' in str(error.value)
  assert 'the realizer reads 512: break the sentence' in str(error.value)


def test_one_interface(learned):
  assert isinstance(learned, Realizer)
  assert isinstance(TemplateRealizer(), Realizer)


def test_bundles_remember_the_format(learned, tmp_path):
  config, params = learned.bundle.config, learned.bundle.variables['params']
  folder = tmp_path / 'bundle'
  for context in (False, True, False):
    save_realizer(folder, config, params, InputFormat(context))
    bundle, format = load_realizer(folder)
    assert format == InputFormat(context)
  table = bundle.variables['params']['embeddings']['token']['embedding']
  np.testing.assert_array_equal(
    table, params['embeddings']['token']['embedding']
  )
  assert open_realizer(folder).format == FORMAT
  (folder / 'realizer.json').write_text('{"contxt": true}')
  with pytest.raises(InputError, match=r'realizer\.json does not describe inp'):
    load_realizer(folder)
  (folder / 'realizer.json').unlink()
  assert load_realizer(folder)[1] == InputFormat()


def test_only_realizers_write(learned, tmp_path):
  from stepwise.checkpoints import initial_params

  selector = find_config('bertsum_tiny')
  save_bundle(tmp_path / 'selector', selector, initial_params(selector, 0))
  with pytest.raises(InputError, match='holds a BERTSum, which writes no text'):
    open_realizer(tmp_path / 'selector')
  config, params = learned.bundle.config, learned.bundle.variables['params']
  save_bundle(tmp_path / 'mute', config, params, tokenizer=None)
  with pytest.raises(InputError, match='has no tokenizer: it cannot write'):
    open_realizer(tmp_path / 'mute')
