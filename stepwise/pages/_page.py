"""A page to look at: what was chosen, in which order, and from what.

The page knows units and steps only, so that it shows the sentences of a text
and the entries of a table alike. It is one file that asks nothing of the
network, and works with a keyboard, on a phone, and by day and night.
"""

import functools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from importlib import resources
from itertools import groupby

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
    notes: what the reader must know, one sentence each.
    unit_name, length_name: what units are, and what they are measured in.
    running_text: units follow one another; otherwise each has a box.
  """

  title: str
  lead: str
  units: tuple[PageUnit, ...]
  steps: tuple[PageStep, ...]
  notes: tuple[str, ...] = ()
  unit_name: str = 'sentence'
  length_name: str = 'words'
  running_text: bool = True


def render_page(page: Page) -> str:
  """The page as HTML; every text is escaped."""
  names = {'unit': escape(page.unit_name), 'length': escape(page.length_name)}
  parts = {
    'title': escape(page.title),
    'lead': escape(page.lead),
    'notes': _notes(page),
    'steps': ''.join(_groups(page)),
    'strip': ''.join(_bars(page)),
    'strip_label': escape(_strip_label(page)),
    'legend': _LEGEND.format(**names),
    'hint': _HINT.format(**names),
    'layout': 'text' if page.running_text else 'list',
    'units': ''.join(_units(page)),
    'unit_heading': escape(page.unit_name.capitalize()),
    'data': _data(page),
  }
  # In one pass: what is put in is not looked at again.
  return re.sub(r'\{\{(\w+)\}\}', lambda found: parts[found[1]], _template())


@functools.cache
def _template() -> str:
  folder = resources.files('stepwise.pages')
  return (folder / 'page.html').read_text(encoding='utf-8')


def _chosen(page: Page) -> dict[int, int]:
  """The first step of every unit that was chosen."""
  chosen: dict[int, int] = {}
  for number, step in enumerate(page.steps):
    if step.unit is not None:
      chosen.setdefault(step.unit, number)
  return chosen


def _notes(page: Page) -> str:
  items = ''.join(f'<li>{escape(note)}</li>' for note in page.notes)
  return f'<ul class="notes">{items}</ul>' if items else ''


def _groups(page: Page) -> Iterator[str]:
  """Buttons of the steps, one row per group."""
  numbered = enumerate(page.steps)
  for name, steps in groupby(numbered, key=lambda pair: pair[1].group):
    label = f'<li class="name">{escape(name)}</li>' if name else ''
    buttons = ''.join(_button(number, step) for number, step in steps)
    yield f'<ol class="group">{label}{buttons}</ol>'


def _button(number: int, step: PageStep) -> str:
  said = f'Step {number + 1}: {step.label}'
  if step.unit is not None:
    said += f' {step.unit + 1}'
  below = ''
  if step.probability is not None:
    said += f', probability {_percent(step.probability)}'
    below = f'<small>{escape(_percent(step.probability))}</small>'
  face = escape(step.face or str(number + 1))
  return (
    f'<li><button type="button" class="step" id="step-{number + 1}"'
    f' aria-pressed="false" aria-label="{escape(said)}" title="{escape(said)}">'
    f'<b>{face}</b>{below}</button></li>'
  )


def _bars(page: Page) -> Iterator[str]:
  chosen = _chosen(page)
  for index, unit in enumerate(page.units):
    title = f'{page.unit_name} {index + 1}: {unit.length} {page.length_name}'
    kind, face = 'bar', ''
    if index in chosen:
      kind, face = 'bar chosen', f'<em>{chosen[index] + 1}</em>'
    yield (
      f'<span class="{kind}" style="--length:{max(unit.length, 1)}"'
      f' title="{escape(title)}"><i></i>{face}</span>'
    )


def _strip_label(page: Page) -> str:
  numbers = ', '.join(str(index + 1) for index in sorted(_chosen(page)))
  return (
    f'The length of every {page.unit_name}, {len(page.units)} in all;'
    f' chosen: {numbers or "-"}'
  )


def _units(page: Page) -> Iterator[str]:
  chosen = _chosen(page)
  for index, unit in enumerate(page.units):
    if page.running_text and (unit.paragraph or not index):
      yield '</p>\n<p>' if index else '<p>'
    kinds = ['unit', *(['unread'] if not unit.read else [])]
    badge = ''
    if index in chosen:
      step = chosen[index]
      kinds.append('chosen')
      badge = (
        f'<button type="button" class="badge" data-step="{step}"'
        f' aria-label="Chosen at step {step + 1}">{step + 1}</button>'
      )
    text = escape(unit.text)
    yield (
      f'<span class="{" ".join(kinds)}" id="unit-{index + 1}"'
      f' data-text="{text}">{badge}{text}</span>\n'
    )
  if page.running_text and page.units:
    yield '</p>'


def _data(page: Page) -> str:
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
  return text


def _percent(probability: float) -> str:
  """As the script writes it."""
  value = 100 * probability
  if 0 < value < 0.1:
    return '<0.1\u00a0%'
  return f'{value:.1f}\u00a0%' if value < 10 else f'{value:.0f}\u00a0%'
