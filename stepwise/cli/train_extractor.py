"""`stepwise train-extractor`: train the record extractors of Rotowire."""

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stepwise._errors import InputError
from stepwise.cli._options import SaveJson, Seed
from stepwise.cli._output import check_folder, save_numbers

if TYPE_CHECKING:
  from stepwise.extraction.learned import Trained
  from stepwise.rotowire import Game

Games = Annotated[Path, typer.Argument(help='Training games with summaries.')]
Output = Annotated[
  Path, typer.Argument(help='Folder to write: words, weights, model card.')
]
HeldOut = Annotated[
  Path | None,
  typer.Option('--held-out', help='Games to measure precision and recall on.'),
]
Models = Annotated[
  str, typer.Option(help='Kinds of the models, conv or lstm; conv comes first.')
]
Epochs = Annotated[int, typer.Option(min=1, help='Over all pairs.')]
LeastCount = Annotated[
  int, typer.Option(min=1, help='Times that a word of the vocabulary occurs.')
]


def train_extractor(
  games: Games,
  output: Output,
  held_out: HeldOut = None,
  models: Models = 'conv,lstm',
  epochs: Epochs = 1,
  least_count: LeastCount = 20,
  seed: Seed = 0,
  save_json: SaveJson = None,
) -> None:
  """Trains classifiers of entity-number pairs, labelled by their tables.

  The extractor `conv` is the first model alone, `ensemble` all of them. Games
  that are also among the held-out ones are not trained on.
  """
  from stepwise.extraction.learned import (
    ExtractorTraining,
    check_target,
    save_extractor,
    train_extractor,
  )
  from stepwise.rotowire import read_games, same_game

  check_folder(save_json)
  check_target(output)
  kinds = tuple(kind.strip() for kind in models.split(','))
  if kinds[0] != 'conv' or set(kinds) - {'conv', 'lstm'}:
    raise InputError(
      f'--models is {models!r}; conv must come first, then conv or lstm.'
    )
  tested = read_games(held_out) if held_out else []
  known = {same_game(game) for game in tested}
  trained_on = [g for g in read_games(games) if same_game(g) not in known]
  config = ExtractorTraining(kinds, epochs, least_count=least_count, seed=seed)
  trained = train_extractor(trained_on, config, on_update=_print_update)
  command = (
    f'stepwise train-extractor {games.name} {output.name}'
    + (f' --held-out {held_out.name}' if held_out else '')
    + f' --models {models} --epochs {epochs} --least-count {least_count}'
    + f' --seed {seed}'
  )
  report = {
    'command': command,
    'date': datetime.date.today().isoformat(),
    'training_games': len(trained_on),
    'words': len(trained.vocabulary.words),
    'agreement': _agreement(trained, tested) if tested else {},
  }
  save_extractor(output, trained, _card(report))
  print(_card(report))
  save_numbers(save_json, report)


def _print_update(model: str, update: int, total: int, loss: float) -> None:
  if update % 200 == 0 or update == total:
    print(f'{model}: update {update} of {total}, loss {loss:.4f}', flush=True)


def _agreement(
  trained: 'Trained', games: list['Game']
) -> dict[str, dict[str, float]]:
  from stepwise.extraction import evaluate_extractor, lookup_relations
  from stepwise.extraction.learned import LearnedExtractor, Trained

  conv = Trained(trained.vocabulary, trained.models[:1])
  extractors = {
    'lookup': lookup_relations,
    'conv': LearnedExtractor(conv),
    'ensemble': LearnedExtractor(trained),
  }
  return {
    name: evaluate_extractor(extractor, games).to_dict()
    for name, extractor in extractors.items()
  }


def _card(report: dict) -> str:
  lines = [
    '# Record extractor for Rotowire',
    '',
    'Classifies pairs of an entity and a number in a sentence: an entry type,',
    'or none. It reads words (names, dates and amounts are placeholders) and',
    'their distances from the pair. Trained by distant supervision: the labels',
    'are the entries of the table that have the value.',
    '',
    f'Trained on {report["training_games"]} games, {report["date"]}, with',
    f'{report["words"]} words:',
    '',
    f'    {report["command"]}',
  ]
  if report['agreement']:
    lines += [
      '',
      'Against distant labels, pairs of held-out games, in percent:',
      '',
      '| extractor | games | precision | recall |',
      '|---|---|---|---|',
    ]
  lines += [
    f'| {name} | {a["games"]} | {a["precision"]:.2f} | {a["recall"]:.2f} |'
    for name, a in report['agreement'].items()
  ]
  return '\n'.join(lines) + '\n'
