"""Cells of tables as they stand: rows of entities, columns of types."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from stepwise.pages._html import Html, table, tag

# Rows of a table on a page; more would be a page that nobody scrolls.
MOST_ROWS = 200


@dataclass(frozen=True)
class Cell:
  """Where a value stands.

  Attributes:
    sheet, row, column: names of the table, the row and the column.
    value: as text.
  """

  sheet: str
  row: str
  column: str
  value: str


def render_grids(
  cells: Iterable[Cell],
  render: Callable[[int, Cell], Html],
  wanted: Collection[int],
) -> Iterator[Html]:
  """A table for every sheet.

  Args:
    cells: of all of them, in any order.
    render: an element `td` for a cell, given its place in `cells`.
    wanted: places of cells whose rows are shown in any case.
  """
  sheets: dict[str, dict[str, dict[str, tuple[int, Cell]]]] = {}
  for place, cell in enumerate(cells):
    rows = sheets.setdefault(cell.sheet, {})
    rows.setdefault(cell.row, {})[cell.column] = place, cell
  for sheet, rows in sheets.items():
    columns = dict.fromkeys(name for row in rows.values() for name in row)
    yield tag('h3', sheet)
    shown = [
      (name, row)
      for number, (name, row) in enumerate(rows.items())
      if number < MOST_ROWS or any(place in wanted for place, _ in row.values())
    ]
    if len(shown) < len(rows):
      yield tag('p', f'{len(shown):,} of {len(rows):,} rows.')
    yield table(
      sheet,
      ['', *columns],
      (
        (name, [render(*row[c]) if c in row else tag('td') for c in columns])
        for name, row in shown
      ),
    )
