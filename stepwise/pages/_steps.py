"""A page to look at: what was chosen, in which order, and from what.

The page knows units and steps only, so that it shows the sentences of a text
and the entries of a table alike. It works with a keyboard, on a phone, and by
day and night.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from stepwise.pages._html import Html, html, tag
from stepwise.pages._shell import fill, read, render_shell

_HINT = (
  'Point at a step, or move to it with the keyboard, to see how probable every'
  ' {unit} was then; press it to keep it shown.'
)
_LEGEND = (
  'Below are the steps, then one bar per {unit}, as wide as it has {length};'
  ' numbered ones were chosen. At a step, bars are filled by probability, that'
  ' of the most probable to the top.'
)


@dataclass(frozen=True)
class PageUnit:
  """Something that can be chosen.

  Attributes:
    text: to show.
    length: the width of its bar, at least 1.
    paragraph: it begins a new one.
    read: False if the model did not read it.
  """

  text: str
  length: int
  paragraph: bool = False
  read: bool = True


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
  """

  unit: int | None
  label: str
  probability: float | None = None
  probabilities: tuple[float, ...] = ()
  stop: float = 0.0
  face: str = ''
  group: str = ''


@dataclass(frozen=True)
class Page:
  """Everything that is shown.

  Attributes:
    title: of the page.
    lead: one sentence about the whole.
    units: in the order of the document.
    steps: in the order of choice.
    answer: what was chosen, in its own words, a paragraph each.
    notes: what the reader must know, one sentence each.
    unit_name, length_name: what units are, and what they are measured in.
    running_text: units follow one another; otherwise each has a box.
  """

  title: str
  lead: str
  units: tuple[PageUnit, ...]
  steps: tuple[PageStep, ...]
  answer: tuple[str, ...] = ()
  notes: tuple[str, ...] = ()
  unit_name: str = 'sentence'
  length_name: str = 'words'
  running_text: bool = True


def render_page(page: Page) -> str:
  """The page as HTML; every text is escaped."""
  names = {'unit': page.unit_name, 'length': page.length_name}
  parts = {
    'steps': html(*_groups(page)),
    'strip': html(*_bars(page)),
    'strip_label': _strip_label(page),
    'legend': _LEGEND.format(**names),
    'hint': _HINT.format(**names),
    'layout': 'text' if page.running_text else 'list',
    'units': html(*_units(page)),
    'unit_heading': page.unit_name.capitalize(),
  }
  return render_shell(
    page.title,
    page.lead,
    fill(read('steps.html'), parts),
    answer=html(*(tag('p', text) for text in page.answer)),
    notes=page.notes,
    style=read('steps.css'),
    script=html(
      tag('script', _data(page), type='application/json', id='data'),
      tag('script', Html(read('steps.js'))),
    ),
  )


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
    buttons = (_button(number, step) for number, step in steps)
    yield tag('ol', label, *buttons, class_='group')


def _button(number: int, step: PageStep) -> Html:
  said = f'Step {number + 1}: {step.label}'
  if step.unit is not None:
    said += f' {step.unit + 1}'
  below = ''
  if step.probability is not None:
    said += f', probability {_percent(step.probability)}'
    below = tag('small', _percent(step.probability))
  button = tag(
    'button',
    tag('b', step.face or str(number + 1)),
    below,
    type='button',
    class_='step',
    id=f'step-{number + 1}',
    aria_pressed='false',
    aria_label=said,
    title=said,
  )
  return tag('li', button)


def _bars(page: Page) -> Iterator[Html]:
  chosen = _chosen(page)
  for index, unit in enumerate(page.units):
    kind, face = 'bar', ''
    if index in chosen:
      kind, face = 'bar chosen', tag('em', str(chosen[index] + 1))
    yield tag(
      'span',
      tag('i'),
      face,
      class_=kind,
      style=f'--length:{max(unit.length, 1)}',
      title=f'{page.unit_name} {index + 1}: {unit.length} {page.length_name}',
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
    if page.running_text and (unit.paragraph or not index):
      yield Html('</p>\n<p>' if index else '<p>')
    kinds = ['unit', *(['unread'] if not unit.read else [])]
    badge = ''
    if index in chosen:
      kinds.append('chosen')
      badge = _badge(chosen[index])
    yield tag(
      'span',
      badge,
      unit.text,
      class_=' '.join(kinds),
      id=f'unit-{index + 1}',
      data_text=unit.text,
    )
    yield Html('\n')
  if page.running_text and page.units:
    yield Html('</p>')


def _badge(step: int) -> Html:
  return tag(
    'button',
    str(step + 1),
    type='button',
    class_='badge',
    data_step=step,
    aria_label=f'Chosen at step {step + 1}',
  )


def _data(page: Page) -> Html:
  """What the script needs, as JSON that cannot end its element."""
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
  text = json.dumps({'steps': steps})
  for sign in '<>&':
    text = text.replace(sign, f'\\u{ord(sign):04x}')
  return Html(text)


def _percent(probability: float) -> str:
  """As the script writes it."""
  value = 100 * probability
  if 0 < value < 0.1:
    return '<0.1\u00a0%'
  return f'{value:.1f}\u00a0%' if value < 10 else f'{value:.0f}\u00a0%'
