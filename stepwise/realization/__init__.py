"""From content plans to readable reports."""

from stepwise.realization._bundle import load_realizer, save_realizer
from stepwise.realization._config import SearchConfig
from stepwise.realization._examples import (
  Example,
  ExampleOptions,
  ExampleReport,
  SentencePair,
  load_examples,
  make_examples,
  save_examples,
  sentence_pairs,
)
from stepwise.realization._html import render_report
from stepwise.realization._inputs import (
  GameInputs,
  InputFormat,
  SentenceInput,
  check_plan,
  encode_inputs,
  known_entries,
)
from stepwise.realization._numerals import Numerals, NumeralTrie, TokenClasses
from stepwise.realization._realizers import (
  PACKAGED,
  LearnedRealizer,
  Realizer,
  open_realizer,
  packaged_realizer,
)
from stepwise.realization._report import (
  GameReport,
  PlacedEntry,
  ReportSentence,
  write_report,
)
from stepwise.realization._search import (
  SearchResult,
  check_texts,
  search_texts,
)
from stepwise.realization._templates import TemplateRealizer
from stepwise.realization._training import (
  RealizerBatch,
  realizer_loss,
  realizer_task,
)

__all__ = [
  'PACKAGED',
  'Example',
  'ExampleOptions',
  'ExampleReport',
  'GameInputs',
  'GameReport',
  'InputFormat',
  'LearnedRealizer',
  'NumeralTrie',
  'Numerals',
  'PlacedEntry',
  'Realizer',
  'RealizerBatch',
  'ReportSentence',
  'SearchConfig',
  'SearchResult',
  'SentenceInput',
  'SentencePair',
  'TemplateRealizer',
  'TokenClasses',
  'check_plan',
  'check_texts',
  'encode_inputs',
  'known_entries',
  'load_examples',
  'load_realizer',
  'make_examples',
  'open_realizer',
  'packaged_realizer',
  'realizer_loss',
  'realizer_task',
  'render_report',
  'save_examples',
  'save_realizer',
  'search_texts',
  'sentence_pairs',
  'write_report',
]
