"""`stepwise evaluate-rotowire`: texts or plans about games, scored."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stepwise._errors import InputError
from stepwise.cli._extractors import ExtractorName
from stepwise.cli._options import SaveJson
from stepwise.cli._output import check_folder, save_numbers

if TYPE_CHECKING:
  from rich.table import Table

  from stepwise.extraction import RotowireScores

Predictions = Annotated[
  Path,
  typer.Argument(help='Texts (.txt, .jsonl), plans (.jsonl) or *tuples.txt.'),
]
Games = Annotated[
  Path, typer.Argument(help='The games they are about (.json, .json.zst).')
]
References = Annotated[
  Path | None,
  typer.Option(help="A file like the predictions; default: games' summaries."),
]
Skip = Annotated[
  int, typer.Option(min=0, help='Games at the beginning that do not count.')
]


def evaluate_rotowire(
  predictions: Predictions,
  games: Games,
  references: References = None,
  skip: Skip = 0,
  extractor: ExtractorName = 'ensemble',
  save_json: SaveJson = None,
) -> None:
  """Scores generated texts or content plans about Rotowire games.

  RG: relations that the table supports. CS and CO: the relations, and their
  order, of the human summaries; `strict` compares names as strings, as the
  field's public script does, and number words as digits, `raw` number words as
  strings too, `table` what names and words mean. Predictions are in the order
  of the games:
  texts, one a line of a .txt file or under `prediction` in JSON lines; plans,
  under `plan` in JSON lines, sentences of (entity, value, type); relations of
  the field's extractors, entity|value|type, in a file named *tuples.txt.
  """
  from rich.console import Console

  from stepwise.extraction import evaluate_outputs, find_extractor, read_outputs
  from stepwise.rotowire import read_games

  check_folder(save_json)
  find_extractor(extractor)
  all_games = read_games(games)
  outputs = read_outputs(predictions, all_games)
  truth = read_outputs(references, all_games) if references else None
  if skip >= len(all_games):
    raise InputError(
      f'--skip is {skip}, but {games} has {len(all_games)} games: none is left.'
    )
  scores = evaluate_outputs(
    outputs.after(skip),
    all_games[skip:],
    references=truth and truth.after(skip),
    extractor=extractor,
  )
  Console().print(_table(scores, predictions.name))
  save_numbers(save_json, scores.to_dict())


def _table(scores: 'RotowireScores', name: str) -> 'Table':
  from rich.table import Table

  table = Table(
    title=f'{name}: {scores.kind} on {scores.games} games',
    caption=(
      f'extractor of predictions: {scores.extractor}; of references: '
      f'{scores.reference_extractor}'
    ),
  )
  table.add_column('names and amounts')
  for header in ('RG #', 'RG P', 'CS P', 'CS R', 'CS F1', 'CO', 'BLEU'):
    table.add_column(header, justify='right')
  rg, bleu = scores.rg, scores.bleu and scores.bleu.score
  for name, cs, co in (
    ('strict', scores.strict.cs, scores.strict.co),
    ('raw', scores.raw.cs, scores.raw.co),
    ('table', scores.cs, scores.co),
  ):
    generated = (rg.count, rg.precision) if rg else (None, None)
    cells = (*generated, cs.precision, cs.recall, cs.f1, co, bleu)
    table.add_row(name, *('-' if v is None else f'{v:.2f}' for v in cells))
  return table
