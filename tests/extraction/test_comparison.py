"""Systems side by side: the same numbers as one by one."""

import json

import pytest
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.cli.main import app
from stepwise.extraction import (
  Outputs,
  compare_systems,
  evaluate_outputs,
  oracle_plan,
  published_systems,
)
from stepwise.rotowire import parse_game
from tests.rotowire.season import season_fields

FIELDS = [season_fields(seed) for seed in range(4)]
GAMES = [parse_game(fields) for fields in FIELDS]
# The report of every game is that of the next one.
WRONG = Outputs(
  'text', texts=tuple(game.summary for game in [*GAMES[1:], GAMES[0]])
)
PLANS = Outputs('plan', plans=tuple(oracle_plan(game) for game in GAMES))


def test_rows_are_the_strict_scores():
  systems = {'wrong': WRONG, 'plans': PLANS}
  rows = list(compare_systems(systems, GAMES, extractor='lookup'))
  names = [(row.system, row.games, row.count) for row in rows]
  assert names == [(n, 'all', 4) for n in (*systems, 'human summaries')]
  for row, outputs in zip(rows, systems.values(), strict=False):
    scores = evaluate_outputs(outputs, GAMES, extractor='lookup')
    assert (row.cs, row.co) == (scores.strict.cs, scores.strict.co)
    assert row.rg_precision == (scores.rg and scores.rg.precision)
    assert row.bleu == (scores.bleu and scores.bleu.score)
  wrong, plans, human = rows
  assert wrong.cs.f1 < 100
  assert (human.cs.f1, human.co) == (100, 100)
  assert human.bleu == pytest.approx(100)
  assert human.words == pytest.approx(wrong.words)
  assert plans.words is plans.sentences is plans.bleu is None


def test_games_of_the_training_are_scored_apart():
  rows = list(
    compare_systems(
      {'wrong': WRONG}, GAMES, training=GAMES[:1], extractor='lookup'
    )
  )
  counts = {row.games: row.count for row in rows[:3]}
  assert counts == {'all': 4, 'shared': 1, 'others': 3}
  alone = evaluate_outputs(WRONG.only([0]), GAMES[:1], extractor='lookup')
  assert rows[1].cs == alone.strict.cs


def test_references_are_for_selection_and_ordering_alone():
  """BLEU is against texts, whatever relations are compared with."""
  (row, _) = compare_systems(
    {'wrong': WRONG}, GAMES, references=WRONG, extractor='lookup'
  )
  assert (row.cs.f1, row.co) == (100, 100)
  assert row.bleu < 100


def test_the_paper_is_quoted_with_its_own_f1():
  """All but one of its scores follow from precision and recall."""
  for split in ('test', 'valid'):
    for row in published_systems(split):
      if row.cs is None or (split, row.system) == (
        *('test', 'paper: stepwise ETCSum'),
      ):
        continue
      harmonic = 2 / (1 / row.cs.precision + 1 / row.cs.recall)
      assert row.cs.f1 == pytest.approx(harmonic, abs=0.11), row.system
  with pytest.raises(InputError, match="no split 'train'"):
    published_systems('train')


def test_one_command_makes_the_table(tmp_path):
  games = tmp_path / 'games.json'
  games.write_text(json.dumps(FIELDS))
  # Named alike, in two folders.
  texts = [tmp_path / folder / 'wrong.txt' for folder in ('a', 'b')]
  for path in texts:
    path.parent.mkdir()
    path.write_text('\n'.join(WRONG.texts) + '\n')
  command = ['rotowire', 'table', games, *texts, '--extractor', 'lookup']
  command = [*map(str, command), '--training', str(games), '--paper', 'valid']
  result = CliRunner().invoke(app, command)
  assert result.exit_code == 0, result.output
  head, _, first, *others = result.stdout.splitlines()
  assert head.startswith('| system | games | RG # | RG P | CS P |')
  assert first.startswith(f'| {texts[0]} | 4 all | ')
  assert others[-1].endswith('| 337.10 | 13.49 |')
  content = json.loads(CliRunner().invoke(app, [*command, '--json']).stdout)
  assert [row['system'] for row in content['rows']][:3] == [
    *map(str, texts),
    'human summaries',
  ]
