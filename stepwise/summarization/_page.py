"""The page of a summary: the sentences of a text, chosen step by step."""

import math

from stepwise.documents import count_words
from stepwise.pages import Page, PageStep, PageUnit
from stepwise.summarization._result import Summary


def summary_page(summary: Summary, title: str) -> Page:
  """The page of a summary."""
  document = summary.document
  read = max((len(step.probabilities) for step in summary.steps), default=0)
  units, end = [], 0
  for index, (start, stop) in enumerate(document.spans):
    text = document.text[start:stop]
    gap = document.text[end:start]
    units.append(
      PageUnit(
        text,
        max(count_words(text), 1),
        paragraph=gap.count('\n') > 1,
        read=not read or index < read,
      )
    )
    end = stop
  words = sum(unit.length for unit in units)
  lead = (
    f'The model “{summary.model}” chose {len(summary.sentences)} of'
    f' {len(units):,} sentences, {summary.words} of {words:,} words.'
  )
  notes = tuple(text[:1].upper() + text[1:] for text in summary.warnings)
  return Page(
    title,
    lead,
    tuple(units),
    _page_steps(summary),
    answer=tuple(sentence.text for sentence in summary.sentences),
    copies={'Copy text': summary.text, 'Copy Markdown': summary.to_markdown()},
    notes=notes,
    language=document.language,
  )


def _page_steps(summary: Summary) -> tuple[PageStep, ...]:
  return tuple(
    PageStep(
      step.index,
      'the model stopped' if step.index is None else 'chose sentence',
      None if step.log_prob is None else math.exp(step.log_prob),
      step.probabilities,
      step.stop,
      'stop' if step.index is None else '',
    )
    for step in summary.steps
  )
