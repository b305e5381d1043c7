"""`stepwise train-value`: a bundle becomes one that values whole plans."""

import numpy as np
import pytest
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.checkpoints import load_bundle
from stepwise.cli.main import app
from stepwise.cli.train import _start
from stepwise.summarization import SummaryOptions, load_summarizer
from tests.summarization.tiny_bundles import tiny_bundle
from tests.training.runs import tiny_config, write_articles


def run(*arguments):
  result = CliRunner().invoke(app, ['train-value', *map(str, arguments)])
  if isinstance(result.exception, InputError):
    raise result.exception
  assert result.exit_code == 0, result.output
  return result.stdout


def test_a_value_becomes_part_of_the_bundle(tmp_path):
  source = tiny_bundle(tmp_path / 'source')
  articles = write_articles(tmp_path / 'articles.jsonl', 9)
  out = tmp_path / 'out'
  run(source, articles, out, '--documents', 6)
  (pools,) = out.glob('pools-*/*')
  assert len(np.load(pools)['rouge']) == 6
  made = load_bundle(out / 'bundle')
  assert made.config.plan_value.sizes == (2, 3, 4)
  decode = made.decoding.decode
  assert (decode.min_units, decode.max_units) == (2, 4)
  before = load_bundle(source).variables['params']
  np.testing.assert_array_equal(
    made.variables['params']['scorer']['dense']['kernel'],
    before['scorer']['dense']['kernel'],
  )
  # Nothing that was read is read again, and the same is learnt from it.
  written = pools.stat().st_mtime_ns
  run(source, articles, out, '--documents', 6)
  assert pools.stat().st_mtime_ns == written
  again = load_bundle(out / 'bundle').variables['params']['plan_value']
  np.testing.assert_array_equal(
    again['read']['kernel'],
    made.variables['params']['plan_value']['read']['kernel'],
  )
  # Training goes on from the model, and leaves the value behind.
  params, _ = _start(out / 'bundle', tiny_config(articles))
  assert params.keys() == before.keys()
  summarizer = load_summarizer(out / 'bundle')
  text = ' '.join(f'The house number {i} is old.' for i in range(9))
  options = SummaryOptions(trigram_blocking=False)
  assert 2 <= len(summarizer(text, options)) <= 4
  three = SummaryOptions(sentences=3, trigram_blocking=False)
  assert len(summarizer(text, three)) == 3


def test_what_was_read_of_other_files_is_not_mixed(tmp_path):
  source = tiny_bundle(tmp_path / 'source')
  articles = write_articles(tmp_path / 'articles.jsonl', 5)
  out = tmp_path / 'out'
  for most in (3, 5):
    run(source, articles, out, '--documents', most)
  sizes = [len(np.load(path)['rouge']) for path in out.glob('pools-*/*')]
  assert sorted(sizes) == [3, 5]


def test_documents_without_summaries_are_refused(tmp_path):
  source = tiny_bundle(tmp_path / 'source')
  path = tmp_path / 'texts.jsonl'
  path.write_text('{"article": "One is. Two is."}\n{"no": "text"}\n')
  with pytest.raises(InputError, match='no document has a summary'):
    run(source, path, tmp_path / 'out')
  assert not (tmp_path / 'out').exists()
  assert (
    CliRunner()
    .invoke(
      app, ['train-value', str(source), str(tmp_path / 'none'), str(path)]
    )
    .exit_code
    == 2
  )


def test_only_models_that_read_once_have_a_value(tmp_path):
  twin = tiny_bundle(tmp_path / 'twin', stepwise=False)
  articles = write_articles(tmp_path / 'articles.jsonl', 2)
  with pytest.raises(InputError, match='twin is no stepwise HiBERT'):
    run(twin, articles, tmp_path / 'out')
  assert not (tmp_path / 'out').exists()
