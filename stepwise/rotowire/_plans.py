"""Content plans: what to say, in sentences; as units and from summaries."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from jaxtyping import Bool, Int, Int32

from stepwise._errors import InputError
from stepwise.data import Record, Tokenizer, make_record
from stepwise.rotowire._games import (
  DATE,
  FIRST_NAME,
  MATCH,
  SECOND_NAME,
  TEAM_CITY,
  TEAM_NAME,
  Game,
)
from stepwise.rotowire._lookup import Extraction, lookup_relations
from stepwise.rotowire._mentions import Mention, Sentence, read_sentences
from stepwise.rotowire._table import SPECIAL_UNITS, Relation, Table

# Sentences of relations; within one, in the order of the text.
Plan = tuple[tuple[Relation, ...], ...]

EOS, EOT, BEG = range(len(SPECIAL_UNITS))
# Entries that the field's extractors do not look for.
NAME_TYPES = frozenset({TEAM_NAME, TEAM_CITY, FIRST_NAME, SECOND_NAME, DATE})


# Finds the relations that sentences state, from left to right.
Extractor = Callable[[Sequence[Sentence], Game], list[Extraction]]
# Every number that is measured names the extractor it was measured with.
EXTRACTORS: dict[str, Extractor] = {'lookup': lookup_relations}


def oracle_plan(
  game: Game, extractor: Extractor = lookup_relations, text: str | None = None
) -> Plan:
  """The plan behind a summary, or behind another `text` about the game.

  Each sentence has its entries in the order of the words that state them:
  cities, names, the date and supported relations, as often as they are stated,
  and the name of whoever a pronoun stands for. Sentences without are left out.
  """
  planned = planned_sentences(game, extractor, text)
  return tuple(relations for _, relations in planned if relations)


def planned_sentences(
  game: Game, extractor: Extractor = lookup_relations, text: str | None = None
) -> list[tuple[Sentence, tuple[Relation, ...]]]:
  """All sentences of a summary, each with its part of the oracle plan."""
  sentences = read_sentences(game.summary if text is None else text, game)
  stated: list[list[tuple[int, int, Relation]]] = [[] for _ in sentences]
  for index, sentence in enumerate(sentences):
    for mention in sentence.mentions:
      stated[index] += _names(mention, game)
  for found in extractor(sentences, game):
    if found.supported:
      place = found.number.start, found.mention.start, found.relation
      stated[found.sentence].append(place)
  return [
    (sentence, tuple(relation for *_, relation in sorted(places)))
    for sentence, places in zip(sentences, stated, strict=True)
  ]


def stated_relations(
  text: str, game: Game, extractor: Extractor = lookup_relations
) -> list[Relation]:
  """Relations that a text states, true or not: what RG, CS and CO compare."""
  sentences = read_sentences(text, game)
  return [found.relation for found in extractor(sentences, game)]


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


def _names(mention: Mention, game: Game) -> list[tuple[int, int, Relation]]:
  """Entries of a mention; a place, a rank among equals, and a relation."""
  if mention.entity == MATCH:
    values = {DATE: game.date.isoformat()}
  else:
    values = game.values[mention.entity]
  return [
    (mention.start, rank, Relation(mention.entity, values[type], type))
    for rank, type in enumerate(mention.types)
  ]


@dataclass(frozen=True)
class PlanMasks:
  """Units of a table for `stepwise.decoding.Constraints`.

  Attributes:
    repeatable: sentence breaks, and entries such as team names and cities.
    breaks: sentence breaks and the beginning; forbidding one after another is
      an option of decoding.
  """

  repeatable: Bool[np.ndarray, ' units']
  breaks: Bool[np.ndarray, ' units']


def plan_masks(table: Table) -> PlanMasks:
  """The units that the paper lets a plan repeat, and its sentence breaks."""
  special = np.arange(len(SPECIAL_UNITS))
  entries = np.array([entry.repeatable for entry in table.entries], bool)
  none = np.zeros_like(entries)
  return PlanMasks(
    repeatable=np.concatenate([special == EOS, entries]),
    breaks=np.concatenate([special != EOT, none]),
  )


def table_record(
  table: Table,
  tokenizer: Tokenizer,
  *,
  max_units: int | None = None,
  max_tokens: int | None = None,
  max_unit_tokens: int | None = None,
) -> Record:
  """What models read: `<EOS> <EOT> <BEG>`, then the entries of the table."""
  return make_record(
    table.document,
    tokenizer,
    special_units=SPECIAL_UNITS,
    max_units=max_units,
    max_tokens=max_tokens,
    max_unit_tokens=max_unit_tokens,
  )


def plan_units(plan: Plan, table: Table) -> Int32[np.ndarray, ' steps']:
  """Units to choose, one after another: entries, breaks, the end.

  Every sentence ends with a break, the plan with EOT. Entries that the table
  has no room for are left out, and sentences that lose all theirs.
  """
  units = []
  for sentence in plan:
    places = (table.index.get((r.entity, r.type)) for r in sentence)
    inside = [len(SPECIAL_UNITS) + p for p in places if p is not None]
    units += [*inside, EOS] if inside else []
  return np.array([*units, EOT], np.int32)


def plan_from_units(
  units: Int[np.ndarray, ' steps'] | Sequence[int], table: Table
) -> Plan:
  """The plan that a model chose: reads as far as EOT or an empty slot."""
  sentences: list[list[Relation]] = [[]]
  limit = len(SPECIAL_UNITS) + len(table.entries)
  for unit in map(int, units):
    if unit in (EOT, -1):
      break
    if not -1 < unit < limit:
      raise InputError(
        f'units has {unit}; the units of table {table.id!r} are 0 to '
        f'{limit - 1}, and -1.'
      )
    if unit == EOS:
      sentences.append([])
    elif unit != BEG:
      entry = table.entries[unit - len(SPECIAL_UNITS)]
      sentences[-1].append(entry.relation)
  return tuple(tuple(sentence) for sentence in sentences if sentence)


def plan_example(
  record: Record, plan: Plan, table: Table
) -> dict[str, np.ndarray]:
  """A training example with an empty plan and all of the plan as targets.

  Units that were cut from the record are left out of the targets.
  """
  units = plan_units(plan, table)
  return {
    'tokens': record.tokens,
    'unit_ids': record.unit_ids,
    'plan': np.zeros(0, np.int32),
    'targets': units[units < record.num_units],
  }
