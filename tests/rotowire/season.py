"""Invented games as many as wanted, each with its own report."""

import copy

import numpy as np

from stepwise.rotowire import parse_game
from tests.rotowire.games import game_fields

_TALKED_ABOUT = ('0', '3', '4')
_COUNTED = {
  'PTS': ('points', range(10, 40)),
  'REB': ('rebounds', range(2, 16)),
  'AST': ('assists', range(1, 14)),
  'STL': ('steals', range(1, 6)),
}


def season_fields(seed: int) -> dict:
  """The JSON of a game whose numbers and report are drawn."""
  rng = np.random.default_rng(seed)
  fields = copy.deepcopy(game_fields())
  home, away = fields['home_line'], fields['vis_line']
  for line in (home, away):
    line['TEAM-WINS'] = str(rng.integers(1, 40))
    line['TEAM-LOSSES'] = str(rng.integers(1, 40))
  home['TEAM-PTS'] = str(rng.integers(100, 130))
  away['TEAM-PTS'] = str(rng.integers(70, 100))
  box = fields['box_score']
  for name, (_, values) in _COUNTED.items():
    drawn = rng.permutation(list(values))
    for place, row in enumerate(_TALKED_ABOUT):
      box[name][row] = str(drawn[place])
  fields['day'] = f'03_{1 + seed % 28:02}_16'
  fields['summary'] = _report(fields, rng).split()
  return fields


def season_game(seed: int):
  return parse_game(season_fields(seed), id=f'season:{seed}')


def _report(fields: dict, rng: np.random.Generator) -> str:
  home, away = fields['home_line'], fields['vis_line']
  records = [f'( {t["TEAM-WINS"]} - {t["TEAM-LOSSES"]} )' for t in (home, away)]
  score = f'{home["TEAM-PTS"]} - {away["TEAM-PTS"]}'
  sentences = [
    f'The {home["TEAM-CITY"]} {home["TEAM-NAME"]} {records[0]} beat the '
    f'{away["TEAM-CITY"]} {away["TEAM-NAME"]} {records[1]} {score} .'
  ]
  players = rng.permutation(_TALKED_ABOUT)[: 2 + int(rng.integers(2))]
  sentences += [_about_player(fields, str(row), rng) for row in players]
  sentences.append(f'The {away["TEAM-NAME"]} travel to meet the Herons again .')
  return ' '.join(sentences)


def _about_player(fields: dict, row: str, rng: np.random.Generator) -> str:
  box = fields['box_score']
  chosen = rng.permutation(list(_COUNTED))[: 2 + int(rng.integers(2))]
  stats = [f'{box[name][row]} {_COUNTED[name][0]}' for name in chosen]
  name = f'{box["FIRST_NAME"][row]} {box["SECOND_NAME"][row]}'
  return f'{name} had {" , ".join(stats[:-1])} and {stats[-1]} .'
