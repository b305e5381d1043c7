"""Invented games of two whole teams, with starters and substitutes."""

import numpy as np

from stepwise.rotowire import parse_game
from tests.rotowire.games import PLAYER_STATS, game_fields, line

_FIRST = ('Abel', 'Bram', 'Cyro', 'Dov', 'Emre', 'Falk', 'Goran', 'Hale')
_SECOND = {
  'Port Vale': (
    *('Ibsen', 'Jarra', 'Kolb', 'Lenz', 'Moss', 'Nerud', 'Ozols', 'Pirk'),
  ),
  'Easton': (
    *('Quill', 'Renko', 'Sorg', 'Tamm', 'Ulmer', 'Varga', 'Wirth', 'Yarrow'),
  ),
}
_POSITIONS = ('G', 'G', 'F', 'F', 'C', 'N/A', 'N/A', 'N/A')


def full_game(seed: int):
  """Of every other game two players a team scored ten points, if any."""
  rng = np.random.default_rng(seed)
  fields = game_fields()
  fields['home_line'], fields['vis_line'] = _lines(rng)
  rows = [
    _player(
      *(rng, f'{_FIRST[place]} {second}', city, _POSITIONS[place]),
      most=9 if seed % 2 or place < 2 else 2,
    )
    for city, surnames in _SECOND.items()
    for place, second in enumerate(surnames)
  ]
  fields['box_score'] = {
    column: {str(i): row[column] for i, row in enumerate(rows)}
    for column in rows[0]
  }
  fields['day'] = f'03_{1 + seed % 28:02}_16'
  return parse_game(fields, id=f'full:{seed}')


def _lines(rng):
  """Both teams; somebody wins."""
  lines = line(0), line(1)
  for number, values in enumerate(lines):
    quarters = rng.integers(15, 36, 4)
    values.update(
      {f'TEAM-PTS_QTR{q}': str(p) for q, p in enumerate(quarters, 1)}
    )
    values['TEAM-PTS'] = str(2 * (quarters.sum() // 2) + number)
    values['TEAM-FG_PCT'] = str(rng.integers(35, 56))
    values['TEAM-REB'] = str(rng.integers(35, 56))
  return lines


def _player(rng, name, city, position, most):
  fgm, fg3m = rng.integers(1, most + 1), rng.integers(0, most // 2 + 1)
  ftm = rng.integers(0, most)
  made = {'FGM': fgm + fg3m, 'FG3M': fg3m, 'FTM': ftm}
  tried = {f'{s[:-1]}A': n + rng.integers(0, 6) for s, n in made.items()}
  drawn = {'REB': rng.integers(0, 16), 'AST': rng.integers(0, 14)}
  drawn |= {'STL': rng.integers(0, 5), 'BLK': rng.integers(0, 5)}
  counts = {'MIN': rng.integers(10, 40), **made, **tried, **drawn}
  counts['PTS'] = 2 * fgm + 3 * fg3m + ftm
  first, second = name.split()
  return {
    **dict.fromkeys(PLAYER_STATS, '0'),
    **{statistic: str(value) for statistic, value in counts.items()},
    'START_POSITION': position,
    'PLAYER_NAME': name,
    'FIRST_NAME': first,
    'SECOND_NAME': second,
    'TEAM_CITY': city,
  }
