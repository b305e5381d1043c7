"""The model that comes with the package."""

import json

import pytest

import stepwise
from stepwise.summarization import default_folder, sample_article

FOLDER = default_folder()

pytestmark = pytest.mark.skipif(
  not FOLDER.is_dir(), reason='this checkout has no default model'
)


def test_it_is_whole_and_small():
  """All weights are there: when it is used, nobody checks this again."""
  bundle = stepwise.load(FOLDER)
  assert bundle.config.stepwise
  assert bundle.tokenizer is not None
  assert bundle.decoding is not None
  files = {path.name: path.stat().st_size for path in FOLDER.iterdir()}
  assert set(files) == {'config.json', 'model.safetensors', 'README.md'}
  assert sum(files.values()) < 40e6
  assert json.loads((FOLDER / 'config.json').read_text())['format'] == 2


def test_it_summarises():
  text = sample_article()
  summary = stepwise.summarize(text)
  assert summary.model == 'default'
  assert 1 <= len(summary.sentences) <= 6
  assert summary.words < len(text.split()) / 2
  for sentence in summary.sentences:
    assert text[sentence.start : sentence.end] == sentence.text
  named = stepwise.summarize(text, model='default')
  assert summary.steps == named.steps
  assert summary.reason.startswith('default, as')
