"""What a trained planner remembers of its tables, so as to refuse others."""

import dataclasses
import functools
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from stepwise._errors import InputError
from stepwise.tables._report import open_table
from stepwise.tables._schema import Schema, load_schema, parse_schema
from stepwise.tables._table import Table

# Where records and bundles keep it.
FORM_FILE = 'schema.json'


@dataclasses.dataclass(frozen=True)
class TableForm:
  """A schema by name, and the columns that tables of it were seen to have.

  Attributes:
    name: of the schema.
    templates: the text of its template file.
    columns: of numbers, by kind.
  """

  name: str
  templates: str
  columns: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)

  @functools.cached_property
  def schema(self) -> Schema:
    return parse_schema(self.templates, f'templates of {self.name!r}')

  def with_columns(self, table: Table) -> 'TableForm':
    """The same, after one more table was seen."""
    columns = {kind: list(names) for kind, names in self.columns.items()}
    for facts in table.facts:
      seen = columns.setdefault(facts.kind, [])
      seen += [m.name for m in facts.measures if m.name not in seen]
    return dataclasses.replace(self, columns=columns)

  def open(
    self, data: Any, templates: Schema | str | os.PathLike[str] | None = None
  ) -> Table:
    """A table as the planner reads it; others are refused by name.

    Args:
      data: see `open_table`.
      templates: if any are given, they must be those of the planner.
    """
    self._check_templates(templates)
    try:
      table = open_table(data, self.schema)
    except InputError as error:
      raise InputError(
        f'the planner reads tables of schema {self.name!r}: {error}'
      ) from error
    for facts in table.facts:
      known = self.columns.get(facts.kind, ())
      new = [m.name for m in facts.measures if m.name not in known]
      if new:
        raise InputError(
          f'the planner was trained on tables of schema {self.name!r}, which '
          f'have the columns {list(known)}; {table.id!r} has {new}.'
        )
    return table

  def _check_templates(
    self, templates: Schema | str | os.PathLike[str] | None
  ) -> None:
    if templates is None:
      return
    given = (
      templates if isinstance(templates, Schema) else load_schema(templates)
    )
    if dataclasses.replace(given, name=self.schema.name) != self.schema:
      raise InputError(
        f'the planner was trained on tables of schema {self.name!r}; the '
        f'templates are of {given.name or "another one"!r}.'
      )

  def to_json(self) -> str:
    return json.dumps(dataclasses.asdict(self), ensure_ascii=False, indent=2)

  @classmethod
  def from_json(cls, text: str, where: str) -> 'TableForm':
    """What `to_json` wrote; `where` it stands is named in mistakes."""
    try:
      return cls(**json.loads(text))
    except (ValueError, TypeError) as error:
      raise InputError(f'{where} is no schema of tables: {error}.') from error
