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
    'Friday. The Herons led at the end of every quarter on their way to the '
    'victory over the Comets. The Herons were at their best in the fourth '
    'quarter, as they outscored the Comets by their biggest margin of any '
    'period. The Herons shot better from the field and from the three-point '
    'line, won the rebounding battle, finished with more assists and '
    'committed fewer turnovers.',
    'J.T. Lund led the way for the Herons with a game-high 31 points, to go '
    'along with 12 assists and four rebounds on 11-of-20 shooting in the '
    'victory.',
    'Aron Vey Jr. and Deon Abara scored 11 points apiece.',
    'The Comets shot 41 percent from the field.',
    'Milo Quist led the way for the Comets with a team-high 26 points in the '
    'losing effort. Vey led all players in rebounds, while Lund handed out the '
    'most assists of the game. The victory came at home for the Herons, while '
    'the Comets took the loss on the road.',
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
    'J.T. Lund led the way for the Herons with a game-high 31 points in the '
    'victory.',
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
    'Deon Abara added one block.',
  )


def test_a_surname_may_be_a_first_name():
  fields = game_fields()
  fields['box_score']['FIRST_NAME']['1'] = 'Quist'
  points, steals = (
    (Relation('Milo Quist', value, f'PLAYER-{type}'),)
    for value, type in (('26', 'PTS'), ('2', 'STL'))
  )
  assert write(parse_game(fields), points, steals)[1] == (
    'Milo Quist finished with two steals.'
  )


def test_bad_plans_are_refused(game):
  with pytest.raises(InputError, match='1 games and 0 plans: as many of each'):
    TemplateRealizer().realize([game], [])
  wrong = ((Relation(LUND, '30', 'PLAYER-PTS'),),)
  with pytest.raises(InputError, match="is '31' in the game, not '30'"):
    TemplateRealizer().realize([game], [wrong])
