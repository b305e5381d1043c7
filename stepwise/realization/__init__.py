"""From content plans to readable reports."""

from stepwise.realization._bundle import load_realizer, save_realizer
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
from stepwise.realization._inputs import (
  GameInputs,
  InputFormat,
  SentenceInput,
  check_plan,
  encode_inputs,
  known_entries,
)
from stepwise.realization._training import (
  RealizerBatch,
  realizer_loss,
  realizer_task,
)

__all__ = [
  'Example',
  'ExampleOptions',
  'ExampleReport',
  'GameInputs',
  'InputFormat',
  'RealizerBatch',
  'SentenceInput',
  'SentencePair',
  'check_plan',
  'encode_inputs',
  'known_entries',
  'load_examples',
  'load_realizer',
  'make_examples',
  'realizer_loss',
  'realizer_task',
  'save_examples',
  'save_realizer',
  'sentence_pairs',
]
