"""Benchmarks of documents: what they measure, and that they go on."""

import json

import numpy as np
import pytest

from benchmarks import auto_length, long_documents, mixed, queries, reach
from benchmarks._harness import RESULTS, read_json
from stepwise.documents import make_document
from stepwise.evaluation import rouge
from stepwise.summarization import _models
from tests.summarization.tiny_bundles import tiny_bundle

TEXT = [
  'The harbour of Marne opened again on Monday.',
  'The work took three years.',
  'Nobody had expected the ships to be back so soon.',
]


@pytest.fixture
def folder(tmp_path):
  for name, count in (('small', 2), ('large', 3)):
    rows = [
      {'article': TEXT, 'highlights': TEXT[i : i + 1], 'lang': 'en'}
      for i in range(count)
    ]
    lines = ''.join(f'{json.dumps(row)}\n' for row in rows)
    (tmp_path / f'{name}.valid.jsonl').write_text(lines)
  return tmp_path


def test_sets_that_are_stored_are_not_measured_again(folder, capsys):
  out = folder / 'out.json'
  arguments = [str(folder), '--out', str(out), '--systems', 'lead', 'lexrank']
  mixed.main([*arguments, '--sets', 'small'])
  content = read_json(out)
  content['sets']['small']['rouge1']['lead'] = 12.34
  out.write_text(json.dumps(content))
  mixed.main(arguments)
  assert [*read_json(out)['sets']] == ['small', 'large']
  assert 'lead 12.34' in capsys.readouterr().out
  mixed.main([*arguments, '--seed', '1'])
  assert 'lead 12.34' not in capsys.readouterr().out


def test_scores_are_those_of_equal_words(folder):
  examples = mixed.read_sample(folder / 'large.valid.jsonl', 3, seed=0)
  found = mixed.measure(examples, ['lead'])
  # People's summaries have 8, 5 and 10 words.
  assert found['words'] == 8
  scores = [
    rouge(TEXT[:1], each, 'rouge-1.5.5-unicode', kinds=['rouge1'])[0, 2]
    for _, each in examples
  ]
  assert found['rouge1']['lead'] == pytest.approx(
    100 * sum(scores) / 3, abs=0.01
  )


def test_long_documents_are_told_apart(monkeypatch):
  lines = [f'The harbour of town number {i} opened again.' for i in range(9)]
  examples = [
    mixed.Example(
      make_document({'article': lines[:count], 'lang': 'en'}), [lines[:1]]
    )
    for count in (3, 5, 9)
  ]
  monkeypatch.setattr(mixed, 'SHORT_UNITS', 4)
  scores = {name: np.array([3.0, 2.0, 1.0]) for name in ('auto', 'lexrank')}
  scores['auto'] = scores['auto'] + np.array([1.0, 2.0, 4.0])
  found = mixed._beside_lexrank(examples, scores)
  assert found == {'auto_minus_lexrank': {'short': [1.0], 'long': [2.0, 4.0]}}
  other = found | {'language': 'de'}
  content = {'sets': {'a': found | {'language': 'en'}, 'b': other}}
  text = mixed.by_length(content)
  assert '+1.00 (+1.00 to +1.00) on 1 of at most 4 sentences' in text
  assert '+3.00 (+2.00 to +4.00) on 2 of more than 4 sentences' in text
  assert mixed.by_length({'sets': {'b': other}}) == ''


def test_long_documents_are_read_at_once_and_in_parts(tmp_path, monkeypatch):
  """A tiny model has 32 positions; documents have 40 sentences, and 3."""
  tiny_bundle(tmp_path / 'tiny')
  monkeypatch.setattr(_models, 'default_folder', lambda: tmp_path / 'tiny')
  monkeypatch.setattr(reach, 'SHORT_UNITS', 30)
  lines = [f'The harbour of town number {n} opened again.' for n in range(70)]
  rows = [
    {'article': lines[:count], 'highlights': lines[:2], 'lang': 'en'}
    for count in (40, 3, 70, 41)
  ]
  text = ''.join(f'{json.dumps(row)}\n' for row in rows)
  (tmp_path / 'towns.valid.jsonl').write_text(text)
  out = tmp_path / 'out.json'
  given = [str(tmp_path), '--sets', 'towns', '--reach', '50', '--out', str(out)]
  reach.main(given)
  content = read_json(out)
  found = content['sets']['towns']
  # Special units are two; 70 sentences are out of reach.
  assert sorted(found['sentences']) == [40, 41]
  assert found['words'] == 16
  assert list(found['rouge1']) == [
    *('lexrank', 'coverage', 'parts', 'liked parts', 'at once')
  ]
  assert 'at once | parts |' in reach.markdown(content)
  reach.main([*given, '--short', '--models', str(tmp_path / 'tiny')])
  found = read_json(out)['sets']['towns']
  assert found['sentences'] == [3]
  assert found['rouge1']['tiny'] == found['rouge1']['at once']


def test_summaries_end_at_a_threshold():
  plan = auto_length.Planned(TEXT, [0.9, 0.1, 0.4], TEXT[:1])
  found = auto_length.measure([plan])
  sentences = {k: v['sentences'] for k, v in found['thresholds'].items()}
  assert (sentences[0.1], sentences[0.15], sentences[0.5]) == (1, 2, 3)
  assert found['people'] == {'words': 8, 'sentences': 1}


@pytest.mark.parametrize(
  'module', [mixed, queries, auto_length, long_documents, reach]
)
def test_tables_of_the_readme_are_those_of_the_results(module):
  name = module.__name__.split('.')[-1]
  text = module.markdown(read_json(RESULTS / f'{name}.json'))
  readme = (RESULTS.parent / 'README.md').read_text('utf-8')
  assert f'<!-- {name}: begin -->\n{text}<!-- {name}: end -->' in readme


def test_texts_are_as_long_as_they_should_be():
  text = long_documents.make_text(12)
  assert text.count('.') == 12
  assert text == long_documents.make_text(12)
