"""Scores of many machines: the report of one, to the last digit."""

import json
import random
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.beam import Measuring, make_options, report_scores, score_job
from stepwise.beam._parts import Part
from stepwise.beam._scores import (
  JoinScores,
  _keyed_predictions,
  _keyed_references,
  _score,
  check_scores,
  load_scores,
  save_scores,
)
from stepwise.data import (
  pair_predictions,
  read_predictions,
  read_references,
)
from stepwise.evaluation import NamedSummaries, compare_systems
from tests.beam.sources import write_input

OPTIONS = make_options('DirectRunner')
MEASURINGS = [Measuring(), Measuring('rouge-score', several='best')]


def second_unit(reference):
  return reference.document.units[1:2]


def write_predictions(path, references, *, fail=()):
  rows = []
  for number, reference in enumerate(references):
    row = {'id': reference.document.id, 'summary': reference.document.units[:2]}
    if number in fail:
      row = {'line': number, 'error': 'no document'}
    rows.append(json.dumps(row))
  path.write_text('\n'.join(rows) + '\n')
  return str(path)


def report_here(name, references, measuring):
  predictions = pair_predictions(
    name, read_predictions(name), [r.document for r in references]
  )
  return compare_systems(
    [
      NamedSummaries(
        name,
        [p.sentences for p in predictions],
        sum(bool(p.error) for p in predictions),
      ),
      NamedSummaries('second', [second_unit(r) for r in references]),
    ],
    [reference.summaries for reference in references],
    documents=[reference.document.units for reference in references],
    metric=measuring.metric,
    several=measuring.several,
  )


@pytest.mark.parametrize('measuring', MEASURINGS)
def test_the_report_is_that_of_one_machine(measuring, tmp_path):
  source = write_input(tmp_path / 'in.jsonl', bad=False)
  references = read_references(source)
  name = write_predictions(tmp_path / 'p.jsonl', references, fail=(3,))
  scores = score_job(
    str(source),
    {name: name},
    OPTIONS,
    measuring=measuring,
    baselines={'second': second_unit},
    part_size=3,
  )
  found = report_scores(scores, [name, 'second'], measuring=measuring)
  assert found == report_here(name, references, measuring)
  assert found.systems[0].errors == 1


@pytest.fixture(scope='module')
def rows(tmp_path_factory):
  """What workers give of every document, in the order of the input."""
  path = tmp_path_factory.mktemp('rows') / 'in.jsonl'
  write_input(path, bad=False)
  part = Part('000001-0', (str(path),), 11)
  return [
    _score(Measuring(), (), {'second': second_unit}, (key, [found]))
    for key, found in _keyed_references(part)
  ]


def joined(parts):
  combine = JoinScores(Measuring(), ['second'])
  accumulators = []
  for part in parts:
    accumulator = combine.create_accumulator()
    for row in part:
      accumulator = combine.add_input(accumulator, row)
    accumulators.append(combine.compact(accumulator))
  return combine.extract_output(combine.merge_accumulators(accumulators))


@pytest.mark.parametrize('seed', range(5))
def test_rows_may_come_in_any_order_and_company(seed, rows):
  rng = random.Random(seed)
  mixed = rng.sample(rows, len(rows))
  cuts = sorted(rng.sample(range(len(rows)), 3))
  parts = np.split(np.arange(len(rows)), cuts)
  one = joined([rows])
  other = joined([[mixed[i] for i in part] for part in parts])
  assert report_scores(other, ['second']) == report_scores(one, ['second'])
  assert one.places[:, 1].tolist() == list(range(1, 12))


def test_scores_are_saved_whole(rows, tmp_path):
  scores = replace(joined([rows]), mistakes=('one', 'two'))
  save_scores(scores, str(tmp_path / 'scores.npz'))
  loaded = load_scores(str(tmp_path / 'scores.npz'))
  assert loaded.mistakes == scores.mistakes
  assert report_scores(loaded, ['second']) == report_scores(scores, ['second'])


@pytest.mark.parametrize(
  ('spoil', 'message'),
  [
    (lambda rows: rows[1:], 'has no prediction for 1 of 4 references'),
    (lambda rows: [*rows, rows[0]], 'several predictions for the same id'),
    (lambda rows: [{'summary': 'A.'}, *rows[1:]], r'p\.jsonl:1: no id'),
    (lambda rows: [{'id': 'day-0'}, *rows[1:]], r'p\.jsonl:1: no .prediction'),
  ],
)
def test_what_does_not_belong_together_is_named(spoil, message, tmp_path):
  source = write_input(tmp_path / 'in.jsonl', 4, bad=False)
  path = tmp_path / 'p.jsonl'
  write_predictions(path, read_references(source))
  rows = spoil([json.loads(line) for line in path.read_text().splitlines()])
  path.write_text('\n'.join(json.dumps(row) for row in rows) + '\n')
  # What the pipeline does, without one.
  groups = defaultdict(list)
  references = Part('000001-0', (str(source),), 4)
  predictions = Part('000001-0', (str(path),), len(rows))
  for key, found in (
    *_keyed_references(references),
    *_keyed_predictions(predictions, 'p'),
  ):
    groups[key].append(found)
  scores = [_score(Measuring(), ('p',), {}, each) for each in groups.items()]
  combine = JoinScores(Measuring(), ['p'])
  with pytest.raises(InputError, match=message):
    check_scores(combine.extract_output(scores))


def test_references_need_ids_of_their_own(tmp_path):
  source = write_input(tmp_path / 'in.jsonl', 2, bad=False)
  part = Part('000001-0', (str(source),), 2)
  two = [found for _, found in _keyed_references(part)]
  scores = _score(Measuring(), (), {'second': second_unit}, ('twice', two))
  assert scores.mistakes == ("several references have the id 'twice'.",)
  source.write_text('{"summary": "Rain."}\n')
  [(key, found)] = _keyed_references(replace(part, items=1))
  assert key == '' and 'in.jsonl:1: no id' in found.mistake
  with pytest.raises(InputError, match='0 references'):
    check_scores(joined([[]]))
