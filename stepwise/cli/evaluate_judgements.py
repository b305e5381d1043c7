"""`stepwise evaluate-judgements`: scores of systems that people compared."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stepwise.cli._options import SaveJson
from stepwise.cli._output import check_folder, save_numbers

if TYPE_CHECKING:
  from rich.console import Group

  from stepwise.evaluation import BestWorstScores

Judgements = Annotated[Path, typer.Argument(help='CSV, a row for an answer.')]


def evaluate_judgements(
  judgements: Judgements, save_json: SaveJson = None
) -> None:
  """Best-worst scaling of systems from pairwise human judgements.

  The columns of the CSV file are item, system_a, system_b and better (one of
  the two, or tie), and question if there was more than one. Scores go from -1,
  always worst, to 1, always best.
  """
  from rich.console import Console

  from stepwise.evaluation import best_worst_scaling, read_judgements

  check_folder(save_json)
  questions = best_worst_scaling(read_judgements(judgements))
  console = Console()
  for question, scores in questions.items():
    console.print(_report(question, scores))
  save_numbers(save_json, {q: asdict(s) for q, s in questions.items()})


def _report(question: str, scores: 'BestWorstScores') -> 'Group':
  from rich.console import Group
  from rich.table import Table
  from rich.text import Text

  table = Table('System', title=Text(question))
  for header in ('Judgements', 'Best-worst'):
    table.add_column(header, justify='right')
  for system, score in scores.scores.items():
    count = scores.judgements[system]
    table.add_row(Text(system), str(count), f'{score:+.2f}')
  significant = [
    f'{pair.first} - {pair.second}: {pair.difference:+.2f}, p = {pair.p:.3g}'
    for pair in scores.pairs
    if pair.significant
  ]
  heading = "Significant by Tukey's test, p < 0.05:"
  return Group(table, Text('\n'.join([heading, *(significant or ['none'])])))
