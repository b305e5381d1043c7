"""A table in, its plan or its report out, with everything that led to it."""

import dataclasses
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from stepwise._errors import InputError
from stepwise.pages import html, tag
from stepwise.tables._plans import Plan
from stepwise.tables._salience import (
  Choice,
  Wishes,
  arrange,
  salient_choices,
)
from stepwise.tables._schema import Schema, load_schema
from stepwise.tables._sentences import write_sentences
from stepwise.tables._sheets import make_sheets, read_sheets
from stepwise.tables._table import Relation, Table
from stepwise.tables._tabulate import tabulate
from stepwise.tables._words import capitalised, listed

# More is always too much to ask of a small table, or to read at once.
_MOST_ENTRIES = 1000


@dataclass(frozen=True)
class TablePlan:
  """What to say about a table.

  Attributes:
    plan: sentences of entries; iterating gives them.
    choices: the same entries, the most salient first, each with its reasons;
      none of a trained planner.
    table: that it is about.
    planner: who made it.
    warnings: what a reader may not expect, one sentence each.
  """

  plan: Plan
  choices: tuple[Choice, ...]
  table: Table = field(repr=False)
  planner: str = 'salience'
  warnings: tuple[str, ...] = ()

  def __iter__(self) -> Iterator[tuple[Relation, ...]]:
    return iter(self.plan)

  def __len__(self) -> int:
    return len(self.plan)

  def __str__(self) -> str:
    """One sentence a line, an entry as type(entity)=value."""
    return '\n'.join(
      f'{number:2}. ' + ', '.join(f'{r.type}({r.entity})={r.value}' for r in s)
      for number, s in enumerate(self.plan, 1)
    )

  def to_dict(self) -> dict[str, Any]:
    """Plain values for JSON; `plan` is in the layout of files of plans."""
    return {
      'id': self.table.id,
      'planner': self.planner,
      'plan': [[list(relation) for relation in s] for s in self.plan],
      'choices': [
        {
          **choice.entry.relation._asdict(),
          'score': round(choice.score, 4),
          'reasons': list(choice.reasons),
        }
        for choice in self.choices
      ],
      'warnings': list(self.warnings),
    }

  def to_markdown(self) -> str:
    """A numbered list, with the reasons of every entry."""
    reasons = {c.entry.relation: '; '.join(c.reasons) for c in self.choices}
    lines = [f'# {title_of(self.table)}', '']
    for number, sentence in enumerate(self.plan, 1):
      names = dict.fromkeys(r.entity for r in sentence)
      lines.append(f'{number}. {listed([name or "All" for name in names])}')
      lines += [
        f'   - {r.type}: **{r.value}**'
        f'{f" ({why})" if (why := reasons.get(r)) else ""}'
        for r in sentence
      ]
    return '\n'.join(lines) + '\n'

  def _repr_html_(self) -> str:
    items = (
      tag('li', ', '.join(f'{r.entity} {r.type}: {r.value}' for r in sentence))
      for sentence in self.plan
    )
    return tag('ol', *items)


@dataclass(frozen=True)
class TableSentence:
  """A sentence of a report, and the entries that it says."""

  text: str
  entries: tuple[Relation, ...]


@dataclass(frozen=True)
class TableReport:
  """What was written about a table; iterating gives its sentences."""

  sentences: tuple[TableSentence, ...]
  plan: TablePlan = field(repr=False)
  realizer: str = 'template'

  @property
  def text(self) -> str:
    return ' '.join(s.text for s in self.sentences if s.text)

  @property
  def title(self) -> str:
    return title_of(self.plan.table)

  @property
  def words(self) -> int:
    return len(self.text.split())

  @property
  def warnings(self) -> tuple[str, ...]:
    return self.plan.warnings

  def __iter__(self) -> Iterator[TableSentence]:
    return iter(self.sentences)

  def __len__(self) -> int:
    return len(self.sentences)

  def __str__(self) -> str:
    return self.text

  def to_dict(self) -> dict[str, Any]:
    """The plan's, and the sentences."""
    return {
      **self.plan.to_dict(),
      'title': self.title,
      'realizer': self.realizer,
      'words': self.words,
      'text': self.text,
      'sentences': [
        {'text': s.text, 'entries': [r._asdict() for r in s.entries]}
        for s in self.sentences
      ],
    }

  def to_markdown(self) -> str:
    return f'# {self.title}\n\n{self.text}\n'

  def _repr_html_(self) -> str:
    return html(tag('h3', self.title), tag('p', self.text))


@runtime_checkable
class TablePlanner(Protocol):
  """A trained planner, such as `stepwise.planning.load_planner` gives."""

  @property
  def name(self) -> str: ...

  def open(self, data: Any, templates: Any = None) -> Table:
    """A table as it reads it."""
    ...

  def plan_tables(self, tables: Sequence[Table]) -> list[Plan]:
    """Plans, in the order of the tables."""
    ...


def title_of(table: Table) -> str:
  """Given ones are kept; others are made of the name of the table."""
  return table.title or capitalised(table.id.replace('_', ' ')) or 'Table'


def open_table(
  data: Any, templates: Schema | str | os.PathLike[str] | None = None
) -> Table:
  """The entries of a file, folder, frame, or what `make_sheets` takes.

  Args:
    data: a path, or the table itself.
    templates: a template file, or what it says.
  """
  if isinstance(data, Table):
    return data
  if templates is not None and not isinstance(templates, Schema):
    templates = load_schema(templates)
  if isinstance(data, str | os.PathLike):
    path = Path(data)
    return tabulate(read_sheets(path), templates, id=path.name.split('.')[0])
  return tabulate(make_sheets(data), templates)


def plan_table(
  data: Any,
  *,
  templates: Schema | str | os.PathLike[str] | None = None,
  entries: int | None = None,
  must_include: Iterable[str] = (),
  about: Iterable[str] = (),
  planner: TablePlanner | None = None,
) -> TablePlan:
  """What to say about a table.

  Args:
    data: a file (CSV, TSV, JSON, JSON lines, Parquet), a folder of them, a
      pandas or pyarrow frame, a list of objects, or columns by name.
    templates: a template file, or what it says; without, it is guessed.
    entries: how many at most; without, as many as fit the table.
    must_include: entities, columns or `entity:column` that must be there.
    about: entities or columns that the plan is confined to.
    planner: a trained one, which takes no wishes; without, `salience` plans.
  """
  wishes = Wishes(
    _check_number('entries', entries),
    _names('must_include', must_include),
    _names('about', about),
  )
  if planner is not None:
    if wishes != Wishes():
      raise InputError(
        'a trained planner takes no entries, must_include or about; the '
        'salience planner does.'
      )
    table = planner.open(data, templates)
    [plan] = planner.plan_tables([table])
    return planned(plan, table, planner.name)
  table = open_table(data, templates)
  return _plan(table, salient_choices(table, wishes))


def report_table(
  data: Any,
  *,
  templates: Schema | str | os.PathLike[str] | None = None,
  entries: int | None = None,
  words: int | None = None,
  must_include: Iterable[str] = (),
  about: Iterable[str] = (),
  planner: TablePlanner | None = None,
) -> TableReport:
  """A report about a table: plain sentences, every number from the table.

  Args:
    data, templates, entries, must_include, about, planner: see `plan_table`.
    words: how many at most; what is least salient goes.
  """
  _check_number('words', words)
  plan = plan_table(
    data,
    templates=templates,
    entries=entries,
    must_include=must_include,
    about=about,
    planner=planner,
  )
  if planner is not None and words is not None:
    raise InputError('a trained planner takes no words; salience does.')
  report = realize_table(plan)
  while words is not None and report.words > words:
    shorter = _without_last(plan.choices)
    if shorter is None:
      raise InputError(
        f'words is {words}; the shortest report of this has {report.words}.'
      )
    plan = _plan(plan.table, shorter)
    report = realize_table(plan)
  return report


def realize_table(plan: TablePlan) -> TableReport:
  """The sentences of a plan."""
  texts = write_sentences(plan.plan, plan.table)
  pairs = zip(texts, plan.plan, strict=True)
  return TableReport(tuple(TableSentence(*pair) for pair in pairs), plan)


def _plan(table: Table, choices: Sequence[Choice]) -> TablePlan:
  plan = planned(arrange(choices, table), table, 'salience')
  return dataclasses.replace(plan, choices=tuple(choices))


def planned(plan: Plan, table: Table, planner: str) -> TablePlan:
  """A plan that somebody made, as a result with what its table warns of."""
  notes = tuple(note for facts in table.facts for note in facts.notes)
  return TablePlan(plan, (), table, planner, notes)


def _without_last(choices: Sequence[Choice]) -> list[Choice] | None:
  """Without the last choice that nobody asked for."""
  free = [c for c in choices if 'asked for' not in c.reasons]
  if not free or len(choices) == 1:
    return None
  return [choice for choice in choices if choice is not free[-1]]


def _names(name: str, given: Iterable[str]) -> tuple[str, ...]:
  if isinstance(given, str):
    return (given,)
  names = tuple(given)
  if not all(isinstance(each, str) for each in names):
    raise InputError(f'{name} is {given!r:.60}; names are needed.')
  return names


def _check_number(name: str, number: int | None) -> int | None:
  if number is None:
    return None
  whole = isinstance(number, int) and not isinstance(number, bool)
  if not whole or not 1 <= number <= _MOST_ENTRIES:
    raise InputError(
      f'{name} is {number!r}; a whole number from 1 to {_MOST_ENTRIES} is '
      'needed.'
    )
  return number
