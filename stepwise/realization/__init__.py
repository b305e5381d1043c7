"""From content plans to readable reports, by templates or by a model.

Pure Python and numpy; `stepwise.realization.learned` loads JAX for the model,
and `stepwise.realization.training` the trainer.
"""

from stepwise.realization._check import KINDS, Mistake, check_text
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
from stepwise.realization._fuller import fuller_plan
from stepwise.realization._html import render_report
from stepwise.realization._inputs import (
  GameInputs,
  InputFormat,
  SentenceInput,
  check_plan,
  encode_inputs,
  known_entries,
)
from stepwise.realization._realizer import (
  Authored,
  AuthoredRealizer,
  Realizer,
)
from stepwise.realization._report import (
  GameReport,
  PlacedEntry,
  ReportSentence,
  write_report,
)
from stepwise.realization._templates import TemplateRealizer

__all__ = [
  'KINDS',
  'Authored',
  'AuthoredRealizer',
  'Example',
  'ExampleOptions',
  'ExampleReport',
  'GameInputs',
  'GameReport',
  'InputFormat',
  'Mistake',
  'PlacedEntry',
  'Realizer',
  'ReportSentence',
  'SentenceInput',
  'SentencePair',
  'TemplateRealizer',
  'check_plan',
  'check_text',
  'encode_inputs',
  'fuller_plan',
  'known_entries',
  'load_examples',
  'make_examples',
  'render_report',
  'save_examples',
  'sentence_pairs',
  'write_report',
]
