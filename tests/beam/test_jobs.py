"""Whole jobs: equal to the command line, kept when they are started again."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import apache_beam as beam
import pytest

from stepwise._errors import InputError
from stepwise._files import locked
from stepwise.beam import (
  BadLines,
  BuildOracles,
  BuildRecords,
  PlanTables,
  ReadDocuments,
  ReadParts,
  Summarize,
  make_options,
  run_job,
)
from stepwise.beam._made import split_name
from stepwise.beam._models import _plans
from stepwise.beam._transforms import make_oracles
from stepwise.data import (
  OracleOptions,
  RecordOptions,
  build_records,
  load_tokenizer,
  open_for_reading,
  write_oracles,
)
from stepwise.documents import read_documents
from stepwise.planning import bundled_planner
from stepwise.rotowire import read_games, sample_game
from stepwise.summarization import (
  bulk_settings,
  load_summarizer,
  write_summaries,
)
from stepwise.tables import plan_table, plan_to_json
from tests.beam.slow_work import load_noted, notes
from tests.beam.sources import SCHEME, joined, write_input
from tests.summarization.tiny_bundles import tiny_bundle

OPTIONS = make_options('DirectRunner')


def run(source, target, transform, *, size=4, made_by=None):
  return run_job(
    str(source),
    str(target),
    ReadParts() | transform,
    OPTIONS,
    made_by=made_by or {'test': 1},
    part_size=size,
  )


def oracles_here(source, tmp_path):
  """What the command line writes."""
  write_oracles(source, tmp_path / 'here.jsonl', OracleOptions())
  return (tmp_path / 'here.jsonl').read_text()


def test_oracles_are_those_of_one_machine(tmp_path):
  source = write_input(tmp_path / 'in.jsonl')
  report = run(source, tmp_path / 'out.jsonl', BuildOracles())
  assert joined(tmp_path, 'out-*-of-00003.jsonl') == oracles_here(
    source, tmp_path
  )
  assert report.outputs == [
    str(tmp_path / f'out-{number:05}-of-00003.jsonl') for number in range(3)
  ]
  assert (report.lines, report.bad, report.kept) == (9, 2, 0)
  listed = (tmp_path / 'out.jsonl.errors.jsonl').read_text()
  bad = [json.loads(line) for line in listed.splitlines()]
  assert [(row['file'], row['line']) for row in bad] == [
    (str(source), 3),
    (str(source), 7),
  ]
  assert 'not JSON' in bad[0]['error']
  # Nothing else stays.
  assert {path.suffix for path in tmp_path.iterdir()} == {'.jsonl'}


class TwoOracles(beam.PTransform):
  """Makes two parts; then the machine is gone."""

  def __init__(self, folder):
    super().__init__()
    self._log = str(folder / 'log')

  def expand(self, input_or_inputs):
    return input_or_inputs | beam.Map(make_two, self._log)


def make_two(documents, log):
  with open(log, 'a', encoding='utf-8') as stream:
    stream.write(f'{documents.part.name}\n')
  if len(Path(log).read_text().splitlines()) == 3:
    raise RuntimeError('the machine is gone')
  return make_oracles(documents, OracleOptions())


def test_a_job_that_is_started_again_keeps_what_is_finished(tmp_path):
  source, target = write_input(tmp_path / 'in.jsonl'), tmp_path / 'out.jsonl'
  with pytest.raises(RuntimeError, match='the machine is gone'):
    run(source, target, TwoOracles(tmp_path))
  assert not list(tmp_path.glob('out-*'))
  with pytest.raises(InputError, match='begun with another test'):
    run(source, target, BuildOracles(), made_by={'test': 2})
  report = run(source, target, BuildOracles())
  assert report.kept == 2
  # Bad lines of the parts that were kept are not lost.
  assert report.bad == 2
  assert joined(tmp_path, 'out-*') == oracles_here(source, tmp_path)


def test_files_of_an_earlier_output_do_not_stay(tmp_path):
  source = write_input(tmp_path / 'in.jsonl', bad=False)
  run(source, tmp_path / 'out.jsonl', BuildOracles(), size=3)
  (tmp_path / 'out.jsonl.errors.jsonl').touch()
  run(source, tmp_path / 'out.jsonl', BuildOracles(), size=100)
  names = {path.name for path in tmp_path.iterdir()}
  assert names == {'in.jsonl', 'out-00000-of-00001.jsonl'}


def test_files_may_be_elsewhere_and_compressed(tmp_path):
  source = write_input(tmp_path / 'in.jsonl')
  target = f'{SCHEME}{tmp_path}/out.jsonl.zst'
  report = run(f'{SCHEME}{source}', target, BuildOracles())
  assert report.outputs[0] == f'{SCHEME}{tmp_path}/out-00000-of-00003.jsonl.zst'
  data = b''
  for path in sorted(tmp_path.glob('out-*')):
    with open_for_reading(path) as stream:
      data += stream.read()
  assert data.decode() == oracles_here(source, tmp_path)


def test_parquet_has_the_same_columns_in_every_file(tmp_path):
  from pyarrow import parquet

  source = write_input(tmp_path / 'in.jsonl')
  run(source, tmp_path / 'out.parquet', Summarize('lead'), size=1)
  tables = [parquet.read_table(p) for p in sorted(tmp_path.glob('out-*'))]
  assert len({table.schema for table in tables}) == 1
  rows = [row for table in tables for row in table.to_pylist()]
  write_summaries(
    source, tmp_path / 'here.jsonl', load_summarizer('lead'), made_by={}
  )
  here = (tmp_path / 'here.jsonl').read_text().splitlines()
  filled = [{k: v for k, v in row.items() if v is not None} for row in rows]
  assert filled == [json.loads(line) for line in here]


@pytest.mark.parametrize('gains', [False, True])
def test_records_are_those_of_one_machine(gains, tmp_path):
  source = write_input(tmp_path / 'in.jsonl')
  limits = RecordOptions(max_units=5)
  order = 'selection' if gains else 'document'
  search = OracleOptions(order=order, gains=gains)
  transform = BuildRecords('wordpiece', limits, search)
  report = run(source, tmp_path / 'out.jsonl', transform)
  here = build_records(
    source,
    tmp_path / 'here.jsonl',
    load_tokenizer('wordpiece'),
    limits,
    gains=gains,
  )
  text = (tmp_path / 'here.jsonl').read_text()
  assert joined(tmp_path, 'out-*') == text
  assert report.bad == len(here.bad_lines)
  assert report.counts['documents_cut'] == here.documents_cut > 0


def test_records_take_oracles_that_are_given(tmp_path):
  source = write_input(tmp_path / 'in.jsonl')
  run(source, tmp_path / 'oracles.jsonl', BuildOracles())
  pattern = f'{tmp_path}/oracles-*.jsonl'
  run(source, tmp_path / 'out.jsonl', BuildRecords(oracles=pattern))
  build_records(source, tmp_path / 'here.jsonl', load_tokenizer('wordpiece'))
  text = (tmp_path / 'here.jsonl').read_text()
  assert joined(tmp_path, 'out-*') == text
  # A mistake of the input is one sentence; what was made is kept.
  (tmp_path / 'oracles-00002-of-00003.jsonl').unlink()
  target = tmp_path / 'again.jsonl'
  with pytest.raises(InputError, match=r"no oracle .* 'day-8'"):
    run(source, target, BuildRecords(oracles=pattern))
  assert not list(tmp_path.glob('again-*'))


@pytest.fixture(scope='module')
def bundle(tmp_path_factory):
  return tiny_bundle(tmp_path_factory.mktemp('bundles') / 'tiny')


def test_summaries_are_those_of_one_machine(bundle, tmp_path):
  source = write_input(tmp_path / 'in.jsonl')
  # The folder of the model is copied from where it is, once.
  transform = Summarize(f'{SCHEME}{bundle}', batch_size=2)
  report = run(source, tmp_path / 'out.jsonl', transform)
  summarizer = load_summarizer(bundle)
  options, size = bulk_settings(summarizer, batch_size=2)
  here = write_summaries(
    source,
    tmp_path / 'here.jsonl',
    summarizer,
    options,
    made_by={},
    batch_size=size,
  )
  text = (tmp_path / 'here.jsonl').read_text()
  assert joined(tmp_path, 'out-*') == text
  assert report.counts == here._asdict()
  # Errors stand in their place, and are listed as well.
  assert report.bad == here.errors == 2


def test_a_model_is_loaded_once(tmp_path):
  source = write_input(tmp_path / 'in.jsonl')
  log = tmp_path / 'log'
  log.mkdir()
  transform = Summarize(partial(load_noted, str(log)))
  report = run(source, tmp_path / 'out.jsonl', transform, size=2)
  assert len(report.outputs) == 6
  assert len(notes(log)) == 1


@pytest.mark.parametrize(
  'model', [pytest.param('default', marks=pytest.mark.slow), 'salience']
)
def test_plans_are_those_of_one_machine(model, tmp_path):
  game = json.loads(sample_game().read_text())
  source, target = tmp_path / 'games.json', tmp_path / 'out.jsonl'
  source.write_text(json.dumps([game, {'no': 'game'}, game]))
  report = run_job(
    str(source), str(target), PlanTables(model), OPTIONS, made_by={}
  )
  assert report.bad == 1
  source.write_text(json.dumps([game, game]))
  games = read_games(source)
  if model == 'default':
    plans = bundled_planner()(games)
  else:
    from stepwise.rotowire import salient_plan

    plans = [salient_plan(game) for game in games]
  lines = [
    plan_to_json(plan, name)
    for plan, name in zip(plans, ('games.json:0', 'games.json:2'), strict=True)
  ]
  assert joined(tmp_path, 'out-*').splitlines() == lines


def test_every_file_may_be_a_table(tmp_path):
  folder = Path(__file__).parents[2] / 'examples' / 'tables'
  for name in ('sales', 'weather'):
    text = (folder / name / f'{name}.csv').read_text()
    (tmp_path / f'{name}.csv').write_text(text)
  (tmp_path / 'empty.csv').touch()
  report = run_job(
    f'{tmp_path}/*.csv',
    f'{tmp_path}/out.jsonl',
    PlanTables(),
    OPTIONS,
    made_by={},
    part_size=2,
    whole_files=True,
  )
  assert (report.lines, report.bad, len(report.outputs)) == (2, 1, 2)
  here = [
    json.dumps(
      plan_table(tmp_path / f'{name}.csv').to_dict(), ensure_ascii=False
    )
    for name in ('sales', 'weather')
  ]
  assert joined(tmp_path, 'out-*').splitlines() == here


@pytest.mark.slow
def test_samples_are_drawn_for_the_same_rows_of_a_batch(tmp_path):
  """A part may be the rest of the games: its batch is full elsewhere."""
  games = read_games(sample_game()) * 3
  planner = bundled_planner()
  options = replace(planner.options, batch_size=2)
  planner = replace(planner, options=options)
  parts = [(games[:2], True), (games[2:], False)]
  found = [
    p for part, first in parts for p in _plans(planner, part, first=first)
  ]
  assert found == planner(games)


def test_one_job_at_a_time_writes_an_output(tmp_path):
  source, target = write_input(tmp_path / 'in.jsonl'), tmp_path / 'out.jsonl'
  with (
    locked(target),
    pytest.raises(InputError, match=r'Another run is writing .*out\.jsonl'),
  ):
    run(source, target, BuildOracles())
  with pytest.raises(InputError, match='no such folder'):
    run(source, tmp_path / 'absent' / 'out.jsonl', BuildOracles())
  assert [path.name for path in tmp_path.iterdir()] == ['in.jsonl']


def test_bad_lines_are_a_side_output(tmp_path):
  """Of transforms in a pipeline of one's own; documents are split in it."""
  source = write_input(tmp_path / 'in.jsonl')
  with beam.Pipeline(options=OPTIONS) as pipeline:
    read = pipeline | ReadDocuments(str(source), 4)
    units = read | beam.FlatMap(
      lambda part: [
        (line.number, len(line.content.units))
        for line in part.lines
        if not isinstance(line.content, InputError)
      ]
    )
    bad = read | BadLines() | beam.Map(str)
    check(
      units,
      [
        (number, len(document.units))
        for number, document in zip(
          (1, 2, 4, 6, 8, 9, 10, 11, 12),
          read_documents(source, on_error=lambda line: None),
          strict=True,
        )
      ],
    )
    check(
      bad | beam.Map(lambda line: line.split(': ')[0]),
      [f'{source}:3', f'{source}:7'],
    )


def check(collection, expected):
  from apache_beam.testing.util import assert_that, equal_to

  label = f'Check {expected[0]}'
  assert_that(collection, equal_to(expected), label=label)


def test_an_empty_input_is_named(tmp_path):
  (tmp_path / 'in.jsonl').write_text('\n')
  with pytest.raises(InputError, match=r'in\.jsonl: empty'):
    run(tmp_path / 'in.jsonl', tmp_path / 'out.jsonl', BuildOracles())
  assert [path.name for path in tmp_path.iterdir()] == ['in.jsonl']


def test_names_of_outputs():
  assert split_name('a/out.v2.jsonl') == ('a/out.v2', '.jsonl')
  assert split_name('s3://b/out.parquet') == ('s3://b/out', '.parquet')
  for name in ('out', 'out.txt', 'out.parquet.gz', 'out.gz'):
    with pytest.raises(InputError, match=r'must end in \.jsonl'):
      split_name(name)


@pytest.mark.parametrize(
  ('runner', 'arguments', 'message'),
  [
    ('SomeRunner', [], 'must be one of DirectRunner, DaskRunner'),
    ('DirectRunner', ['--direct_workers=2'], 'no option --direct_workers'),
    ('DirectRunner', ['--direct_num_workers=two'], 'does not take'),
  ],
)
def test_options_that_beam_does_not_know_are_refused(
  runner, arguments, message
):
  with pytest.raises(InputError, match=message):
    make_options(runner, arguments)
