"""Summaries of plain texts."""

import dataclasses
import math

import jax
import numpy as np
import pytest

import stepwise
from stepwise._errors import InputError
from stepwise.checkpoints import save_bundle
from stepwise.decoding import DecodeConfig
from stepwise.documents import Document, split_sentences
from stepwise.inference import PredictConfig
from stepwise.models import CONFIGS
from stepwise.summarization import (
  Options,
  _models,
  load_summarizer,
  sample_article,
  summarize,
)
from tests.checkpoints.foreign import random_params
from tests.summarization.tiny_bundles import CONFIG, tiny_bundle

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


def check_verbatim(summary, text):
  assert summary.sentences
  for sentence in summary.sentences:
    assert sentence.text == text[sentence.start : sentence.end]
    spans = split_sentences(text)
    assert spans[sentence.index] == (sentence.start, sentence.end)
    assert summary.steps[sentence.step - 1].index == sentence.index
  assert summary.text.split('\n') == [s.text for s in summary.sentences]
  assert summary.words == sum(len(s.text.split()) for s in summary.sentences)


def test_lead_is_the_first_sentences_verbatim():
  article = sample_article()
  summary = stepwise.summarize(article, sentences=4, model='lead')
  check_verbatim(summary, article)
  assert [s.index for s in summary.sentences] == [0, 1, 2, 3]
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
  indices = [s.index for s in by_document.sentences]
  assert indices == sorted(indices)
  chosen = [s.index for s in by_choice.sentences]
  assert chosen == [step.index for step in by_choice.steps]
  assert sorted(chosen) == indices != chosen


def test_a_length_is_kept_as_far_as_the_text_goes(model):
  assert len(summarize(TEXT, sentences=3, model=model).sentences) == 3
  assert len(summarize('One. Two.', sentences=3, model=model).sentences) == 2
  assert len(summarize(TEXT, sentences=1, model=model).sentences) == 1
  assert len(summarize(TEXT, sentences=9999, model='lead').sentences) == 6


def test_one_search_for_several_lengths(bundles):
  """Compiling takes seconds: not for every length anew."""
  model = load_summarizer(bundles / 'stepwise')
  configs = {
    model._request(TEXT, Options(sentences=n)).config for n in (1, 2, 3, 4)
  }
  (config,) = configs
  assert config.decode.max_units == config.decode.min_units == 4
  assert model._request(TEXT, Options(sentences=5)).config not in configs


def test_words(model):
  summary = summarize(TEXT, words=13, model=model)
  check_verbatim(summary, TEXT)
  left = 13 - summary.words
  assert left >= 0
  taken = {sentence.index for sentence in summary.sentences}
  # Nothing that would still have fitted was left out.
  lengths = [len(TEXT[a:b].split()) for a, b in split_sentences(TEXT)]
  assert all(lengths[i] > left for i in range(6) if i not in taken)


def test_words_and_sentences():
  assert summarize(TEXT, words=13, model='lead').words == 12
  both = summarize(TEXT, words=13, sentences=2, model='lead')
  assert [s.index for s in both.sentences] == [0, 1]


def test_fewer_words_than_any_sentence_has(model):
  summary = summarize(TEXT, words=2, model=model)
  assert summary.text == 'Nobody minded much.'
  assert summary.warnings == (
    'no sentence has 2 words or fewer: the summary is the shortest, of 3.',
  )


def test_ratio(bundles):
  for model in ('lead', bundles / 'stepwise'):
    assert len(summarize(TEXT, ratio=0.5, model=model).sentences) == 3
    assert len(summarize(TEXT, ratio=0.01, model=model).sentences) == 1
  assert len(summarize(TEXT, ratio=1.0, model='lead').sentences) == 6


def test_required_sentences(model):
  free = summarize(TEXT, sentences=3, model=model)
  worst = free.steps[0].ranking[-1]
  given = summarize(TEXT, sentences=3, model=model, must_include=[worst])
  assert worst in [s.index for s in given.sentences]
  assert len(given.sentences) == 3


def test_required_sentences_by_text():
  given = summarize(TEXT, words=13, model='lead', must_include='OLD HARB')
  assert [s.index for s in given.sentences] == [0, 2, 4]
  given = summarize(TEXT, model='lead', must_include=range(1, 6))
  assert [s.index for s in given.sentences] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
  ('options', 'message'),
  [
    ({'sentences': 0}, 'sentences is 0, must be at least 1'),
    ({'words': -3}, 'words is -3, must be at least 1'),
    ({'ratio': 0.0}, 'ratio is 0.0, must be above 0'),
    ({'ratio': 1.5}, 'ratio is 1.5, must be above 0 and at most 1'),
    ({'ratio': 0.5, 'words': 3}, 'ratio is given together with'),
    ({'must_include': [6]}, 'has sentence 6, there are 0 to 5'),
    ({'must_include': [-1]}, 'has sentence -1, there are 0 to 5'),
    ({'must_include': 'dragon'}, "has 'dragon', which is in no sentence"),
    ({'must_include': ' '}, "has ' ', which is in no sentence"),
    (
      {'must_include': [0, 1], 'sentences': 1},
      'must_include has 2 sentences but sentences is 1',
    ),
    (
      {'must_include': [0, 1], 'words': 7},
      'must_include has 9 words but words is 7',
    ),
  ],
)
def test_wrong_options(options, message):
  with pytest.raises(InputError, match=message):
    stepwise.summarize(TEXT, model='lead', **options)


def test_a_wrong_order():
  with pytest.raises(InputError, match="order is 'best', must be one of"):
    Options(order='best')


def test_trigram_blocking(model):
  line = 'The old harbour opens again on Monday'
  text = f'{line}. {line} at noon. {line} for all. Rain fell in the night.'
  free = summarize(text, sentences=3, model=model, trigram_blocking=False)
  assert len(free.sentences) == 3
  blocked = summarize(text, sentences=3, model=model, trigram_blocking=True)
  assert sum(s.index < 3 for s in blocked.sentences) == 1


def test_a_bundle_says_how_it_chooses(tmp_path):
  decode = DecodeConfig(2, min_units=0, beam_size=2, stop_unit=0, never=(1,))
  decoding = PredictConfig(decode, trigram_blocking=True)
  bundle = stepwise.load(tiny_bundle(tmp_path / 'x', decoding=decoding))
  assert load_summarizer(bundle).config == decoding
  repeated = 'The old harbour opens. The old harbour opens. Rain fell.'
  for text in (TEXT, 'One sentence.', repeated):
    summary = stepwise.summarize(text, model=bundle)
    # Never empty, though the bundle would allow it.
    assert 1 <= len(summary.sentences) <= 2
    stops = [step.index is None for step in summary.steps]
    assert not any(stops[:-1])


def test_what_is_not_read_is_said(bundles):
  text = '\n\n'.join(
    f'Sentence number {number} is here.' for number in range(41)
  )
  summary = stepwise.summarize(text, sentences=3, model=bundles / 'stepwise')
  assert all(sentence.index < 30 for sentence in summary.sentences)
  assert len(summary.steps[0].probabilities) == 30
  assert summary.warnings == (
    'only the first 30 of 41 sentences were read: the document is longer than'
    ' the model reads.',
  )
  with pytest.raises(InputError, match='sentence 33, but the model reads only'):
    stepwise.summarize(text, model=bundles / 'stepwise', must_include=[33])
  long = stepwise.summarize('very ' * 50 + 'long.', model=bundles / 'stepwise')
  assert long.warnings == (
    '1 of 1 sentences were read only in part: they are longer than the model'
    ' reads.',
  )


@pytest.mark.parametrize('text', ['', ' \n\t '])
def test_an_empty_text_is_an_error(text):
  with pytest.raises(InputError, match='the text is empty'):
    stepwise.summarize(text, model='lead')


def test_what_is_no_text_is_an_error():
  with pytest.raises(InputError, match='half a surrogate pair at character 2'):
    stepwise.summarize('A \ud800 text.', model='lead')


def test_many_are_as_one_by_one(bundles):
  model = load_summarizer(bundles / 'stepwise')
  texts = [TEXT, 'One. Two. Three. Four.', '', TEXT[::-1], sample_article()]
  options = Options(sentences=3)
  found = list(model.many(texts, options, batch_size=2))
  assert isinstance(found[2], InputError)
  for text, summary in zip(texts, found, strict=True):
    if text:
      alone = model(text, options)
      assert [s.index for s in summary.sentences] == [
        s.index for s in alone.sentences
      ]
      np.testing.assert_allclose(
        [step.probabilities for step in summary.steps],
        [step.probabilities for step in alone.steps],
        rtol=1e-3,
        atol=1e-6,
      )


def test_many_are_streamed():
  asked = []

  def texts():
    for number in range(1000):
      asked.append(number)
      yield f'Text {number}. It has two sentences.'

  summaries = stepwise.summarize_many(texts(), sentences=1, model='lead')
  assert asked == []
  assert next(summaries).text == 'Text 0.'
  assert len(asked) <= 64
  assert [next(summaries).text for _ in range(20)][-1] == 'Text 20.'
  document = Document('One. Two.', ((0, 4), (5, 9)))
  (summary,) = stepwise.summarize_many([document], model='lead', sentences=1)
  assert summary.text == 'One.'
  with pytest.raises(InputError, match='the text is empty'):
    list(stepwise.summarize_many(['One.', ''], model='lead'))
  with pytest.raises(InputError, match='words is 0'):
    stepwise.summarize_many(texts(), words=0, model='lead')


def test_models_that_cannot_be_had(bundles, tmp_path, monkeypatch):
  with pytest.raises(InputError, match='stepwise_etcsum needs trained weights'):
    load_summarizer('stepwise_etcsum')
  with pytest.raises(InputError, match='best is neither the folder of a model'):
    load_summarizer('best')
  with pytest.raises(InputError, match=r'config.json: no such file'):
    load_summarizer(tmp_path)
  monkeypatch.setattr(_models, 'default_folder', lambda: tmp_path)
  for name in (None, 'default'):
    with pytest.raises(InputError, match='installation has no default model'):
      load_summarizer(name)
  monkeypatch.setattr(_models, 'default_folder', lambda: bundles / 'stepwise')
  assert load_summarizer().model == CONFIG


def test_bundles_that_cannot_summarise(tmp_path):
  body = dataclasses.replace(CONFIGS['realizer'], vocab=97, embed=8, heads=2)
  body = dataclasses.replace(body, mlp=8, layers=1)
  save_bundle(tmp_path / 'r', body, random_params(body), tokenizer=None)
  with pytest.raises(InputError, match='r writes text; it cannot choose'):
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
  with pytest.raises(InputError, match='scores that are not numbers'):
    summarize(TEXT, model=dataclasses.replace(whole, params=params))


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
def test_never_empty(text, bundles):
  model = load_summarizer(bundles / 'stepwise')
  for options in (Options(), Options(words=1)):
    summary = model(text, options)
    check_verbatim(summary, text)
    assert summary.text.strip()


def test_the_package_has_no_other_lazy_names():
  with pytest.raises(AttributeError, match="no attribute 'summarise'"):
    stepwise.summarise  # noqa: B018
