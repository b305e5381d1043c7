"""An invented game: teams, players and a report, written for the tests."""

TEAM_STATS = {
  'PTS_QTR1': ('30', '20'),
  'PTS_QTR2': ('25', '24'),
  'PTS_QTR3': ('21', '31'),
  'PTS_QTR4': ('28', '17'),
  'FT_PCT': ('81', '70'),
  'PTS': ('104', '92'),
  'AST': ('27', '18'),
  'LOSSES': ('3', '9'),
  'WINS': ('12', '6'),
  'REB': ('44', '39'),
  'TOV': ('11', '15'),
  'FG3_PCT': ('38', '29'),
  'FG_PCT': ('47', '41'),
}
PLAYER_STATS = (
  *('START_POSITION', 'MIN', 'PTS', 'FGM', 'FGA', 'FG_PCT', 'FG3M', 'FG3A'),
  *('FG3_PCT', 'FTM', 'FTA', 'FT_PCT', 'OREB', 'DREB', 'REB', 'AST', 'TO'),
  *('STL', 'BLK', 'PF'),
)
# Visitors first, as in the real data.
PLAYERS = {
  ('Milo Quist', 'Milo', 'Quist', 'Port Vale'): (
    'G 35 26 10 19 53 3 7 43 3 4 75 1 5 6 9 2 2 0 3'
  ),
  ('Deon Abara', 'Deon', 'Abara', 'Port Vale'): (
    'F 30 11 4 9 44 0 0 0 3 3 100 2 6 8 1 1 0 1 4'
  ),
  ('Pim Oster', 'Pim', 'Oster', 'Port Vale'): (
    'N/A 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0'
  ),
  ('J.T. Lund', 'J.T.', 'Lund', 'Easton'): (
    'G 36 31 11 20 55 5 8 63 4 4 100 0 4 4 12 3 1 0 2'
  ),
  ('Aron Vey Jr.', 'Aron', 'Vey', 'Easton'): (
    'C 28 11 5 8 63 0 0 0 1 2 50 4 9 13 2 2 0 3 4'
  ),
  ('Cole Abara', 'Cole', 'Abara', 'Easton'): ' '.join(['N/A'] * 20),
}
SUMMARY = (
  'The Easton Herons ( 12 - 3 ) defeated the Port Vale Comets ( 6 - 9 ) '
  '104 - 92 on Friday . '
  'J.T. Lund led the way with thirty - one points , 12 assists and four '
  'rebounds , and he shot 11 - of - 20 from the field . '
  'Fans will remember the evening . '
  'Aron Vey and Deon Abara had 11 points apiece . '
  'The Comets shot 41 percent , and their bench was quiet . '
  'Quist finished with 26 .'
)


def line(side):
  stats = {f'TEAM-{name}': pair[side] for name, pair in TEAM_STATS.items()}
  names = (('Herons', 'Easton'), ('Comets', 'Port Vale'))[side]
  return {**stats, 'TEAM-NAME': names[0], 'TEAM-CITY': names[1]}


def box_score():
  rows = []
  for (name, first, second, city), stats in PLAYERS.items():
    identity = {
      'PLAYER_NAME': name,
      'FIRST_NAME': first,
      'SECOND_NAME': second,
      'TEAM_CITY': city,
    }
    rows.append(
      {**identity, **dict(zip(PLAYER_STATS, stats.split(), strict=True))}
    )
  return {
    column: {str(i): row[column] for i, row in enumerate(rows)}
    for column in rows[0]
  }


def game_fields(summary=SUMMARY):
  """The JSON of the game."""
  return {
    'home_line': line(0),
    'vis_line': line(1),
    'box_score': box_score(),
    'day': '03_11_16',
    'summary': summary.split(),
  }
