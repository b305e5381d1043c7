"""Tiny runs of the realizer on one invented report of eight sentences."""

from pathlib import Path

from stepwise.data import wordpiece
from stepwise.realization import (
  ExampleOptions,
  InputFormat,
  make_examples,
  save_examples,
)
from stepwise.rotowire import parse_game
from stepwise.training import (
  CheckpointConfig,
  InputConfig,
  MeshConfig,
  ModelSpec,
  OptimizerConfig,
  TrainConfig,
)
from tests.rotowire.games import game_fields

TINY = 'realizer_tiny'
FORMAT = InputFormat(context=False)
SENTENCES = (
  'The Easton Herons (12-3) defeated the Port Vale Comets 104-92 on Friday.',
  'J.T. Lund led the way with 31 points and 12 assists.',
  'He shot 11-of-20 from the field.',
  'Aron Vey had 11 points and 13 rebounds.',
  'The Comets shot 41 percent.',
  "Milo Quist's 26 points were not enough.",
  'Deon Abara added eight rebounds.',
  'The Herons had 27 assists.',
)


def report_game():
  """The invented game with these eight sentences as its summary."""
  return parse_game(game_fields(' '.join(SENTENCES)), id='eight')


def write_examples(path: Path, format: InputFormat = FORMAT) -> Path:
  tokenizer = wordpiece()
  options = ExampleOptions(format)
  examples, _ = make_examples([report_game()], tokenizer, options)
  assert len(examples) == len(SENTENCES)
  save_examples(path, examples, tokenizer, format)
  return path


def make_run(examples: Path, **changes) -> TrainConfig:
  fields = {
    'model': ModelSpec(TINY, dropout=0.0),
    'optimizer': OptimizerConfig(1e-2, warmup=10, clip_norm=1.0),
    'input': InputConfig(str(examples), batch_size=8),
    'steps': 2,
    'checkpoints': CheckpointConfig(every=1000),
    'mesh': MeshConfig(data=1),
    'log_every': 1000,
  }
  return TrainConfig(**fields | changes)
