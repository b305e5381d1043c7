"""`stepwise rotowire`: statistics, baselines, tables of scores, mistakes."""

from pathlib import Path
from typing import Annotated

import typer

from stepwise._errors import InputError
from stepwise.cli._extractors import ExtractorName
from stepwise.cli._options import AsJson
from stepwise.cli._output import print_json
from stepwise.cli.evaluate_rotowire import References

app = typer.Typer(
  help='Rotowire: statistics of games, baselines, tables, a checker.',
  no_args_is_help=True,
)

Files = Annotated[
  list[Path], typer.Argument(help='Games with summaries, one file a split.')
]


@app.command()
def stats(
  files: Files, extractor: ExtractorName = 'lookup', as_json: AsJson = False
) -> None:
  """Entries and sentences per oracle plan; games that files share."""
  from stepwise.extraction import (
    PUBLISHED_ENTRIES,
    PUBLISHED_SENTENCES,
    find_extractor,
    plan_statistics,
  )
  from stepwise.rotowire import count_shared, read_games

  extract = find_extractor(extractor)
  games = [read_games(path) for path in files]
  reports = [plan_statistics(each, extract).to_dict() for each in games]
  shared = [
    {'first': files[i].name, 'second': files[j].name, 'games': count}
    for (i, j), count in count_shared(games).items()
  ]
  if as_json:
    by_file = {
      path.name: report for path, report in zip(files, reports, strict=True)
    }
    content = {'extractor': extractor, 'files': by_file, 'shared': shared}
    print_json(content)
    return
  for path, report in zip(files, reports, strict=True):
    print(
      f'{path.name}: {report["games"]} games, {report["without_summary"]} '
      f'without summary; per plan {report["entries"]:.2f} entries (paper '
      f'{PUBLISHED_ENTRIES}), {report["sentences"]:.2f} sentences (paper '
      f'{PUBLISHED_SENTENCES}), {report["relations"]:.2f} relations; longest '
      f'{report["longest"]} steps; extractor {extractor}'
    )
  for row in shared:
    if row['first'] == row['second']:
      print(f'{row["first"]}: {row["games"]} games occur again')
    else:
      print(f'{row["games"]} games of {row["second"]} are in {row["first"]}')


@app.command()
def baseline(
  name: Annotated[
    str, typer.Argument(help='frequent or nearest, of the training plans.')
  ],
  training: Annotated[Path, typer.Argument(help='Training games.')],
  games: Annotated[Path, typer.Argument(help='Games to plan.')],
  roles: Annotated[
    str, typer.Option(help='Who is who in another game: result or table.')
  ] = 'result',
  extractor: ExtractorName = 'lookup',
) -> None:
  """Prints plans that know only habits, as JSON lines.

  frequent: the entries that most training plans have, in their usual order.
  nearest: the plan of the most similar training game. Training games that are
  among the games to plan are left out.
  """
  from stepwise.extraction import find_extractor, oracle_plan
  from stepwise.rotowire import (
    frequent_entry_plans,
    nearest_game_plans,
    read_games,
    same_game,
  )
  from stepwise.tables import plan_to_json

  planners = {'frequent': frequent_entry_plans, 'nearest': nearest_game_plans}
  if name not in planners:
    raise InputError(f'no baseline is named {name!r}: {sorted(planners)}.')
  if roles not in ('result', 'table'):
    raise InputError(f"--roles is {roles!r}; 'result' and 'table' exist.")
  extract = find_extractor(extractor)
  wanted = read_games(games)
  known = {same_game(game) for game in wanted}
  others = [g for g in read_games(training) if same_game(g) not in known]
  plans = [oracle_plan(game, extract) for game in others]
  found = planners[name](wanted, others, plans, roles=roles)
  for game, plan in zip(wanted, found, strict=True):
    print(plan_to_json(plan, game.id))


@app.command()
def table(
  games: Annotated[Path, typer.Argument(help='Games with summaries.')],
  files: Annotated[
    list[Path],
    typer.Argument(help='What systems wrote or planned, one file each.'),
  ],
  references: References = None,
  training: Annotated[
    Path | None,
    typer.Option(help='Training games; the same ones are scored apart.'),
  ] = None,
  paper: Annotated[
    str | None,
    typer.Option(help="Add the paper's numbers of this split: test, valid."),
  ] = None,
  extractor: ExtractorName = 'ensemble',
  as_json: AsJson = False,
) -> None:
  """Systems side by side, as in the paper's tables: Markdown.

  Scores are those that evaluate-rotowire calls strict; references are for CS
  and CO, BLEU is against the summaries of the games. Files are read as there,
  published outputs too.
  """
  from stepwise.extraction import (
    compare_systems,
    find_extractor,
    published_systems,
    read_outputs,
    systems_table,
  )
  from stepwise.rotowire import read_games

  find_extractor(extractor)
  published = published_systems(paper) if paper else []
  all_games = read_games(games)
  systems = {str(path): read_outputs(path, all_games) for path in files}
  rows = compare_systems(
    systems,
    all_games,
    references=references and read_outputs(references, all_games),
    training=read_games(training) if training else (),
    extractor=extractor,
  )
  found = [*rows, *published]
  if as_json:
    print_json(
      {'extractor': extractor, 'rows': [row.to_dict() for row in found]}
    )
  else:
    print(systems_table(found))


@app.command()
def check(
  texts: Annotated[Path, typer.Argument(help='Reports (.txt, .jsonl).')],
  games: Annotated[Path, typer.Argument(help='The games they are about.')],
  first: Annotated[
    int | None, typer.Option(min=1, help='Only so many, from the beginning.')
  ] = None,
  as_json: AsJson = False,
) -> None:
  """Wrong final scores, records, names and days of reports.

  Prints every mistake with its sentence, and how many there are of each kind;
  the exit code is 1 if there is one.
  """
  from stepwise.extraction import read_outputs
  from stepwise.realization import KINDS, check_text
  from stepwise.rotowire import read_games

  all_games = read_games(games)
  outputs = read_outputs(texts, all_games)
  if outputs.kind != 'text':
    raise InputError(f'{texts}: texts are needed, not {outputs.kind}.')
  pairs = list(zip(outputs.texts, all_games, strict=True))[:first]
  found = [(g.id, m) for text, g in pairs for m in check_text(text, g)]
  counts = {kind: sum(m.kind == kind for _, m in found) for kind in KINDS}
  if as_json:
    rows = [{'game': game, **m._asdict()} for game, m in found]
    print_json({'games': len(pairs), 'counts': counts, 'mistakes': rows})
  else:
    for game, mistake in found:
      print(f'{game}: {mistake.kind}: {mistake.words}: {mistake.sentence}')
    numbers = ', '.join(f'{kind} {count}' for kind, count in counts.items())
    print(f'{len(pairs)} games; wrong: {numbers}')
  if found:
    raise typer.Exit(1)
