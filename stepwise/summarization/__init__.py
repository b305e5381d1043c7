"""From a text to its summary: splitting, reading, choosing, in one call."""

from stepwise.summarization._api import (
  sample_article,
  summarize,
  summarize_many,
)
from stepwise.summarization._models import (
  Model,
  default_folder,
  load_summarizer,
)
from stepwise.summarization._options import Options
from stepwise.summarization._page import summary_page
from stepwise.summarization._result import Order, Sentence, Step, Summary
from stepwise.summarization._summarizer import Summarizer

__all__ = [
  'Model',
  'Options',
  'Order',
  'Sentence',
  'Step',
  'Summarizer',
  'Summary',
  'default_folder',
  'load_summarizer',
  'sample_article',
  'summarize',
  'summarize_many',
  'summary_page',
]
