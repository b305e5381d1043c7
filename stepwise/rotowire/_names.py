"""Names in plans of games: left out where they are compared, or added."""

from itertools import chain

from stepwise.rotowire._games import (
  FIRST_NAME,
  NAME_TYPES,
  SECOND_NAME,
  TEAM_CITY,
  TEAM_NAME,
  Game,
)
from stepwise.tables import Plan, Relation


def planned_relations(plan: Plan) -> list[Relation]:
  """A plan as the field's extractors would see it: no names, cities, dates."""
  relations = chain.from_iterable(plan)
  return [r for r in relations if r.type not in NAME_TYPES]


def with_names(plan: Plan, game: Game) -> Plan:
  """Adds the names that a plan without names must say.

  Whoever a sentence speaks of is named before the first entry about them: with
  first name or city where the plan first does so, later without.
  """
  kinds = {team.entity: (TEAM_CITY, TEAM_NAME) for team in game.teams}
  kinds |= {p.entity: (FIRST_NAME, SECOND_NAME) for p in game.players}
  known: set[str] = set()
  named = []
  for sentence in plan:
    entries: list[Relation] = []
    here: set[str] = set()
    for relation in sentence:
      entity = relation.entity
      if entity in kinds and entity not in here:
        types = kinds[entity][entity in known :]
        values = game.values[entity]
        entries += [Relation(entity, values[type], type) for type in types]
        here.add(entity)
      entries.append(relation)
    known |= here
    named.append(tuple(entries))
  return tuple(named)
