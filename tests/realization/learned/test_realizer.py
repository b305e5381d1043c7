"""A realizer that knows eight sentences by heart."""

import dataclasses

import jax
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.checkpoints import Bundle, export, initial_params, save_bundle
from stepwise.data import Buckets, report_words, wordpiece
from stepwise.extraction import oracle_plan, stated_relations, tokenize
from stepwise.models import find_config
from stepwise.realization import (
  InputFormat,
  Realizer,
  TemplateRealizer,
  check_text,
  known_entries,
)
from stepwise.realization.learned import (
  LearnedRealizer,
  SearchConfig,
  load_realizer,
  open_realizer,
  packaged_realizer,
  save_realizer,
)
from stepwise.realization.learned import _realizer as module
from stepwise.realization.training import realizer_task
from stepwise.rotowire import game_table
from stepwise.training import InputConfig, train
from tests.realization.runs import (
  FORMAT,
  SENTENCES,
  TINY,
  make_run,
  report_game,
  write_examples,
)

SEARCH = SearchConfig(beam_size=2, max_tokens=24)


def make_realizer(params, **options):
  model = find_config(TINY)
  bundle = Bundle(model, model.build(), {'params': params}, wordpiece())
  return LearnedRealizer(bundle, FORMAT, SEARCH, batch_size=2, **options)


@pytest.fixture(scope='module')
def fresh():
  """Random weights: whatever it writes, it writes in the right way."""
  return make_realizer(initial_params(find_config(TINY), 0))


@pytest.fixture(scope='module')
def game():
  return report_game()


@pytest.fixture(scope='module')
def plan(game):
  return known_entries(oracle_plan(game), game)


@pytest.mark.slow
def test_eight_sentences_are_learnt_by_heart(game, plan, tmp_path):
  """Through the loop of `stepwise train`, and generated with feedback."""
  path = write_examples(tmp_path / 'examples.jsonl')
  inputs = InputConfig(str(path), batch_size=8, buckets=Buckets((144,), (32,)))
  config = make_run(path, steps=150, input=inputs)
  result = train(config, tmp_path / 'run', task=realizer_task(config))
  realizer = make_realizer(jax.tree.map(np.asarray, result.params))
  assert realizer.realize([game], [plan]) == [SENTENCES]
  free = dataclasses.replace(realizer, confine_numerals=False)
  assert free.realize([game], [plan]) == [SENTENCES]


def test_every_sentence_reads_the_one_before(fresh, game, plan, monkeypatch):
  seen = []

  def encode(inputs, tokenizer, **options):
    seen.extend(part.previous for part in inputs)
    return encode_inputs(inputs, tokenizer, **options)

  encode_inputs = module.encode_inputs
  monkeypatch.setattr(module, 'encode_inputs', encode)
  [sentences] = fresh.realize([game], [plan[:3]])
  before = [' '.join(tokenize(sentence)) for sentence in sentences[:-1]]
  assert all(before)
  assert seen == ['', *before]


def test_games_together_or_one_by_one(fresh, game, plan):
  """Plans of different lengths, in batches that are not full."""
  plans = [plan[:3], plan[4:5], plan[:2]]
  together = fresh.realize([game] * 3, plans)
  assert [len(sentences) for sentences in together] == [3, 1, 2]
  assert together == [fresh.realize([game], [p])[0] for p in plans]


def test_no_numeral_that_was_not_read(fresh, game, plan):
  """Weights that would write nothing but `31`."""
  tokenizer = wordpiece()
  [[number]] = tokenizer.encode_units(['31'])
  params = jax.tree.map(np.array, fresh.bundle.variables['params'])
  # The last norm's output is its bias, which only this token's row meets.
  last = params['stack']['layers_1']['feed_norm']
  last['scale'][:], last['bias'][:] = 0, 1
  params['embeddings']['token']['embedding'][:] = 0
  params['embeddings']['token']['embedding'][number] = 1
  confined = make_realizer(params)
  free = dataclasses.replace(confined, confine_numerals=False)
  read = [r for r in plan[1] if r.value == '31']
  others = tuple(r for r in plan[1] if r.value != '31')
  assert read
  for sentence in (plan[1], others):
    [[text]] = free.realize([game], [(sentence,)])
    assert set(text.split()) == {'31'}
  assert '31' in confined.realize([game], [(plan[1],)])[0][0]
  assert '31' not in confined.realize([game], [(others,)])[0][0]


@pytest.mark.parametrize('context', [False, True])
def test_whatever_weights_write_by_reference_the_report_is_true(
  game, plan, context
):
  """What cannot be written so the templates write."""
  model = find_config('realizer_small')
  params = {'params': initial_params(model, 0)}
  bundle = Bundle(model, model.build(), params, report_words())
  format = InputFormat(context, slots=True)
  realizer = LearnedRealizer(bundle, format, SEARCH, batch_size=3)
  [sentences] = realizer.realize([game], [plan[:4]])
  [templates] = TemplateRealizer().realize([game], [plan[:4]])
  assert sentences == templates


def test_a_plan_that_does_not_fit_is_an_error(fresh, game, plan):
  long = (plan[0] * 12,)
  with pytest.raises(InputError) as error:
    fresh.realize([game], [long])
  assert 'sentence 1 of the plan has 108 entries' in str(error.value)
  assert 'the realizer reads 512: break the sentence' in str(error.value)


def test_one_interface(fresh):
  assert isinstance(fresh, Realizer)
  assert isinstance(TemplateRealizer(), Realizer)


def test_bundles_remember_the_format(fresh, tmp_path):
  config, params = fresh.bundle.config, fresh.bundle.variables['params']
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


def test_exported_bundles_keep_the_format(fresh, tmp_path):
  config, params = fresh.bundle.config, fresh.bundle.variables['params']
  save_realizer(tmp_path / 'a', config, params, InputFormat(context=False))
  export(tmp_path / 'a', tmp_path / 'b', dtype='float16')
  assert load_realizer(tmp_path / 'b')[1] == InputFormat(context=False)


def test_the_realizer_of_the_package():
  bundle, format = load_realizer(packaged_realizer())
  small = find_config('realizer_small')
  assert dataclasses.replace(bundle.config, dropout=small.dropout) == small
  assert format == InputFormat(context=True, slots=True)
  assert bundle.tokenizer == report_words()
  opened = open_realizer('learned', beams=3)
  assert (opened.name, opened.search.beam_size) == ('learned', 3)


def test_the_realizer_of_the_package_writes(game, plan):
  """In its own words, and everything that is planned."""
  plan = plan[:2]
  [sentences] = open_realizer('learned', batch_size=2).realize([game], [plan])
  [templates] = TemplateRealizer().realize([game], [plan])
  assert sentences[1] != templates[1]
  report = ' '.join(sentences)
  assert check_text(report, game) == []
  stated = set(stated_relations(report, game))
  table = game_table(game, max_units=None).relations
  assert stated <= set(table)
  assert stated >= {r for s in plan for r in s if r.value.isdecimal()}


def test_only_realizers_write(fresh, tmp_path):
  selector = find_config('bertsum_tiny')
  save_bundle(tmp_path / 'selector', selector, initial_params(selector, 0))
  with pytest.raises(InputError, match='holds a BERTSum, which writes no text'):
    open_realizer(tmp_path / 'selector')
  config, params = fresh.bundle.config, fresh.bundle.variables['params']
  save_bundle(tmp_path / 'mute', config, params, tokenizer=None)
  with pytest.raises(InputError, match='has no tokenizer: it cannot write'):
    open_realizer(tmp_path / 'mute')
