"""How many documents a second does a host prepare, and how many are needed?

  stepwise bench input RECORDS.jsonl            # of `stepwise data build`
  stepwise bench input --quick                  # of invented documents

Makes batches as `stepwise train` does, from records on disk, in the threads of
the run, and throws them away: no model is run. `steps` and `sample` are the
examples of the paper's stepwise systems. What a slice needs follows from the
FLOPs of an update (`stepwise bench slices`) and the chips of a host.
"""

import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import benchmarks._harness as harness  # Before jax.

# isort: split
import numpy as np

from stepwise.data import RecordOptions, build_records, wordpiece
from stepwise.training import (
  InputConfig,
  ModelSpec,
  OptimizerConfig,
  TrainConfig,
  selector_task,
)

RESULT = 'input.json'
_MODES = ('all', 'sample', 'steps')
_WORDS = ('harbour', 'school', 'market', 'library', 'station', 'garden')


def main(arguments: Sequence[str] = ()) -> None:
  parser = harness.parser('input', __doc__)
  parser.add_argument('records', nargs='?', type=Path)
  parser.add_argument('--batch', type=int, default=32)
  parser.add_argument('--batches', type=int, default=50)
  options = parser.parse_args(arguments or sys.argv[1:])
  command = 'stepwise bench input'
  content: dict[str, Any] = harness.provenance(
    command, harness.host_name(), ['stepwise', 'jax', 'grain', 'numpy']
  )
  with tempfile.TemporaryDirectory() as folder:
    records = options.records or invented_records(Path(folder))
    content |= {
      'records': 'invented' if options.records is None else records.name,
      'batch': options.batch,
      'rows': [
        measure(records, mode, options.batch, options.batches)
        for mode in _MODES
      ],
    }
  harness.write_json(options.out / RESULT, content)
  print(markdown(content))


def markdown(content: Mapping[str, Any]) -> str:
  lines = [
    '| examples | documents a second | of one core, by its own time |',
    '| --- | --- | --- |',
  ]
  for row in content['rows']:
    wall, own = row['documents_per_second'], row['documents_per_core_second']
    lines.append(f'| `{row["examples"]}` | {wall:,.0f} | {own:,.0f} |')
  return '\n'.join(lines)


def invented_records(folder: Path, count: int = 200) -> Path:
  """Documents of 30 sentences of 23 words, as long as those of the news."""
  rng = np.random.default_rng(0)
  rows = []
  for number in range(count):
    sentences = [
      ' '.join(rng.choice(_WORDS, 23)).capitalize() + '.' for _ in range(30)
    ]
    summary = rng.choice(sentences, 3, replace=False).tolist()
    article = ' '.join(sentences)
    rows.append({'id': str(number), 'article': article, 'highlights': summary})
  path = folder / 'articles.jsonl'
  path.write_text(''.join(json.dumps(row) + '\n' for row in rows))
  target = folder / 'records.jsonl'
  build_records(path, target, wordpiece(), RecordOptions(('eot', 'beg')))
  return target


def measure(
  records: Path, mode: str, batch: int, batches: int
) -> dict[str, Any]:
  """Time of this process and of the clock, opening the file left out."""
  config = TrainConfig(
    ModelSpec('hibert_tiny'),
    OptimizerConfig(learning_rate=1.0),
    InputConfig(str(records), batch, mode),
    steps=batches,
  )
  made = selector_task(config).open_input(np.arange(batch))
  # Threads begin with the first batch: none was prepared before.
  tokens, wall, own = 0, time.perf_counter(), time.process_time()
  for _ in range(batches):
    tokens += int((next(made)['unit_ids'] >= 0).sum())
  wall, own = time.perf_counter() - wall, time.process_time() - own
  return {
    'examples': mode,
    'documents_per_second': batch * batches / wall,
    'documents_per_core_second': batch * batches / own,
    'tokens_per_second': tokens / wall,
  }


if __name__ == '__main__':
  main()
