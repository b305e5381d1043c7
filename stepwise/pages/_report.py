"""A page of a report: its text, and the table with the cells that it uses."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from stepwise.pages._grid import Cell, render_grids
from stepwise.pages._html import Html, html, tag
from stepwise.pages._shell import read, render_shell

_NUMERAL = re.compile(r'(?<!\w)[-+\u2212]?[$€£¥]?\d+(?:[.,]\d+)*%?(?!\w)')
_ADDED = 'Not an entry of the plan'


@dataclass(frozen=True)
class ReportEntry:
  """What a sentence should say.

  Attributes:
    cell: where it stands.
    note: why it was chosen, if something is known of that.
    unsaid: whether it was looked for in the sentence in vain.
  """

  cell: Cell
  note: str = ''
  unsaid: bool = False


@dataclass(frozen=True)
class ReportLine:
  """A sentence, and the entries that it says."""

  text: str
  entries: tuple[ReportEntry, ...]


@dataclass(frozen=True)
class ReportPage:
  """Everything that is shown.

  Attributes:
    title: of the page.
    lead: one sentence about the whole.
    lines: of the report.
    cells: of the tables.
    copies: what can be copied, by what a button says.
    notes: what the reader must know, one sentence each.
  """

  title: str
  lead: str
  lines: tuple[ReportLine, ...]
  cells: tuple[Cell, ...]
  copies: Mapping[str, str] = field(default_factory=dict)
  notes: tuple[str, ...] = ()


def render_report_page(page: ReportPage) -> str:
  """The page as HTML; every text is escaped.

  Numbers of the text lead to their cells, cells to their sentence; what a link
  leads to is marked by the browser itself (`:target`), so that mouse, finger
  and keyboard all work. A number that no entry of its sentence has is marked.
  """
  ids = {(cell.row, cell.column): i for i, cell in enumerate(page.cells)}
  uses: dict[int, int] = {}
  for number, line in enumerate(page.lines, 1):
    for entry in line.entries:
      place = ids.get((entry.cell.row, entry.cell.column))
      if place is not None:
        uses.setdefault(place, number)
  unsaid = {
    (entry.cell.row, entry.cell.column)
    for line in page.lines
    for entry in line.entries
    if entry.unsaid
  }

  def cell(place: int, cell: Cell) -> Html:
    if place not in uses:
      return tag('td', cell.value)
    missing = ' unsaid' if (cell.row, cell.column) in unsaid else ''
    return tag(
      'td',
      tag('a', cell.value, href=f'#sentence-{uses[place]}'),
      id=f'cell-{place}',
      class_=f'used{missing}',
      data_link=place,
      title='Planned, but not found in the text' if missing else None,
    )

  return render_shell(
    page.title,
    page.lead,
    html(
      *render_grids(page.cells, cell, uses),
      tag('h2', 'Plan'),
      tag('ol', *_planned(page.lines), class_='planned'),
    ),
    answer=tag('p', *_text(page, ids)),
    answer_title='Report',
    copies=page.copies,
    notes=page.notes,
    style=read('report.css'),
    beside=True,
  )


def _text(
  page: ReportPage, ids: Mapping[tuple[str, str], int]
) -> Iterator[Html]:
  names = ' '.join(
    dict.fromkeys(f'{cell.row} {cell.column}' for cell in page.cells)
  )
  known = {_plain(each) for each in _NUMERAL.findall(names)}
  counts = Counter(cell.sheet for cell in page.cells)
  known |= {str(count) for count in (len(_rows(page, s)) for s in counts)}
  for number, line in enumerate(page.lines, 1):
    if line.text:
      parts = _linked(line, ids, known)
      yield tag('span', *parts, id=f'sentence-{number}', class_='sentence')
      yield Html(' ')


def _rows(page: ReportPage, sheet: str) -> set[str]:
  return {cell.row for cell in page.cells if cell.sheet == sheet}


def _linked(
  line: ReportLine, ids: Mapping[tuple[str, str], int], known: set[str]
) -> Iterator[Html]:
  """The text of a sentence, its numbers linked or marked."""
  end = 0
  for start, stop, entry in find_facts(line.text, line.entries):
    found = line.text[start:stop]
    yield html(line.text[end:start])
    place = None
    if entry is not None:
      place = ids.get((entry.cell.row, entry.cell.column))
    if place is not None:
      yield tag(
        'a', found, class_='fact', href=f'#cell-{place}', data_link=place
      )
    elif entry is None and _plain(found) not in known:
      yield tag('mark', found, class_='added', title=_ADDED)
    else:
      yield html(found)
    end = stop
  yield html(line.text[end:])


def find_facts(
  text: str, entries: Sequence[ReportEntry]
) -> Iterator[tuple[int, int, ReportEntry | None]]:
  """Numbers of a text, each with the entry that has it, or None.

  Entries are said in about their order: of several with the same number the
  first that was not said yet is meant.
  """
  left = list(entries)
  for found in _NUMERAL.finditer(text):
    number = _plain(found[0])
    entry = next((e for e in left if number in _numbers(e)), None)
    if entry is not None:
      left.remove(entry)
    else:
      entry = next((e for e in entries if number in _numbers(e)), None)
    yield found.start(), found.end(), entry


def _numbers(entry: ReportEntry) -> set[str]:
  return {_plain(each) for each in _NUMERAL.findall(entry.cell.value)}


def _plain(number: str) -> str:
  """Without what a sentence says in words: `fell by 7%` is of `-7%`."""
  return number.lstrip('+-\u2212').rstrip('%')


def _planned(lines: Sequence[ReportLine]) -> Iterator[Html]:
  for line in lines:
    entries = (_entry(entry) for entry in line.entries)
    yield tag('li', tag('ul', *entries))


def _entry(entry: ReportEntry) -> Html:
  cell = entry.cell
  note = tag('small', entry.note) if entry.note else ''
  missing = tag('small', 'not found in the text', class_='missing')
  return tag(
    'li',
    f'{cell.row} {cell.column} ',
    tag('strong', cell.value),
    html(' ', note) if note else '',
    html(' ', missing) if entry.unsaid else '',
  )
