"""Small runs: a corpus written here, its records, and configurations."""

import json
import random
from pathlib import Path

from stepwise.data import Buckets, RecordOptions, build_records, wordpiece
from stepwise.training import (
  CheckpointConfig,
  EvaluationConfig,
  InputConfig,
  MeshConfig,
  ModelSpec,
  OptimizerConfig,
  TrainConfig,
)

# One shape, so that a run compiles once.
BUCKETS = Buckets((64,), (8,))
_PLACES = ('harbour', 'school', 'market', 'library', 'station', 'garden')
_EVENTS = (
  'The {} opens again on Monday after months of repairs.',
  'Nobody was hurt when the roof of the {} came down.',
  'The mayor says that the {} will cost more than planned.',
  'Children painted the walls of the {} in bright colours.',
  'Old photographs of the {} are on show until the summer.',
)


def write_articles(path: Path, count: int, seed: int = 0) -> Path:
  """JSON lines of articles; any one of their sentences is the summary.

  Were it always the same one, its position alone would give it away.
  """
  rng = random.Random(seed)
  rows = []
  for number in range(count):
    place = rng.choice(_PLACES)
    events = rng.sample(_EVENTS, rng.randint(3, 5))
    sentences = [event.format(place) for event in events]
    rows.append(
      {
        'id': f'article-{number}',
        'article': ' '.join(sentences),
        'highlights': [rng.choice(sentences)],
      }
    )
  path.write_text(''.join(json.dumps(row) + '\n' for row in rows))
  return path


def write_records(
  folder: Path, count: int = 13, *, seed: int = 0, extractive: bool = False
) -> Path:
  """Records of `write_articles`, which stay beside them."""
  articles = write_articles(folder / f'articles-{seed}.jsonl', count, seed)
  target = folder / f'records-{seed}-{extractive}.jsonl'
  options = RecordOptions(() if extractive else ('eot', 'beg'))
  build_records(articles, target, wordpiece(), options)
  return target


def tiny_config(records: Path, **changes) -> TrainConfig:
  """A run of tiny HiBERT on one device, without evaluation."""
  fields = {
    'model': ModelSpec('hibert_tiny'),
    # Some gradients are zero but for rounding, such as those of key biases:
    # a smaller epsilon would blow them up, in another way on every mesh.
    'optimizer': OptimizerConfig(1e-3, epsilon=1e-3),
    'input': InputConfig(str(records), batch_size=4, buckets=BUCKETS),
    'steps': 4,
    'checkpoints': CheckpointConfig(every=2),
    'mesh': MeshConfig(data=1),
    'log_every': 1,
  }
  return TrainConfig(**fields | changes)


def with_validation(records: Path, **changes) -> EvaluationConfig:
  return EvaluationConfig(str(records), **changes)
