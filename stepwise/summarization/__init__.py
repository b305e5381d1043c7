"""From a text to its summary: splitting, reading, choosing, in one call."""

from stepwise.summarization._summarizer import (
  Sentence,
  Summarizer,
  Summary,
  load_summarizer,
  sample_article,
  summarize,
)

__all__ = [
  'Sentence',
  'Summarizer',
  'Summary',
  'load_summarizer',
  'sample_article',
  'summarize',
]
