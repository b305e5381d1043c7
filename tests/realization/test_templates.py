"""The template realizer says what a plan says, and nothing else."""

import pytest

from stepwise._errors import InputError
from stepwise.extraction import oracle_plan, stated_relations
from stepwise.realization import TemplateRealizer, known_entries
from stepwise.rotowire import game_table, parse_game
from stepwise.tables import Relation
from tests.rotowire.games import game_fields

HERONS, COMETS, LUND = 'Easton Herons', 'Port Vale Comets', 'J.T. Lund'


@pytest.fixture(scope='module')
def game():
  return parse_game(game_fields())


@pytest.fixture(scope='module')
def relations(game):
  entries = game_table(game, max_units=None).entries
  return {(e.relation.entity, e.relation.type): e.relation for e in entries}


def write(game, *sentences):
  [written] = TemplateRealizer().realize([game], [sentences])
  return written


def test_a_report(game):
  plan = known_entries(oracle_plan(game), game)
  assert write(game, *plan) == (
    'The Easton Herons (12-3) defeated the Port Vale Comets (6-9) 104-92 on '
    'Friday. The Herons were ahead of the Comets at the end of every quarter '
    'on their way to the victory. They did the most damage in the fourth '
    'quarter, as they outscored the Comets by their biggest margin of any '
    'quarter. The Herons shot better from the field and from the three-point '
    'line, won the rebounding battle, finished with more assists and had '
    'fewer turnovers.',
    'The Herons were led by J.T. Lund, who finished with a game-high 31 points,'
    ' 12 assists and four rebounds on 11-of-20 shooting in the victory.',
    'Aron Vey Jr. and Deon Abara each scored 11 points.',
    'Port Vale shot 41 percent from the field.',
    'Milo Quist led the way for the Comets with a team-high 26 points in the '
    'loss. Vey led all players in rebounds, while Lund handed out the most '
    'assists of the game. Easton picked up the win at home, while the Comets '
    'took the loss on the road.',
  )


def test_every_entry_alone_is_said_and_is_true(game, relations):
  """As far as the extractor looks for it."""
  kinds = {'TEAM-SIDE', 'PLAYER-START_POSITION', 'PLAYER-TEAM', 'MATCH-DATE'}
  for relation in relations.values():
    [text] = write(game, (relation,))
    stated = stated_relations(text, game)
    assert all(found in relations.values() for found in stated), text
    if relation.type not in kinds and not relation.type.endswith(
      ('NAME', 'CITY')
    ):
      assert relation in stated, text


def test_whole_rows_are_said_and_true(game, relations):
  entities = dict.fromkeys(entity for entity, _ in relations)
  plan = [
    tuple(r for r in relations.values() if r.entity == entity)
    for entity in entities
  ]
  stated = set(stated_relations(' '.join(write(game, *plan)), game))
  # Nobody is told what somebody has none of.
  numeric = {r for r in relations.values() if r.value.isdecimal()}
  numeric -= {r for r in numeric if r.value == '0'}
  assert stated <= set(relations.values())
  # Equal numbers are all there is to miss.
  assert len(stated) > 0.95 * len(numeric)


def test_what_is_known_is_not_repeated(game, relations):
  name = relations[HERONS, 'TEAM-NAME']
  points = relations[LUND, 'PLAYER-PTS']
  date = relations['match', 'MATCH-DATE']
  assert write(game, (name, date), (name,), (name,), (name, points)) == (
    'The Easton Herons hosted the Port Vale Comets on Friday.',
    'The Herons played at home.',
    '',
    'The Herons were led by J.T. Lund, who finished with a game-high 31 points '
    'in the victory.',
  )


def test_records_dates_and_roles(game, relations):
  def row(entity, *types):
    return tuple(relations[entity, type] for type in types)

  record = row(HERONS, 'TEAM-WINS', 'TEAM-LOSSES')
  date = relations['match', 'MATCH-DATE']
  roles = row('Milo Quist', 'PLAYER-START_POSITION', 'PLAYER-TEAM')
  assert write(
    game, (*record, date), roles, (*roles, *row('Milo Quist', 'PLAYER-STL'))
  ) == (
    'The Easton Herons (12-3) played at home on Friday.',
    'Milo Quist is the starting guard of the Port Vale Comets.',
    'Starting guard Quist of the Comets finished with two steals.',
  )


def test_a_shared_surname_is_written_in_full(game, relations):
  abara = relations['Deon Abara', 'PLAYER-PTS']
  blocks = relations['Deon Abara', 'PLAYER-BLK']
  assert write(game, (abara,), (blocks,)) == (
    'Deon Abara finished with 11 points for the Port Vale Comets.',
    'Deon Abara posted one block.',
  )


def test_a_surname_may_be_a_first_name():
  fields = game_fields()
  fields['box_score']['FIRST_NAME']['1'] = 'Quist'
  points, steals = (
    (Relation('Milo Quist', value, f'PLAYER-{type}'),)
    for value, type in (('26', 'PTS'), ('2', 'STL'))
  )
  assert write(parse_game(fields), points, steals)[1] == (
    'Milo Quist posted two steals.'
  )


def test_a_record_after_the_result(game, relations):
  score = tuple(relations[team, 'TEAM-PTS'] for team in (HERONS, COMETS))
  record = tuple(relations[COMETS, f'TEAM-{t}'] for t in ('WINS', 'LOSSES'))
  [first, second] = write(game, score, record)
  assert first == 'The Easton Herons defeated the Port Vale Comets 104-92.'
  # How the game went waits until the teams are done with.
  assert second.startswith('The Comets (6-9) came up short. The Herons ')


def test_three_clauses_are_two_sentences(game, relations):
  plan = [
    *(relations[HERONS, f'TEAM-{t}'] for t in ('REB', 'FG_PCT')),
    *(relations[COMETS, f'TEAM-{t}'] for t in ('REB', 'FG_PCT')),
  ]
  assert write(game, tuple(plan)) == (
    'The Easton Herons out-rebounded the Port Vale Comets 44-39. The Herons '
    'shot 47 percent from the field, while the Comets shot 41 percent from the '
    'field.',
  )


def test_whose_team_is_clear(game, relations):
  """`on the team` is said only right after a player of it."""
  lund, vey = (relations[p, 'PLAYER-PTS'] for p in (LUND, 'Aron Vey Jr.'))
  comets = relations[COMETS, 'TEAM-FG_PCT']
  assert ' of the team ' in write(game, (lund,), (vey,))[1]
  assert write(game, (lund,), (comets,), (vey,))[2] == (
    'Aron Vey Jr. finished with 11 points for the Herons.'
  )


def test_bad_plans_are_refused(game):
  with pytest.raises(InputError, match='1 games and 0 plans: as many of each'):
    TemplateRealizer().realize([game], [])
  wrong = ((Relation(LUND, '30', 'PLAYER-PTS'),),)
  with pytest.raises(InputError, match="is '31' in the game, not '30'"):
    TemplateRealizer().realize([game], [wrong])
