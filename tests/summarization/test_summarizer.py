"""Summaries of texts, by models and by rankers."""

import dataclasses
import inspect
import math
import pydoc
import subprocess
import sys
import threading
from typing import Any

import jax
import numpy as np
import pytest

import stepwise
from stepwise._errors import InputError
from stepwise.checkpoints import load_bundle, save_bundle
from stepwise.decoding import DecodeConfig
from stepwise.documents import Document, count_words, split_sentences
from stepwise.inference import PredictConfig
from stepwise.layers import with_products
from stepwise.models import CONFIGS
from stepwise.summarization import (
  RANKERS,
  ModelSummarizer,
  SummaryOptions,
  SummaryWarning,
  _models,
  load_summarizer,
  sample_article,
  summarize,
)
from tests.checkpoints.foreign import random_params
from tests.summarization.tiny_bundles import CONFIG, tiny_bundle, tiny_params

TEXT = (
  'It rained all day. The match was called off. Nobody minded much. The tea'
  ' was hot. We talked about the old harbour. A boat came in late.'
)


@pytest.fixture(scope='module')
def bundles(tmp_path_factory):
  folder = tmp_path_factory.mktemp('bundles')
  tiny_bundle(folder / 'stepwise')
  tiny_bundle(folder / 'plain', stepwise=False)
  return folder


@pytest.fixture(params=['stepwise', 'plain'])
def model(request, bundles):
  return load_summarizer(bundles / request.param)


@pytest.fixture
def packaged(bundles, monkeypatch):
  """A tiny model in the place of the packaged one."""
  monkeypatch.setattr(_models, 'default_folder', lambda: bundles / 'stepwise')


def check_verbatim(summary, text):
  assert summary.sentences
  for sentence in summary.sentences:
    assert sentence.text == text[sentence.start : sentence.end]
    spans = split_sentences(text)
    assert spans[sentence.index] == (sentence.start, sentence.end)
    assert summary.steps[sentence.step - 1].index == sentence.index
  assert summary.text.split('\n') == [s.text for s in summary.sentences]
  assert summary.words == sum(count_words(s.text) for s in summary.sentences)


def numbers(summary):
  return [sentence.number for sentence in summary]


WISHES = [
  {'sentences': 1},
  {'sentences': 2, 'order': 'selection'},
  {'words': 12},
  {'characters': 60},
  {'ratio': 0.5},
  {'must_include': 2, 'must_exclude': 'tea'},
  {'units': 'all'},
]


def test_a_new_wish_compiles_nothing(bundles):
  bundle = stepwise.load(bundles / 'stepwise')
  compiled = []

  def listen(event: str, duration: float, **about: str) -> None:
    if 'backend_compile' in event:
      compiled.append(about)

  # One program for usual lengths, and one for plans of any length.
  summarize(TEXT, model=bundle)
  summarize(TEXT, model=bundle, sentences='auto')
  jax.monitoring.register_event_duration_secs_listener(listen)
  try:
    for wish in WISHES:
      summarize(TEXT, model=bundle, **wish)
    summarize(TEXT + ' It left early.', model=bundle)
    assert not compiled
    # It would hear of one.
    jax.jit(lambda x: x + len(compiled))(3)
    assert compiled
  finally:
    jax.monitoring.unregister_event_duration_listener(listen)


def test_lead_is_the_first_sentences_verbatim():
  article = sample_article()
  summary = stepwise.summarize(article, sentences=4, model='lead')
  check_verbatim(summary, article)
  assert numbers(summary) == [1, 2, 3, 4]
  assert summary.warnings == ()
  # It has no probabilities, and does not pretend to.
  assert {step.log_prob for step in summary.steps} == {None}
  assert {step.probabilities for step in summary.steps} == {()}


def test_a_stepwise_model_tells_of_every_step(bundles):
  summary = stepwise.summarize(TEXT, sentences=3, model=bundles / 'stepwise')
  check_verbatim(summary, TEXT)
  assert summary.model == 'stepwise'
  assert len(summary.sentences) == len(summary.steps) == 3
  for step in summary.steps:
    assert len(step.probabilities) == 6
    assert sum(step.probabilities) + step.stop == pytest.approx(1, rel=1e-5)
    assert step.index is not None
    assert step.log_prob is not None
    chosen = step.probabilities[step.index]
    assert math.exp(step.log_prob) == pytest.approx(chosen, rel=1e-5)
    told = [step.probabilities[index] for index in step.ranking]
    assert sorted(step.ranking) == list(range(6))
    assert told == sorted(told, reverse=True)
  # The plan matters: what was probable at first is not so for ever.
  assert summary.steps[0].probabilities != summary.steps[1].probabilities


def test_other_models_tell_of_every_sentence_by_itself(bundles):
  summary = stepwise.summarize(TEXT, sentences=3, model=bundles / 'plain')
  check_verbatim(summary, TEXT)
  first, *others = summary.steps
  assert all(step.probabilities == first.probabilities for step in others)
  assert [step.index for step in summary.steps] == list(first.ranking[:3])
  assert {step.stop for step in summary.steps} == {0.0}


def test_order(model):
  by_document = summarize(TEXT, sentences=3, model=model)
  by_choice = summarize(TEXT, sentences=3, model=model, order='selection')
  indices = [s.index for s in by_document]
  assert indices == sorted(indices)
  chosen = [s.index for s in by_choice]
  assert chosen == [step.index for step in by_choice.steps]
  assert sorted(chosen) == indices != chosen


@pytest.mark.parametrize('name', ['stepwise', 'plain', 'lead', 'coverage'])
def test_a_length_is_kept_as_far_as_the_text_goes(name, bundles):
  model = name if name in RANKERS else bundles / name
  assert len(summarize(TEXT, sentences=3, model=model)) == 3
  assert len(summarize(TEXT, sentences=1, model=model)) == 1
  assert len(summarize(TEXT, model=model)) in (3, 4)
  with pytest.warns(SummaryWarning, match='3 sentences were asked for.* 2 th'):
    assert len(summarize('One is. Two is.', sentences=3, model=model)) == 2
  with pytest.warns(SummaryWarning, match='1000 sentences were asked for'):
    assert len(summarize(TEXT, sentences=1000, model=model)) == 6


def test_one_program_for_several_lengths(bundles):
  """Compiling takes seconds: not for every length anew."""
  model = ModelSummarizer(
    **{
      name: getattr(load_summarizer(bundles / 'stepwise'), name)
      for name in ('model', 'params', 'tokenizer', 'config', 'name')
    }
  )
  for options in ({'sentences': 1}, {'sentences': 4}, {'ratio': 0.5}):
    model(TEXT, SummaryOptions(**options))
  assert len(model._predictors) == 1


def test_threads_share_a_model(bundles):
  model = load_summarizer(bundles / 'stepwise')
  alone = model(TEXT, SummaryOptions(sentences=2))
  found = []
  threads = [
    threading.Thread(
      target=lambda: found.append(model(TEXT, SummaryOptions(sentences=2)))
    )
    for _ in range(4)
  ]
  for thread in threads:
    thread.start()
  for thread in threads:
    thread.join()
  assert found == [alone] * 4


@pytest.mark.parametrize('name', ['stepwise', 'plain', 'lead', 'coverage'])
def test_words_and_characters(name, bundles):
  model = name if name in RANKERS else bundles / name
  summary = summarize(TEXT, words=13, model=model)
  check_verbatim(summary, TEXT)
  left = 13 - summary.words
  assert left >= 0
  taken = {sentence.index for sentence in summary}
  # Nothing that would still have fitted was left out, but for fillers.
  lengths = [count_words(TEXT[a:b]) for a, b in split_sentences(TEXT)]
  fitting = [i for i in range(6) if lengths[i] <= left and lengths[i] >= 4]
  assert set(fitting) <= taken
  short = summarize(TEXT, characters=45, model=model)
  assert sum(len(str(sentence)) for sentence in short) <= 45


def test_words_and_sentences():
  both = summarize(TEXT, words=13, sentences=2, model='lead')
  assert numbers(both) == [1, 2]


def test_fewer_words_than_any_sentence_has(model):
  with pytest.warns(SummaryWarning, match='no sentence has 2 words or fewer'):
    summary = summarize(TEXT, words=2, model=model)
  assert summary.text == 'Nobody minded much.'
  assert summary.warnings == (
    'no sentence has 2 words or fewer: the summary is the shortest, of 3.',
  )


def test_ratio(bundles):
  for model in ('lead', 'coverage', bundles / 'stepwise'):
    assert len(summarize(TEXT, ratio=0.5, model=model)) == 3
    assert len(summarize(TEXT, ratio=0.01, model=model)) == 1
  assert len(summarize(TEXT, ratio=1.0, model='lead')) == 6


def test_as_many_as_the_text_needs(bundles):
  for model in ('lead', 'coverage', bundles / 'stepwise'):
    assert 1 <= len(summarize(TEXT, sentences='auto', model=model)) <= 6


@pytest.mark.parametrize('threshold', [0.0, 0.12, 0.14, 2.0])
def test_a_summary_ends_where_the_model_would_stop(
  threshold, bundles, monkeypatch
):
  module = sys.modules[ModelSummarizer.__module__]
  monkeypatch.setattr(module, '_STOP_PROBABILITY', threshold)
  model = load_summarizer(bundles / 'stepwise')
  whole = model(TEXT, SummaryOptions(sentences=6, order='selection'))
  stops = [step.stop for step in whole.steps]
  # Otherwise the test would say nothing.
  assert min(stops) < 0.14 and max(stops) > 0.12
  ends = [i for i, stop in enumerate(stops) if i and stop >= threshold]
  expected = whole.sentences[: min(ends, default=6)]
  found = model(TEXT, SummaryOptions(sentences='auto', order='selection'))
  assert found.sentences == expected
  assert len(found) == {0.0: 1, 2.0: 6}.get(threshold, len(found))


@pytest.mark.parametrize('name', ['stepwise', 'plain', *RANKERS])
def test_sentences_to_include_and_exclude(name, bundles, packaged):
  model = name if name in RANKERS else bundles / name
  free = summarize(TEXT, sentences=3, model=model)
  others = sorted(set(range(1, 7)) - set(numbers(free)))
  given = summarize(TEXT, sentences=3, model=model, must_include=others[-1])
  assert others[-1] in numbers(given)
  assert len(given) == 3
  without = summarize(
    TEXT, sentences=3, model=model, must_exclude=numbers(free)
  )
  assert numbers(without) == others


def test_sentences_named_by_text():
  given = summarize(TEXT, words=13, model='lead', must_include='OLD HARB')
  assert numbers(given) == [1, 5]
  given = summarize(TEXT, model='lead', must_include=range(2, 7))
  assert numbers(given) == [2, 3, 4, 5, 6]
  given = summarize(TEXT, model='lead', must_exclude=['rained', 2])
  assert numbers(given) == [3, 4, 5]


@pytest.mark.parametrize(
  ('options', 'message'),
  [
    ({'sentences': 0}, 'sentences is 0, must be at least 1'),
    ({'sentences': '3'}, "sentences is '3' of type str, must be a whole num"),
    ({'words': -3}, 'words is -3, must be at least 1'),
    ({'characters': 0}, 'characters is 0'),
    ({'ratio': 0.0}, 'ratio is 0.0, must be above 0'),
    ({'ratio': 1.5}, 'ratio is 1.5, must be above 0 and at most 1'),
    ({'ratio': 0.5, 'words': 3}, 'words is given together with ratio'),
    ({'ratio': 0.5, 'sentences': 3}, 'ratio is given together with sentences'),
    ({'words': 5, 'characters': 3}, 'words is given together with char'),
    ({'must_include': [7]}, 'has sentence 7, there are 1 to 6'),
    ({'must_include': 0}, 'has sentence 0, there are 1 to 6'),
    ({'must_include': 'dragon'}, "has 'dragon', which is in no sentence"),
    ({'must_include': ' '}, "has ' ', which is in no sentence"),
    ({'must_exclude': 'dragon'}, "must_exclude has 'dragon'"),
    ({'must_include': 1, 'must_exclude': 1}, 'sentence 1 is both included'),
    ({'must_exclude': range(1, 7)}, 'leaves no sentence to choose'),
    (
      {'must_include': [1, 2], 'sentences': 1},
      'must_include has 2 sentences but sentences is 1',
    ),
    (
      {'must_include': [1, 2], 'words': 7},
      'must_include has 9 words but words is 7',
    ),
    ({'about': ' '}, 'about is empty'),
    ({'units': 'verbs'}, "units has 'verbs', must be all, prose or some of"),
    ({'split': 'words'}, "split is 'words', must be one of auto"),
    ({'language': 'German'}, "language is 'German', must be a code"),
  ],
)
def test_wrong_options(options, message):
  with pytest.raises(InputError, match=message):
    stepwise.summarize(TEXT, model='lead', **options)


WRONG_TYPES = {
  'sentences=2.5': 'sentences is 2.5 of type float, must be a whole number',
  'sentences=True': 'sentences is True of type bool',
  "words='60'": "words is '60' of type str, must be a whole number.",
  "ratio='half'": "ratio is 'half' of type str, must be a number.",
  'must_include=[2.0]': 'must_include has 2.0 of type float, must be the num',
  'order="best"': "order is 'best', must be one of",
  'model=3': 'model is of type int, must be a name, the folder',
}


def test_wrong_types_are_named():
  """In a process of its own: the tests' own checks of types would be first."""
  code = ['import stepwise']
  for options in WRONG_TYPES:
    call = (
      f'stepwise.summarize("One.", **(dict(model="lead") | dict({options})))'
    )
    code += [
      'try:',
      f'  {call}',
      'except ValueError as error:',
      '  print(error)',
    ]
  code += ['try:', '  stepwise.summarize(7)', 'except ValueError as error:']
  code += ['  print(error)']
  done = subprocess.run(
    [sys.executable, '-c', '\n'.join(code)],
    capture_output=True,
    text=True,
    check=True,
  )
  *told, last = done.stdout.splitlines()
  for line, message in zip(told, WRONG_TYPES.values(), strict=True):
    assert line.startswith(message)
  assert last.startswith('a text is of type int, must be a string, a path')


def test_trigram_blocking(model):
  line = 'The old harbour opens again on Monday'
  text = f'{line}. {line} at noon. {line} for all. Rain fell in the night.'
  free = summarize(text, sentences=3, model=model, trigram_blocking=False)
  assert len(free) == 3
  for name in (model, 'lead'):
    with pytest.warns(SummaryWarning, match='2 of 4 sentences were chosen'):
      blocked = summarize(text, sentences=3, model=name, trigram_blocking=True)
    assert sum(s.index < 3 for s in blocked) == 1


def test_a_bundle_says_how_it_chooses(tmp_path):
  decode = DecodeConfig(2, min_units=0, beam_size=2, stop_unit=0, never=(1,))
  decoding = PredictConfig(decode, trigram_blocking=True)
  bundle = stepwise.load(tiny_bundle(tmp_path / 'x', decoding=decoding))
  assert load_summarizer(bundle).config == decoding
  repeated = 'The old harbour opens. The old harbour opens. Rain fell.'
  for text in (TEXT, 'One sentence.', repeated):
    summary = stepwise.summarize(text, model=bundle)
    # Never empty, though the bundle would allow it.
    assert 1 <= len(summary) <= 2
    stops = [step.index is None for step in summary.steps]
    assert not any(stops[:-1])


def long_text(count):
  lines = (f'Sentence number {n} is here today.' for n in range(1, count + 1))
  return '\n\n'.join(lines)


def test_everything_is_read(bundles):
  """The tiny model reads 30 sentences at once."""
  model = load_summarizer(bundles / 'stepwise')
  summary = model(long_text(95), SummaryOptions(sentences=5))
  assert len(summary) == 5
  assert summary.warnings == ()
  scores, _ = model._scores(summary.document, 1)
  assert len(scores) == 95
  assert len(set(scores.tolist())) == 95
  late = stepwise.summarize(
    long_text(95), model=model, sentences=3, must_include=[93]
  )
  assert 93 in numbers(late)


def far_bundle(folder, reach):
  """The tiny model, which has 32 positions."""
  encoder = dataclasses.replace(CONFIG.encoder, reach=reach)
  config = dataclasses.replace(CONFIG, encoder=encoder)
  save_bundle(folder, config, tiny_params(CONFIG))
  return config


def test_a_reach_is_read_at_once(tmp_path):
  """The same weights, 30 sentences at once or 95; a bundle keeps which."""
  config = far_bundle(tmp_path / 'far', 97)
  assert load_bundle(tmp_path / 'far').config == config
  model = load_summarizer(tmp_path / 'far')
  asked = SummaryOptions(sentences=5)
  summary = model(long_text(95), asked)
  # Parts have no steps that could be told.
  assert all(len(step.ranking) == 95 for step in summary.steps)
  assert len(model(long_text(96), asked)) == 5
  assert not any(step.ranking for step in model(long_text(96), asked).steps)


def test_long_plans_are_chosen_too(bundles):
  """The tiny model makes plans of 31 sentences at most."""
  model = load_summarizer(bundles / 'stepwise')
  assert len(model(long_text(60), SummaryOptions(sentences=40))) == 40


def test_words_that_are_not_read_are_told(bundles):
  with pytest.warns(SummaryWarning, match='1 of 1 sentences were read only in'):
    stepwise.summarize('very ' * 50 + 'long.', model=bundles / 'stepwise')


@pytest.mark.parametrize('name', ['lead', 'lexrank', 'textrank', 'coverage'])
def test_rankers_read_very_long_texts(name):
  words = [f'word{n % 991}' for n in range(6 * 4500)]
  lines = [' '.join(words[6 * n : 6 * n + 6]) + '.' for n in range(4500)]
  document = '\n\n'.join(lines)
  summary = stepwise.summarize(document, model=name, sentences=4)
  assert len(summary) == 4


@pytest.mark.parametrize('text', ['', ' \n\t ', [], [' ']])
def test_an_empty_text_is_an_error(text):
  with pytest.raises(InputError, match='the text is empty'):
    stepwise.summarize(text, model='lead')


def test_what_is_no_text_is_an_error(tmp_path):
  with pytest.raises(InputError, match='half a surrogate pair at character 2'):
    stepwise.summarize('A \ud800 text.', model='lead')
  with pytest.raises(InputError, match=r'none\.pdf does not exist'):
    stepwise.summarize(tmp_path / 'none.pdf', model='lead')
  with pytest.raises(InputError, match=r'report\.pdf does not exist'):
    stepwise.summarize('report.pdf', model='lead')
  with pytest.raises(InputError, match='is an address: give what'):
    stepwise.summarize('https://example.com/a', model='lead')
  with pytest.raises(InputError, match='may hold many documents'):
    stepwise.summarize(tmp_path / 'rows.jsonl', model='lead')


def test_paths_and_lists_are_texts(tmp_path):
  path = tmp_path / 'a.md'
  path.write_text('# Rain\n\nIt rained **all** day. We left.')
  for text in (path, str(path)):
    summary = stepwise.summarize(text, sentences=1, model='lead')
    assert str(summary) == 'It rained all day.'
  given = ['It rained. All day', 'We left', 'Nobody minded much']
  summary = stepwise.summarize(given, sentences=2, model='lead')
  assert [str(sentence) for sentence in summary] == given[:2]


def test_many_are_as_one_by_one(bundles):
  model = load_summarizer(bundles / 'stepwise')
  texts = [TEXT, 'One is. Two is. Three is.', '', TEXT[::-1], sample_article()]
  options = SummaryOptions(sentences=3)
  found = list(model.many(texts, options, batch_size=2))
  assert isinstance(found[2], InputError)
  for text, summary in zip(texts, found, strict=True):
    if text:
      alone = model(text, options)
      assert [s.index for s in summary] == [s.index for s in alone]
      np.testing.assert_allclose(
        [step.probabilities for step in summary.steps],
        [step.probabilities for step in alone.steps],
        rtol=1e-3,
        atol=1e-6,
      )
  # Both documents of a batch were read at once, each by a device of its own.
  meshes = [predictor.mesh for predictor in model._predictors.values()]
  assert {mesh and mesh.shape['data'] for mesh in meshes} >= {2, None}


def test_many_are_streamed():
  asked = []

  def texts():
    for number in range(1000):
      asked.append(number)
      yield f'Text {number}. It has two sentences.'

  summaries = stepwise.summarize_many(texts(), sentences=1, model='lead')
  assert asked == []
  assert str(next(summaries)) == 'Text 0.'
  assert len(asked) <= 64
  assert [str(next(summaries)) for _ in range(20)][-1] == 'Text 20.'
  document = Document('One. Two.', ((0, 4), (5, 9)))
  (summary,) = stepwise.summarize_many([document], model='lead', sentences=1)
  assert summary.text == 'One.'
  with pytest.raises(InputError, match='words is 0'):
    stepwise.summarize_many(texts(), words=0, model='lead')


def test_one_bad_text_of_many_is_an_error_in_its_place():
  texts = ['One.', '', 'Two.']
  first, bad, last = stepwise.summarize_many(texts, model='lead', ratio=1.0)
  assert (str(first), str(last)) == ('One.', 'Two.')
  assert isinstance(bad, InputError)
  with pytest.raises(InputError, match='texts is one str, must be many'):
    stepwise.summarize_many('One. Two.', model='lead')


def test_models_that_cannot_be_had(bundles, tmp_path, monkeypatch):
  with pytest.raises(InputError, match='best is neither the folder of a model'):
    load_summarizer('best')
  with pytest.raises(InputError, match=r'is not the folder of a model'):
    load_summarizer(tmp_path)
  monkeypatch.setattr(_models, 'default_folder', lambda: tmp_path)
  with pytest.raises(InputError, match='installation has no default model'):
    load_summarizer('default')
  with pytest.raises(InputError, match='installation has no default model'):
    stepwise.summarize(TEXT)
  with pytest.raises(InputError, match='installation has no default model'):
    stepwise.load('default')
  monkeypatch.setattr(_models, 'default_folder', lambda: bundles / 'stepwise')
  assert load_summarizer('default').model == CONFIG
  assert stepwise.load('default').config == CONFIG


def test_bundles_that_cannot_summarise(tmp_path):
  body = dataclasses.replace(CONFIGS['realizer'], vocab=97, embed=8, heads=2)
  body = dataclasses.replace(body, mlp=8, layers=1)
  save_bundle(tmp_path / 'r', body, random_params(body), tokenizer=None)
  with pytest.raises(InputError, match='r is of a kind that cannot choose'):
    load_summarizer(tmp_path / 'r')
  config = dataclasses.replace(CONFIGS['bertsum_tiny'])
  save_bundle(tmp_path / 'b', config, random_params(config), tokenizer=None)
  with pytest.raises(InputError, match='b has no tokeniser'):
    load_summarizer(tmp_path / 'b')


def test_a_bundle_that_changes_is_read_again(tmp_path):
  folder = tiny_bundle(tmp_path / 'x')
  before = load_summarizer(folder)
  assert load_summarizer(str(folder)) is before
  tiny_bundle(folder, stepwise=False)
  assert not load_summarizer(folder).model.stepwise


def test_broken_weights_are_told(bundles):
  whole = load_summarizer(bundles / 'stepwise')
  params = jax.tree.map(lambda leaf: leaf * np.nan, whole.params)
  broken = dataclasses.replace(whole, params=params, _predictors={})
  with pytest.raises(InputError, match='scores that are not numbers'):
    summarize(TEXT, model=broken)


@pytest.mark.parametrize(
  'text',
  [
    'word',
    'no punctuation at all in this text',
    '?',
    '!!! ... ???',
    '東京で会議が開かれた。参加者は百人だった。次回は春に開かれる。',
    'Это первое предложение. Здесь второе.',
    '\u200b',
    '🙂',
    'x' * 100_000,
    'a. ' * 10_000,
  ],
)
@pytest.mark.filterwarnings('ignore::stepwise.summarization.SummaryWarning')
def test_never_empty(text, bundles):
  model = load_summarizer(bundles / 'stepwise')
  for options in (SummaryOptions(), SummaryOptions(words=1)):
    summary = model(text, options)
    assert summary.text.strip()
    for sentence in summary:
      assert sentence.text == text[sentence.start : sentence.end]


def test_a_summary_is_easy_to_look_at():
  summary = summarize(f'{TEXT} It_s <b>*late*.', model='lead', must_include=7)
  assert str(summary) == summary.text
  assert 'steps' not in repr(summary)
  assert [str(sentence) for sentence in summary] == summary.text.split('\n')
  assert len(summary) == 3
  told = summary.to_dict()
  assert told['summary'] == summary.text.split('\n')
  assert [each['number'] for each in told['sentences']] == [1, 2, 7]
  assert summary.to_markdown().split('\n') == [
    '- It rained all day. [1]',
    '- The match was called off. [2]',
    '- It\\_s \\<b\\>\\*late\\*. [7]',
    '',
  ]
  shown = summary._repr_html_()
  assert shown.count('<mark') == 3
  assert '<b>' not in shown
  assert 'It_s &lt;b&gt;' in shown


def test_the_package_shows_what_it_has():
  names = {'load', 'plan', 'report', 'summarize', 'summarize_many'}
  shown = {name for name in dir(stepwise) if not name.startswith('_')}
  assert names <= shown
  others = [getattr(stepwise, name) for name in shown - names]
  assert all(map(inspect.ismodule, others))
  shown = pydoc.plain(pydoc.render_doc(stepwise))
  for name in ('load', 'summarize', 'summarize_many'):
    assert f'\n    {name}(' in shown
  with pytest.raises(AttributeError, match="no attribute 'summarise'"):
    stepwise.summarise  # noqa: B018


def test_unknown_wishes_are_named():
  for function in (stepwise.summarize, stepwise.summarize_many):
    with pytest.raises(TypeError, match="keyword argument 'sentence'"):
      function(['It rained.'], sentence=2)


def test_products_are_a_named_choice(bundles):
  model: Any = load_summarizer(bundles / 'stepwise')
  chosen = {}
  for name in ('float32', 'bfloat16'):
    copy = dataclasses.replace(model, products=name)
    assert copy(TEXT)
    [used] = [p for key, p in copy._predictors.items() if key[1] == name]
    chosen[name] = used.model
  assert chosen['float32'] == with_products(model.model, 'float32')
  assert chosen['bfloat16'] == with_products(model.model, 'bfloat16')
