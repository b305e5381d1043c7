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
  from stepwise.tables import Relation

Games = Annotated[Path, typer.Argument(help='Training games with summaries.')]
Output = Annotated[
  Path, typer.Argument(help='Folder to write: words, weights, model card.')
]
HeldOut = Annotated[
  Path | None,
  typer.Option('--held-out', help='Games to measure precision and recall on.'),
]
Labels = Annotated[
  Path | None,
  typer.Option(
    '--labels',
    help='What the summaries state, by an extractor to learn from: relations '
    'as evaluate-rotowire reads them. Default: what the tables support.',
  ),
]
HeldOutLabels = Annotated[
  Path | None,
  typer.Option('--held-out-labels', help='The same of the held-out games.'),
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
  labels: Labels = None,
  held_out_labels: HeldOutLabels = None,
  models: Models = 'conv,conv,conv,lstm,lstm,lstm',
  epochs: Epochs = 2,
  least_count: LeastCount = 20,
  seed: Seed = 0,
  save_json: SaveJson = None,
) -> None:
  """Trains classifiers of entity-number pairs.

  Pairs are labelled by their tables, or by another extractor with --labels.
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
  if held_out_labels and not held_out:
    raise InputError('--held-out-labels needs --held-out, the games of them.')
  tested = read_games(held_out) if held_out else []
  truth = _stated(held_out_labels, tested) if held_out_labels else None
  known = {same_game(game) for game in tested}
  given = read_games(games)
  stated = _stated(labels, given) if labels else None
  kept = [i for i, game in enumerate(given) if same_game(game) not in known]
  trained_on = [given[i] for i in kept]
  config = ExtractorTraining(kinds, epochs, least_count=least_count, seed=seed)
  trained = train_extractor(
    trained_on,
    config,
    stated=stated and [stated[i] for i in kept],
    on_update=_print_update,
  )
  files = {
    '--held-out': held_out,
    '--labels': labels,
    '--held-out-labels': held_out_labels,
  }
  command = (
    f'stepwise train-extractor {games.name} {output.name}'
    + ''.join(f' {name} {path.name}' for name, path in files.items() if path)
    + f' --models {models} --epochs {epochs} --least-count {least_count}'
    + f' --seed {seed}'
  )
  report = {
    'command': command,
    'date': datetime.date.today().isoformat(),
    'training_games': len(trained_on),
    'words': len(trained.vocabulary.words),
    'labels': labels.name if labels else 'the tables',
    'agreement': _agreement(trained, tested, truth) if tested else {},
  }
  save_extractor(output, trained, _card(report))
  print(_card(report))
  save_numbers(save_json, report)


def _print_update(model: str, update: int, total: int, loss: float) -> None:
  if update % 200 == 0 or update == total:
    print(f'{model}: update {update} of {total}, loss {loss:.4f}', flush=True)


def _stated(path: Path, games: list['Game']) -> list[list['Relation']]:
  from stepwise.extraction import read_outputs

  outputs = read_outputs(path, games)
  if outputs.kind != 'tuples':
    raise InputError(f'{path}: relations are needed, not {outputs.kind}.')
  return [list(relations) for (relations,) in outputs.plans]


def _agreement(
  trained: 'Trained',
  games: list['Game'],
  truth: list[list['Relation']] | None,
) -> dict[str, dict[str, float]]:
  """Against distant labels, and against those that were given."""
  from stepwise.evaluation import content_selection
  from stepwise.extraction import (
    evaluate_extractor,
    lookup_relations,
    stated_relations,
  )
  from stepwise.extraction.learned import LearnedExtractor, Trained

  conv = Trained(trained.vocabulary, trained.models[:1])
  extractors = {
    'lookup': lookup_relations,
    'conv': LearnedExtractor(conv),
    'ensemble': LearnedExtractor(trained),
  }
  report: dict[str, dict[str, float]] = {}
  for name, extractor in extractors.items():
    report[name] = evaluate_extractor(extractor, games).to_dict()
    if truth is not None:
      stated = [stated_relations(g.summary, g, extractor) for g in games]
      report[name]['f1'] = content_selection(stated, truth).f1
  return report


def _card(report: dict) -> str:
  lines = [
    '# Record extractor for Rotowire',
    '',
    'Classifies pairs of an entity and a number in a sentence: an entry type,',
    'or none. It reads words (names, dates and sizes of amounts are',
    'placeholders) and their distances from the pair. Models vote by the mean',
    f'of their probabilities. Labels: {report["labels"]}.',
    '',
    f'Trained on {report["training_games"]} games, {report["date"]}, with',
    f'{report["words"]} words:',
    '',
    f'    {report["command"]}',
  ]
  if report['agreement']:
    lines += [
      '',
      'Against distant labels, pairs of held-out games, in percent; and F1',
      'against the held-out labels, if there were any:',
      '',
      '| extractor | games | precision | recall | F1 |',
      '|---|---|---|---|---|',
    ]
  lines += [
    f'| {name} | {a["games"]} | {a["precision"]:.2f} | {a["recall"]:.2f} | '
    + (f'{a["f1"]:.2f} |' if 'f1' in a else '- |')
    for name, a in report['agreement'].items()
  ]
  return '\n'.join(lines) + '\n'
