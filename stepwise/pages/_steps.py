"""A page to look at: what was chosen, in which order, and from what.

The page knows units and steps only, so that it shows the sentences of a text
and the entries of a table alike. It works with a keyboard, on a phone, and by
day and night.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Any

from stepwise.pages._grid import Cell, render_grids
from stepwise.pages._html import Html, html, tag
from stepwise.pages._shell import fill, read, render_shell, written

_HINT = (
  'Point at a step, or move to it with the keyboard, to see how probable every'
  ' {unit} was then; press it to go there and to keep it shown.'
)
_PLAIN_HINT = 'Press a step to go to its {unit}.'
_LEGEND = (
  'Below are the steps, then one bar per {unit}, as wide as it has {length};'
  ' numbered ones were chosen. At a step, bars are filled by probability, that'
  ' of the most probable to the top.'
)
_PLAIN_LEGEND = (
  'Below are the steps, then one bar per {unit}, as wide as it has {length};'
  ' numbered ones were chosen.'
)
_MANY = ' A bar stands for several in a row, as there are many.'
# Of so many units the browser draws only those that are seen.
_MANY_UNITS = 500
# More bars would be thinner than a phone's dots.
_MOST_BARS = 180


@dataclass(frozen=True)
class PageUnit:
  """Something that can be chosen.

  Attributes:
    text: to show.
    length: the width of its bar, at least 1.
    paragraph: it begins a new one.
    read: False if the model did not read it.
    cell: where it stands, if it is an entry of a table.
  """

  text: str
  length: int
  paragraph: bool = False
  read: bool = True
  cell: Cell | None = None


@dataclass(frozen=True)
class PageStep:
  """A choice.

  Attributes:
    unit: that was chosen; None if it is not among the units, as the stop.
    label: what was done, before the unit's number or in place of it.
    probability: of the choice; None if there is none.
    probabilities: of the units, as many as were read; empty if there are none.
    stop: probability to end here.
    face: on its button; the number of the step if it is empty.
    group: steps in a row with the same group belong together, such as the
      entries of a sentence.
    note: why it was chosen, if something is known of that.
  """

  unit: int | None
  label: str
  probability: float | None = None
  probabilities: tuple[float, ...] = ()
  stop: float = 0.0
  face: str = ''
  group: str = ''
  note: str = ''


@dataclass(frozen=True)
class Page:
  """Everything that is shown.

  If units have cells they stand in their tables, beside the steps, which are
  the answer: a plan.

  Attributes:
    title: of the page.
    lead: one sentence about the whole.
    units: in the order of the document.
    steps: in the order of choice.
    answer: what was chosen, in its own words, a paragraph each.
    answer_title: what that is.
    copies: what can be copied, by what a button says.
    notes: what the reader must know, one sentence each.
    unit_name, length_name: what units are, and what they are measured in.
    language: code of that of the units, if it is known.
  """

  title: str
  lead: str
  units: tuple[PageUnit, ...]
  steps: tuple[PageStep, ...]
  answer: tuple[str, ...] = ()
  answer_title: str = 'Summary'
  copies: Mapping[str, str] = field(default_factory=dict)
  notes: tuple[str, ...] = ()
  unit_name: str = 'sentence'
  length_name: str = 'words'
  language: str = ''

  @property
  def is_plan(self) -> bool:
    """Whether units stand in tables."""
    return any(unit.cell for unit in self.units)


def render_page(page: Page) -> str:
  """The page as HTML; every text is escaped."""
  return _render_plan(page) if page.is_plan else _render_text(page)


def _render_text(page: Page) -> str:
  bars = _bins(page)
  probable = any(step.probabilities for step in page.steps)
  legend = _LEGEND if probable else _PLAIN_LEGEND
  if len(bars) < len(page.units):
    legend += _MANY
  parts = {
    'steps': html(*_groups(page)),
    'strip': html(*_bars(page, bars)),
    'fine': ' fine' if len(bars) > _MOST_BARS // 2 else '',
    'strip_label': _strip_label(page),
    'legend': _named(page, legend),
    'hint': _named(page, _HINT if probable else _PLAIN_HINT),
    'many': ' many' if len(page.units) > _MANY_UNITS else '',
    'way': written(page.language)['dir'],
    'words': Html(
      ''.join(f' {k}="{v}"' for k, v in written(page.language).items())
    ),
    'units': html(*_units(page)),
    'all': _all(page),
  }
  return _shell(
    page,
    fill(read('steps.html'), parts),
    answer=html(*(tag('p', text) for text in page.answer)),
  )


def _render_plan(page: Page) -> str:
  probable = any(step.probabilities for step in page.steps)
  hint = _named(page, _HINT if probable else _PLAIN_HINT)
  panel = 'panel' if probable else 'panel short'
  chosen = _chosen(page)

  places = [i for i, unit in enumerate(page.units) if unit.cell]
  cells = [unit.cell for unit in page.units if unit.cell]
  wanted = {i for i, place in enumerate(places) if place in chosen}

  def cell(place: int, cell: Cell) -> Html:
    return _unit('td', page, places[place], chosen, cell.value)

  return _shell(
    page,
    html(
      tag(
        'div',
        *render_grids(cells, cell, wanted),
        id='document',
        class_='sheets',
      ),
      _all(page),
    ),
    answer=html(
      tag('div', hint, class_=panel, id='panel', role='status'),
      tag('div', *_groups(page), class_='plan'),
    ),
  )


def _shell(page: Page, body: Html, answer: Html) -> str:
  return render_shell(
    page.title,
    page.lead,
    body,
    answer=answer,
    answer_title=page.answer_title,
    copies=page.copies,
    notes=page.notes,
    language=page.language,
    style=read('steps.css'),
    scripts=('steps.js',),
    data=_data(page),
    beside=page.is_plan,
  )


def _named(page: Page, text: str) -> str:
  return text.format(unit=page.unit_name, length=page.length_name)


def _all(page: Page) -> Html:
  parts = {'unit_heading': page.unit_name.capitalize()}
  return fill(read('all.html'), parts)


def _chosen(page: Page) -> dict[int, int]:
  """The first step of every unit that was chosen."""
  chosen: dict[int, int] = {}
  for number, step in enumerate(page.steps):
    if step.unit is not None:
      chosen.setdefault(step.unit, number)
  return chosen


def _groups(page: Page) -> Iterator[Html]:
  """Buttons of the steps, one row per group."""
  numbered = enumerate(page.steps)
  for name, steps in groupby(numbered, key=lambda pair: pair[1].group):
    label = tag('li', name, class_='name') if name else ''
    buttons = (_button(page, number, step) for number, step in steps)
    yield tag('ol', label, *buttons, class_='group')


def _button(page: Page, number: int, step: PageStep) -> Html:
  cell = page.units[step.unit].cell if step.unit is not None else None
  below = step.note
  if step.probability is not None:
    below = _percent(step.probability)
  if cell:
    name = f'{cell.row} {cell.column}'
    face = html(tag('span', name), ' ', tag('b', cell.value))
    shown = f'{name} {cell.value}'
  else:
    shown = step.face or str(number + 1)
    face = tag('b', shown)
  said = f'Step {number + 1}: {step.label}'
  if page.is_plan:
    # What is heard begins with more, and has what is seen.
    said += f' {shown} {below}'.rstrip()
  else:
    said += '' if step.unit is None else f' {step.unit + 1}'
    said += '' if step.probability is None else f', probability {below}'
  kind = 'why' if step.probability is None else None
  button = tag(
    'button',
    face,
    html(' ', tag('small', below, class_=kind)) if below else '',
    type='button',
    class_='step',
    data_special=step.unit is None,
    id=f'step-{number + 1}',
    aria_pressed='false',
    aria_label=said,
    title=said,
  )
  return tag('li', button)


def _bins(page: Page) -> list[range]:
  """Units of every bar: one each, or as many as there is room for."""
  count = len(page.units)
  bars = min(count, _MOST_BARS)
  ends = [round(count * bar / bars) for bar in range(bars + 1)] if bars else []
  return [range(a, b) for a, b in pairwise(ends)]


def _bars(page: Page, bins: list[range]) -> Iterator[Html]:
  chosen = _chosen(page)
  for units in bins:
    kind, face = 'bar', ''
    steps = [chosen[unit] + 1 for unit in units if unit in chosen]
    if steps:
      kind, face = 'bar chosen', tag('em', str(min(steps)))
    length = sum(max(page.units[unit].length, 1) for unit in units)
    first, last = units[0] + 1, units[-1] + 1
    numbers = str(first) if first == last else f'{first} to {last}'
    yield tag(
      'span',
      tag('i'),
      face,
      class_=kind,
      style=f'--length:{length}',
      title=f'{page.unit_name} {numbers}: {length} {page.length_name}',
      data_first=units[0],
      data_last=units[-1],
    )


def _strip_label(page: Page) -> str:
  numbers = ', '.join(str(index + 1) for index in sorted(_chosen(page)))
  return (
    f'The length of every {page.unit_name}, {len(page.units)} in all;'
    f' chosen: {numbers or "-"}'
  )


def _units(page: Page) -> Iterator[Html]:
  chosen = _chosen(page)
  for index, unit in enumerate(page.units):
    if unit.paragraph or not index:
      yield Html('</p>\n<p>' if index else '<p>')
    yield _unit('span', page, index, chosen, unit.text)
    yield Html('\n')
  if page.units:
    yield Html('</p>')


def _unit(
  name: str, page: Page, index: int, chosen: Mapping[int, int], shown: str
) -> Html:
  unit = page.units[index]
  kinds, badge = ['unit', *(['unread'] if not unit.read else [])], ''
  if index in chosen:
    kinds.append('chosen')
    badge = _badge(chosen[index])
  return tag(
    name,
    badge,
    shown,
    class_=' '.join(kinds),
    id=f'unit-{index + 1}',
    data_text=unit.text,
    data_name=f'{unit.cell.row} {unit.cell.column}' if unit.cell else None,
  )


def _badge(step: int) -> Html:
  return tag(
    'button',
    str(step + 1),
    type='button',
    class_='badge',
    data_step=step,
    aria_label=f'Chosen at step {step + 1}',
  )


def _data(page: Page) -> Any:
  """What the script needs."""
  steps = [
    {
      'unit': step.unit,
      'label': step.label,
      'p': step.probability,
      'stop': round(step.stop, 5),
      'probabilities': [round(p, 5) for p in step.probabilities],
    }
    for step in page.steps
  ]
  return {'units': len(page.units), 'steps': steps}


def _percent(probability: float) -> str:
  """As the script writes it."""
  value = 100 * probability
  if 0 < value < 0.1:
    return '<0.1\u00a0%'
  return f'{value:.1f}\u00a0%' if value < 10 else f'{value:.0f}\u00a0%'
