"""`stepwise data`: check document files, build training records."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stepwise._errors import InputError
from stepwise._parallel import available_cores
from stepwise.cli._extractors import ExtractorName
from stepwise.cli._options import (
  AsJson,
  MaxSteps,
  MaxTokens,
  MaxUnits,
  MaxUnitTokens,
  Method,
  MethodOption,
  Metric,
  Processes,
  Reading,
  Seed,
  TokenizerOption,
  Twin,
  Unicode,
  metric_name,
)
from stepwise.cli._output import print_json
from stepwise.cli._progress import counted
from stepwise.cli._runner import (
  PartSize,
  Runner,
  RunnerCommand,
  describe_job,
  runner_options,
)
from stepwise.cli._tables import Templates

if TYPE_CHECKING:
  from apache_beam.options.pipeline_options import PipelineOptions

  from stepwise.data import BuildReport, FileReport
  from stepwise.tables import TableForm

_SHOWN_DUPLICATES = 10

app = typer.Typer(
  help='Check document files and build training records.',
  no_args_is_help=True,
)


@app.command()
def check(
  files: Annotated[
    list[Path],
    typer.Argument(help='Documents: .jsonl, .csv, .parquet, .story, .txt ...'),
  ],
  as_json: AsJson = False,
) -> None:
  """Reports counts, lengths, duplicates and every bad line.

  Give all splits at once to see duplicates across them. The exit code is 0 if
  every line is good, 1 if some are bad, 2 if a file cannot be read.
  """
  from stepwise.data import check_files

  reports = check_files(files)
  if as_json:
    print_json([dataclasses.asdict(report) for report in reports])
  else:
    for report in reports:
      print('\n'.join(_describe_file(report)))
  if any(report.bad_lines for report in reports):
    raise typer.Exit(1)


def _describe_file(report: 'FileReport') -> list[str]:
  lines = [
    f'{report.path}: {report.documents} documents, '
    f'{report.without_summary} without summary, '
    f'{len(report.duplicates)} duplicates, {len(report.bad_lines)} bad lines'
  ]
  for name in ('units', 'words', 'summary_units'):
    counts = getattr(report, name)
    if counts is not None:
      lines.append(
        f'  {name.replace("_", " "):<14} mean {counts.mean:.1f}, '
        f'smallest {counts.smallest}, median {counts.median:g}, '
        f'95% {counts.percentile_95:g}, largest {counts.largest}'
      )
  lines += [
    f'  duplicate: {duplicate.id} is {duplicate.first_id} '
    f'of {duplicate.first_path}'
    for duplicate in report.duplicates[:_SHOWN_DUPLICATES]
  ]
  if len(report.duplicates) > _SHOWN_DUPLICATES:
    more = len(report.duplicates) - _SHOWN_DUPLICATES
    lines.append(f'  and {more} more duplicates: --json lists all')
  return lines + [f'  bad: {bad}' for bad in report.bad_lines]


@app.command(cls=RunnerCommand)
def build(
  context: typer.Context,
  source: Annotated[str, typer.Argument(metavar='IN', help='Documents.')],
  target: Annotated[
    str, typer.Argument(metavar='OUT', help='Records: JSON lines.')
  ],
  tokenizer: TokenizerOption = 'wordpiece',
  oracle: Annotated[
    str | None,
    typer.Option(help='Output of `stepwise oracle`; default: search now.'),
  ] = None,
  gains: Annotated[
    bool,
    typer.Option('--gains', help='Keep the ROUGE gains of all units.'),
  ] = False,
  reference: Annotated[
    bool,
    typer.Option(
      '--reference',
      help='Keep the summary, to learn what whole ones are worth.',
    ),
  ] = False,
  method: MethodOption = Method.greedy,
  metric: Metric = 'rouge-1.5.5',
  unicode: Unicode = False,
  twin: Twin = False,
  max_units: MaxUnits = None,
  max_tokens: MaxTokens = None,
  max_unit_tokens: MaxUnitTokens = None,
  processes: Processes = None,
  runner: Runner = None,
  part_size: PartSize = None,
) -> None:
  """Writes training records: token ids, units and oracle of every document.

  Limits count special units. What is cut is reported, bad lines are skipped
  and listed. The exit code is 0, 1 if there were bad lines, 2 if a file cannot
  be used.
  """
  from stepwise.data import (
    RecordOptions,
    build_records,
    load_tokenizer,
    read_oracles,
    search_options,
  )

  beam_options = runner_options(context, runner, part_size, processes=processes)
  options = RecordOptions(
    special_units=() if twin else ('eot', 'beg'),
    max_units=max_units,
    max_tokens=max_tokens,
    max_unit_tokens=max_unit_tokens,
    reference=reference,
  )
  if gains and oracle is not None:
    raise InputError('gains are measured with the oracle: none can be given.')
  if beam_options is not None:
    load_tokenizer(tokenizer)
    search = search_options(method.value, metric_name(metric, unicode), gains)
    arguments = tokenizer, options, oracle or search
    _build_on_runner(source, target, arguments, beam_options, part_size)
    return
  with counted(f'Records of {Path(source).name}') as advance:
    report = build_records(
      source,
      target,
      load_tokenizer(tokenizer),
      options,
      oracles=None if oracle is None else read_oracles(oracle),
      gains=gains,
      method=method.value,
      metric=metric_name(metric, unicode),
      processes=processes or available_cores(),
      on_progress=advance,
    )
  _tell_build(target, report)


def _tell_build(target: str, report: 'BuildReport') -> None:
  for bad in report.bad_lines:
    print(f'bad: {bad}')
  print(f'{target}: {_describe_build(report, len(report.bad_lines))}')
  if report.bad_lines:
    raise typer.Exit(1)


def _build_on_runner(
  source: str,
  target: str,
  arguments: tuple[Any, ...],
  beam_options: 'PipelineOptions',
  part_size: int | None,
) -> None:
  from stepwise.beam import PART_SIZE, BuildRecords, ReadParts, run_job
  from stepwise.data import BuildReport

  done = run_job(
    source,
    target,
    ReadParts() | BuildRecords(*arguments),
    beam_options,
    made_by={'options': repr(arguments)},
    part_size=part_size or PART_SIZE,
  )
  print(describe_job(done))
  counts: dict[str, Any] = dict(done.counts)
  report = BuildReport(**counts)
  print(f'{target}: {_describe_build(report, done.bad)}')
  if done.bad:
    print(f'bad lines: see {done.errors}')
    raise typer.Exit(1)


@app.command()
def sample(
  source: Annotated[Path, typer.Argument(metavar='IN', help='JSON lines.')],
  parts: Annotated[
    list[str],
    typer.Argument(metavar='OUT:N...', help='Files, and lines for each.'),
  ],
  seed: Seed = 0,
) -> None:
  """Draws random lines into files that share none, in the order of IN."""
  from stepwise.data import sample_lines

  sizes = dict(_size(part) for part in parts)
  if len(sizes) < len(parts):
    raise InputError(f'{" ".join(parts)} name a file twice.')
  sample_lines(source, sizes, seed=seed)
  for path, size in sizes.items():
    print(f'{path}: {size} lines')


def _size(part: str) -> tuple[Path, int]:
  name, colon, size = part.rpartition(':')
  if not colon or not name or not size.isdigit() or not int(size):
    raise InputError(f'{part!r} is not FILE:N, such as report.jsonl:5000.')
  return Path(name), int(size)


def _describe_build(report: 'BuildReport', bad: int) -> str:
  return (
    f'{report.records} records; {report.documents_cut} documents lack '
    f'{report.units_cut} units, {report.units_shortened} units are shortened; '
    f'left out: {report.without_summary} without summary, '
    f'{bad} bad lines'
  )


Excluded = Annotated[
  list[Path], typer.Option(help='Leave out games that are also in this file.')
]


@app.command()
def rotowire(
  source: Annotated[
    Path, typer.Argument(metavar='IN', help='Games with summaries.')
  ],
  target: Annotated[
    Path, typer.Argument(metavar='OUT', help='Records: JSON lines.')
  ],
  tokenizer: TokenizerOption = 'wordpiece',
  extractor: ExtractorName = 'lookup',
  reading: Reading = None,
  max_units: MaxUnits = None,
  max_unit_tokens: MaxUnitTokens = None,
  max_steps: MaxSteps = None,
  once: Annotated[
    bool,
    typer.Option(help='Leave out what a plan has said before.'),
  ] = False,
  exclude: Excluded = [],  # noqa: B006, typer copies it.
) -> None:
  """Writes training records of planners: tables and oracle plans of games."""
  from stepwise.data import load_tokenizer, save_records
  from stepwise.extraction import find_extractor, oracle_plan
  from stepwise.rotowire import PlanRecordOptions, plan_records, read_games
  from stepwise.tables import PlanRecordReport

  extract = find_extractor(extractor)
  options = PlanRecordOptions(
    reading or 'paper', max_units, max_unit_tokens, max_steps, once
  )
  games = read_games(source)
  report = PlanRecordReport()
  records = plan_records(
    games,
    [oracle_plan(game, extract) for game in games],
    load_tokenizer(tokenizer),
    options,
    report=report,
    exclude=[game for path in exclude for game in read_games(path)],
  )
  save_records(target, records)
  print(
    f'{target}: {report.records} records, {report.entries} entries, '
    f'{report.sentences} sentences; {report.entries_lost} entries had no room, '
    f'{report.entries_unread} are of types that the table lacks, '
    f'{report.units_shortened} units are shortened; left out: '
    f'{len(report.excluded)} excluded, {len(report.too_long)} too long, '
    f'{len(report.without_plan)} without a plan; extractor {extractor}'
  )


@app.command()
def tables(
  source: Annotated[
    Path,
    typer.Argument(
      metavar='IN', help='JSON lines with table and text, or a folder of pairs.'
    ),
  ],
  target: Annotated[
    Path, typer.Argument(metavar='OUT', help='Records: JSON lines.')
  ],
  templates: Templates = None,
  tokenizer: TokenizerOption = 'wordpiece',
  max_units: MaxUnits = None,
  max_unit_tokens: MaxUnitTokens = None,
  max_steps: MaxSteps = None,
) -> None:
  """Writes training records of planners: tables, and what texts say of them.

  Entries that a text says are found by its numbers and names. Without
  templates they are drafted from the first table. OUT.schema.json keeps them:
  `stepwise train OUT` puts it into the bundle, which then refuses tables of
  other schemas.
  """
  from stepwise._files import write_text
  from stepwise.data import load_tokenizer, save_records
  from stepwise.tables import (
    MAX_UNITS,
    PlanRecordReport,
    pair_records,
    read_tables,
  )

  report = PlanRecordReport()
  form = _form(source, templates)
  records = pair_records(
    read_tables(source),
    form,
    load_tokenizer(tokenizer),
    report,
    max_units=max_units or MAX_UNITS,
    max_unit_tokens=max_unit_tokens,
    max_steps=max_steps,
  )
  save_records(target, records)
  write_text(form_path(target), (report.form or form).to_json())
  for bad in report.bad:
    print(f'bad: {bad}')
  print(
    f'{target}: {report.records} records, {report.entries} entries, '
    f'{report.sentences} sentences, schema {form.name}; {report.entries_lost} '
    f'entries had no room, {report.units_shortened} units are shortened; left '
    f'out: {len(report.too_long)} too long, {len(report.without_plan)} without '
    f'a plan, {len(report.bad)} bad tables'
  )
  if report.bad:
    raise typer.Exit(1)


def form_path(records: Path) -> Path:
  """Where records of tables keep the schema of the tables."""
  return Path(f'{records}.schema.json')


def _form(source: Path, templates: Path | None) -> 'TableForm':
  from stepwise.rotowire import TABLES
  from stepwise.tables import (
    TableForm,
    draft_templates,
    load_schema,
    read_tables,
  )

  stem = source.name.partition('.')[0]
  if templates is not None:
    if templates.suffix != '.toml':
      raise InputError(f'--templates is {templates}; a .toml file is needed.')
    name = load_schema(templates).name
    text = templates.read_text('utf-8')
  else:
    first = next(
      (i for i in read_tables(source) if not isinstance(i.sheets, InputError)),
      None,
    )
    if first is None or isinstance(first.sheets, InputError):
      raise InputError(f'{source}: no table can be read.')
    name, text = stem, draft_templates(first.sheets, stem)
  name = name or stem
  if name in TABLES:
    raise InputError(f'schema {name!r} is that of games; choose another name.')
  return TableForm(name, text)


@app.command()
def realize(
  games: Annotated[
    Path, typer.Argument(help='Rotowire games with summaries: .json, .json.zst')
  ],
  target: Annotated[
    Path, typer.Argument(metavar='OUT', help='Examples: JSON lines.')
  ],
  tokenizer: TokenizerOption = 'wordpiece',
  context: Annotated[
    bool, typer.Option(help='Date, teams and players besides the plan.')
  ] = True,
  slots: Annotated[
    bool,
    typer.Option('--slots', help='Names and numbers are written by reference.'),
  ] = False,
  covered: Annotated[
    bool,
    typer.Option('--covered', help='Only sentences whose numbers are known.'),
  ] = False,
  max_input: Annotated[
    int | None, typer.Option(min=1, help='Leave out longer inputs.')
  ] = None,
  max_target: Annotated[
    int | None, typer.Option(min=1, help='Leave out longer sentences.')
  ] = None,
  exclude: Excluded = [],  # noqa: B006
) -> None:
  """Writes training examples of the realizer, one for every sentence.

  The plan of a sentence is the part of the game's oracle plan that it states.
  """
  from stepwise.data import load_tokenizer
  from stepwise.realization import (
    ExampleOptions,
    InputFormat,
    make_examples,
    save_examples,
  )
  from stepwise.rotowire import read_games, same_game

  format, loaded = InputFormat(context, slots), load_tokenizer(tokenizer)
  known = {same_game(game) for path in exclude for game in read_games(path)}
  examples, report = make_examples(
    [game for game in read_games(games) if same_game(game) not in known],
    loaded,
    ExampleOptions(format, covered, max_input, max_target),
  )
  save_examples(target, examples, loaded, format)
  print(
    f'{target}: {report.written} examples of {report.sentences} sentences; '
    f'{report.uncovered} not covered and {report.too_long} too long left out'
  )
  if slots:
    print(f'{report.partly} sentences are used in part')
    for reason, count in report.reasons.items():
      print(f'{count} sentences {reason}')
