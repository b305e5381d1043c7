"""From a text to its summary: splitting, reading, choosing, in one call."""

from stepwise.summarization._api import (
  SummaryWarning,
  sample_article,
  summarize,
  summarize_many,
)
from stepwise.summarization._auto import AutoSummarizer
from stepwise.summarization._base import Summarizer
from stepwise.summarization._bulk import (
  BulkReport,
  bulk_settings,
  digest_folder,
  summary_row,
  write_summaries,
)
from stepwise.summarization._models import (
  Model,
  default_folder,
  load,
  load_summarizer,
  model_folder,
)
from stepwise.summarization._options import SummaryOptions, make_options
from stepwise.summarization._page import summary_page
from stepwise.summarization._rankers import RANKERS, RankSummarizer
from stepwise.summarization._result import (
  ChosenSentence,
  Order,
  Step,
  Summary,
)
from stepwise.summarization._summarizer import ModelSummarizer
from stepwise.summarization._texts import Text

__all__ = [
  'RANKERS',
  'AutoSummarizer',
  'BulkReport',
  'ChosenSentence',
  'Model',
  'ModelSummarizer',
  'Order',
  'RankSummarizer',
  'Step',
  'Summarizer',
  'Summary',
  'SummaryOptions',
  'SummaryWarning',
  'Text',
  'bulk_settings',
  'default_folder',
  'digest_folder',
  'load',
  'load_summarizer',
  'make_options',
  'model_folder',
  'sample_article',
  'summarize',
  'summarize_many',
  'summary_page',
  'summary_row',
  'write_summaries',
]
