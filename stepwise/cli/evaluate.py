"""`stepwise evaluate`: ROUGE of one or more systems, compared."""

import datetime
import platform
import random
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stepwise import __version__
from stepwise._errors import InputError
from stepwise._files import write_json, write_text
from stepwise._parallel import available_cores
from stepwise.cli._options import (
  Html,
  Metric,
  Processes,
  SaveJson,
  Seed,
  Unicode,
  metric_name,
)
from stepwise.cli._output import check_folder
from stepwise.cli._runner import PartSize, Runner, runner_options

if TYPE_CHECKING:
  from apache_beam.options.pipeline_options import PipelineOptions

  from stepwise.evaluation import Report


Predictions = Annotated[
  str,
  typer.Argument(
    help='A file of predictions, - for standard input, or lead:3, '
    'lexrank:200w, oracle, ...'
  ),
]
References = Annotated[
  str, typer.Argument(help='Documents with summaries, or summaries.')
]
MoreSystems = Annotated[
  list[str] | None, typer.Argument(help='More systems to compare.')
]
PlotOut = Annotated[
  Path | None, typer.Option('--plot', help='Plot lengths, e.g. to a .png.')
]
Several = Annotated[
  str, typer.Option(help='References of a document: average or best.')
]
AllKinds = Annotated[
  bool,
  typer.Option('--all-kinds', help='ROUGE-3, 4, W and sentence-level L too.'),
]
Sample = Annotated[
  int | None, typer.Option(min=1, help='Random documents to take.')
]


def evaluate(
  context: typer.Context,
  predictions: Predictions,
  references: References,
  more_systems: MoreSystems = None,
  save_json: SaveJson = None,
  html: Html = None,
  plot: PlotOut = None,
  seed: Seed = 0,
  sample: Sample = None,
  metric: Metric = 'rouge-1.5.5',
  unicode: Unicode = False,
  several: Several = 'average',
  all_kinds: AllKinds = False,
  processes: Processes = None,
  runner: Runner = None,
  part_size: PartSize = None,
) -> None:
  """Scores summaries with ROUGE and tests how systems differ.

  Predictions are JSON lines with `summary` or `prediction` (a string or a list
  of sentences), what `infer` and `summarize` write, or a .txt file with a
  summary on every line; - reads the lines of `summarize --json |`. They belong
  to the references of the same `id` or, if there are none, of the same line.
  References may be several: `references`, a list of summaries. Baselines are
  computed from the references' own articles:
  stepwise evaluate lead:3 valid.jsonl lexrank:200w oracle:512 oracle
  With --runner they belong together by their ids alone.
  """
  from rich.console import Console

  from stepwise.cli._report_tables import report_tables

  outputs = _Outputs(save_json, html, plot)
  outputs.check()
  started = time.perf_counter()
  names = [predictions, *(more_systems or [])]
  beam_options = runner_options(context, runner, part_size, processes=processes)
  measuring: dict[str, Any] = {
    'sample': sample,
    'seed': seed,
    'metric': metric_name(metric, unicode),
    'several': several,
    'all_kinds': all_kinds,
  }
  if beam_options is not None:
    report = _report_on_runner(
      names, references, beam_options, part_size, **measuring
    )
  else:
    report = _report(
      names,
      Path(references),
      processes=processes or available_cores(),
      **measuring,
    )
  # Tables keep their shape in a file, whatever the terminal.
  width = None if sys.stdout.isatty() else 160
  Console(width=width).print(report_tables(report))
  outputs.save(
    report,
    [predictions, references, *names[1:]],
    time.perf_counter() - started,
  )


def _report(
  names: list[str],
  references: Path,
  *,
  sample: int | None,
  seed: int,
  metric: str,
  several: str,
  all_kinds: bool,
  processes: int,
) -> 'Report':
  from stepwise.cli._systems import load_system
  from stepwise.data import read_references
  from stepwise.evaluation import check_measuring, compare_systems

  check_measuring(metric, several)
  found = read_references(references, processes=processes)
  rows = _rows(len(found), sample, seed)
  systems = [
    load_system(
      name,
      found,
      rows=rows,
      metric=metric,
      processes=processes,
    )
    for name in names
  ]
  return compare_systems(
    systems,
    [found[row].summaries for row in rows],
    documents=[found[row].document.units for row in rows],
    seed=seed,
    metric=metric,
    several=several,
    kinds=_kinds(all_kinds),
    processes=processes,
  )


def _report_on_runner(
  names: list[str],
  references: str,
  beam_options: 'PipelineOptions',
  part_size: int | None,
  *,
  sample: int | None,
  seed: int,
  metric: str,
  several: str,
  all_kinds: bool,
) -> 'Report':
  from stepwise.beam import (
    PART_SIZE,
    Measuring,
    report_scores,
    score_job,
    take_scores,
  )
  from stepwise.cli._systems import check_articles, find_baseline

  measuring = Measuring(metric, _kinds(all_kinds), several)
  found = {name: find_baseline(name, metric) for name in names}
  scores = score_job(
    references,
    {name: name for name, choose in found.items() if choose is None},
    beam_options,
    measuring=measuring,
    baselines={name: choose for name, choose in found.items() if choose},
    part_size=part_size or PART_SIZE,
  )
  rows = _rows(len(scores), sample, seed)
  chosen = take_scores(scores, rows)
  for name, choose in found.items():
    if choose:
      check_articles(name, (chosen.sizes > 0).tolist())
  return report_scores(chosen, names, seed=seed, measuring=measuring)


def _kinds(all_kinds: bool) -> tuple[str, ...]:
  from stepwise.evaluation import ALL_KINDS, KINDS

  others = [kind for kind in ALL_KINDS if kind not in KINDS]
  return (*KINDS, *others) if all_kinds else KINDS


def _rows(documents: int, sample: int | None, seed: int) -> list[int]:
  """All rows, or a random sample of them in the order of the file."""
  if not documents:
    raise InputError('There are 0 references; at least 1 is needed.')
  if sample is None:
    return list(range(documents))
  if sample > documents:
    raise InputError(
      f'--sample is {sample} but there are only {documents} references.'
    )
  return sorted(random.Random(seed).sample(range(documents), sample))


@dataclass(frozen=True)
class _Outputs:
  """Files to write beside the tables on the terminal."""

  json: Path | None
  html: Path | None
  plot: Path | None

  def check(self) -> None:
    """Complains about a missing folder before the work, not after it."""
    for path in (self.json, self.html, self.plot):
      check_folder(path)

  def save(
    self, report: 'Report', arguments: list[str], seconds: float
  ) -> None:
    from stepwise.evaluation import plot_lengths, render_html

    if self.json:
      about = _provenance(arguments, seconds)
      write_json(self.json, about | report.to_dict())
    if self.html:
      write_text(self.html, render_html(report))
    if self.plot:
      lengths = {system.name: system.lengths for system in report.systems}
      plot_lengths({'Human': report.human_lengths, **lengths}, self.plot)


def _provenance(arguments: list[str], seconds: float) -> dict[str, Any]:
  """What was run; files by name only, as folders mean nothing elsewhere."""
  names = [Path(argument).name for argument in arguments]
  return {
    'command': ' '.join(['stepwise', 'evaluate', *names]),
    'device': f'{platform.machine()}, {available_cores()} cores',
    'versions': {
      'stepwise': __version__,
      'python': platform.python_version(),
      **{name: version(name) for name in ('numpy', 'scipy')},
    },
    'date': datetime.date.today().isoformat(),
    'seconds': round(seconds, 1),
  }
