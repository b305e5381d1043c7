"""`stepwise evaluate`: ROUGE of one or more systems, compared."""

import datetime
import json
import os
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stepwise import __version__
from stepwise._errors import InputError
from stepwise._parallel import available_cores

if TYPE_CHECKING:
  from stepwise.evaluation import Report


@dataclass(frozen=True)
class _Outputs:
  """Files to write beside the tables on the terminal."""

  json: Path | None
  html: Path | None
  plot: Path | None

  def check(self) -> None:
    """Complains about a missing folder before the work, not after it."""
    for path in (self.json, self.html, self.plot):
      if path and not path.parent.is_dir():
        raise InputError(f'{path}: no such folder: {path.parent}.')

  def save(self, report: 'Report', arguments: list[str]) -> None:
    from stepwise.evaluation import plot_lengths, render_html

    if self.json:
      content = {**_provenance(arguments), **report.to_dict()}
      _write(self.json, json.dumps(content, indent=2) + '\n')
    if self.html:
      _write(self.html, render_html(report))
    if self.plot:
      lengths = {system.name: system.lengths for system in report.systems}
      plot_lengths({'Human': report.human_lengths, **lengths}, self.plot)


def evaluate(
  predictions: Annotated[
    str,
    typer.Argument(help='A file of predictions, or lead:N, oracle, oracle:N.'),
  ],
  references: Annotated[
    Path, typer.Argument(help='Documents with summaries, or summaries.')
  ],
  more_systems: Annotated[
    list[str] | None, typer.Argument(help='More systems to compare.')
  ] = None,
  json_out: Annotated[
    Path | None, typer.Option('--json', help='Write all numbers.')
  ] = None,
  html_out: Annotated[
    Path | None, typer.Option('--html', help='Write a page.')
  ] = None,
  plot_out: Annotated[
    Path | None, typer.Option('--plot', help='Plot lengths, e.g. to a .png.')
  ] = None,
  seed: Annotated[
    int, typer.Option(min=0, help='Of bootstrap and sample.')
  ] = 0,
  sample: Annotated[
    int | None, typer.Option(min=1, help='Random documents to take.')
  ] = None,
  unicode: Annotated[
    bool, typer.Option('--unicode', help='Words of all scripts, not ASCII.')
  ] = False,
  processes: Annotated[
    int | None, typer.Option(min=1, help='Default: one per core.')
  ] = None,
) -> None:
  """Scores summaries with ROUGE and tests how systems differ.

  Predictions are JSON lines with `summary` or `prediction` (a string or a list
  of sentences) or a .txt file with a summary on every line, in the order of
  the references. Baselines are computed from the references' own articles:
  stepwise evaluate lead:3 valid.jsonl oracle:512 oracle
  """
  from rich.console import Console

  from stepwise.cli._report_tables import report_tables
  from stepwise.cli._systems import load_system
  from stepwise.data import read_references
  from stepwise.evaluation import compare_systems

  outputs = _Outputs(json_out, html_out, plot_out)
  outputs.check()
  tokenization = 'unicode' if unicode else 'ascii'
  cores = processes or available_cores()
  documents = read_references(references, processes=cores)
  rows = _rows(len(documents), sample, seed)
  systems = [
    load_system(
      name, documents, rows=rows, tokenization=tokenization, processes=cores
    )
    for name in [predictions, *(more_systems or [])]
  ]
  report = compare_systems(
    systems,
    [documents[row].summary for row in rows],
    documents=[documents[row].units for row in rows],
    seed=seed,
    tokenization=tokenization,
    processes=cores,
  )
  # Tables keep their shape in a file, whatever the terminal.
  Console(width=None if sys.stdout.isatty() else 160).print(
    report_tables(report)
  )
  outputs.save(report, [predictions, str(references), *(more_systems or [])])


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


def _provenance(arguments: list[str]) -> dict[str, str]:
  """What was run; files by name only, as folders mean nothing elsewhere."""
  names = [Path(argument).name for argument in arguments]
  return {
    'command': ' '.join(['stepwise', 'evaluate', *names]),
    'version': __version__,
    'date': datetime.date.today().isoformat(),
  }


def _write(path: Path, text: str) -> None:
  beside = path.with_name(f'{path.name}.partial')
  beside.write_text(text, encoding='utf-8')
  os.replace(beside, path)
