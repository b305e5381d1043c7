"""What does Apache Beam cost, against the plain command line?

  stepwise bench beam                     # of invented articles
  stepwise bench beam ARTICLES.jsonl      # of yours, with summaries
  stepwise bench beam --markdown          # the table and the estimates again

Runs `stepwise infer default` and `stepwise oracle` three ways: plain on one
core, with `--runner DirectRunner` in one process on the same core, and in two
processes on two cores. Every way has a short and a long run, in turns, and each
is repeated: what a document costs is the difference between the best of both,
what it costs to start is the rest. Costs are seconds of processors, of all
processes of a command, which other work on the machine changes little. Outputs
are compared byte by byte. The memory of a worker is the most that any process
of the command had.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import benchmarks._harness as harness  # Before jax.

RESULT = 'beam.json'
_STEPWISE = (sys.executable, '-m', 'stepwise.cli.main')
_TWO = ('--direct_num_workers=2', '--direct_running_mode=multi_processing')
# A document of the estimates: those of CNN/DailyMail, all three splits.
_ARCHIVES = {'CNN/DailyMail': 311_971, 'ten million articles': 10_000_000}
_WORKERS = 100
_WORDS = (
  *('harbour', 'school', 'market', 'library', 'station', 'garden', 'council'),
  *('river', 'bridge', 'winter', 'mayor', 'budget', 'storm', 'festival'),
  *('opened', 'closed', 'said', 'asked', 'moved', 'saved', 'counted', 'built'),
  *('the', 'a', 'of', 'in', 'for', 'with', 'after', 'before', 'near', 'old'),
)


@dataclass(frozen=True)
class Way:
  """A way to run a command."""

  name: str
  processes: int
  runner: bool


WAYS = (
  Way('plain', 1, False),
  Way('Beam, 1 process', 1, True),
  Way('Beam, 2 processes', 2, True),
)


def main(arguments: Sequence[str] = ()) -> None:
  parser = harness.parser('beam', __doc__)
  parser.add_argument('articles', nargs='?', type=Path)
  parser.add_argument('--infer', type=int, nargs=2, default=(16, 80))
  parser.add_argument('--oracle', type=int, nargs=2, default=(500, 3000))
  parser.add_argument('--repeats', type=int, default=2)
  parser.add_argument(
    '--price', type=float, default=0.05, help='dollars of a core and hour'
  )
  parser.add_argument('--markdown', action='store_true')
  options = parser.parse_args(arguments or sys.argv[1:])
  path = options.out / RESULT
  if options.markdown:
    print(markdown(json.loads(path.read_text('utf-8'))))
    return
  sizes = {'infer': options.infer, 'oracle': options.oracle}
  if options.quick:
    sizes = {'infer': (2, 4), 'oracle': (4, 8)}
  content: dict[str, Any] = harness.provenance(
    f'stepwise bench beam --repeats {options.repeats}',
    harness.host_name(),
    ['stepwise', 'jax', 'apache-beam'],
  )
  with tempfile.TemporaryDirectory() as folder:
    rows = [
      row
      for verb, (few, many) in sizes.items()
      for row in measure(
        Path(folder), verb, few, many, options.articles, options.repeats
      )
    ]
  content |= {
    'articles': options.articles.name if options.articles else 'invented',
    'rows': rows,
    'price': options.price,
    'estimates': estimates(rows, options.price),
    'load_after': round(os.getloadavg()[0], 2),
  }
  harness.write_json(path, content)
  print(markdown(content))


def measure(
  folder: Path,
  verb: str,
  few: int,
  many: int,
  articles: Path | None,
  repeats: int,
) -> list[dict[str, Any]]:
  """Short and long runs of every way, in turns."""
  sources = {}
  for count in (few, many):
    path = folder / f'{verb}-{count}.jsonl'
    lines = given(articles, count) if articles else invented(count)
    path.write_text(''.join(f'{line}\n' for line in lines), 'utf-8')
    sources[count] = path
  # Programs are compiled once, and kept on the disk.
  for way in WAYS[:2]:
    run(folder, verb, way, sources[many], many)
  found: dict[tuple[str, int], dict[str, Any]] = {}
  for _ in range(repeats):
    for count in (few, many):
      for way in WAYS:
        again = run(folder, verb, way, sources[count], count)
        best = found.setdefault((way.name, count), again)
        # The one that was disturbed least.
        if again['cpu'] < best['cpu']:
          found[way.name, count] = again
  plain = found[WAYS[0].name, many]['output']
  rows = []
  for way in WAYS:
    short, long = found[way.name, few], found[way.name, many]
    assert long['output'] == plain, f'{way.name} gives something else'
    cost = (long['cpu'] - short['cpu']) / (many - few)
    rows.append(
      {
        'verb': verb,
        'way': way.name,
        'processes': way.processes,
        'documents': [few, many],
        'cpu_seconds': [round(short['cpu'], 2), round(long['cpu'], 2)],
        'wall_seconds': [round(short['wall'], 2), round(long['wall'], 2)],
        'cpu_ms_per_document': round(1000 * cost, 2),
        'start_cpu_seconds': round(short['cpu'] - few * cost, 2),
        'worker_mib': [round(short['mib']), round(long['mib'])],
      }
    )
  for row in rows:
    ratio = rows[0]['cpu_ms_per_document'] / row['cpu_ms_per_document']
    row['rate_per_process'] = round(ratio, 3)
  return rows


def run(
  folder: Path, verb: str, way: Way, source: Path, count: int
) -> dict[str, Any]:
  """One command: seconds of processors and of the wall, memory, output."""
  target = folder / 'out.jsonl'
  model = ['default'] if verb == 'infer' else []
  command = [*_STEPWISE, verb, *model, str(source), str(target)]
  if way.runner:
    part = max(1, count // 2)
    command += ['--runner', 'DirectRunner', '--part', str(part)]
    command += ['--', *_TWO] if way.processes > 1 else []
  elif verb == 'oracle':
    command += ['--processes', '1']
  cores = sorted(os.sched_getaffinity(0))
  before, started = _children_seconds(), time.perf_counter()
  # What is started now keeps to these cores.
  os.sched_setaffinity(0, cores[: way.processes])
  process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
  os.sched_setaffinity(0, cores)
  peak = _Peak(process.pid)
  with peak:
    code = process.wait()
  wall, cpu = time.perf_counter() - started, _children_seconds() - before
  if code:
    raise RuntimeError(f'{" ".join(command)} ended with {code}.')
  outputs = sorted(folder.glob('out-*')) if way.runner else [target]
  output = b''.join(path.read_bytes() for path in outputs)
  for path in outputs:
    path.unlink()
  return {'cpu': cpu, 'wall': wall, 'mib': peak.mib, 'output': output}


def _children_seconds() -> float:
  used = resource.getrusage(resource.RUSAGE_CHILDREN)
  return used.ru_utime + used.ru_stime


class _Peak:
  """The most memory that a process or any below it had, looked at often."""

  def __init__(self, process: int):
    self.mib = 0.0
    self._process = process
    self._done = threading.Event()
    self._thread = threading.Thread(target=self._watch)

  def __enter__(self) -> '_Peak':
    self._thread.start()
    return self

  def __exit__(self, *error: object) -> None:
    self._done.set()
    self._thread.join()

  def _watch(self) -> None:
    while not self._done.wait(0.25):
      for process in _family(self._process):
        self.mib = max(self.mib, _peak_mib(process))


def _family(process: int) -> Iterator[int]:
  yield process
  try:
    for task in Path(f'/proc/{process}/task').iterdir():
      for child in (task / 'children').read_text('utf-8').split():
        yield from _family(int(child))
  except OSError:  # It has ended.
    return


def _peak_mib(process: int) -> float:
  try:
    status = Path(f'/proc/{process}/status').read_text('utf-8')
  except OSError:
    return 0.0
  fields = dict(line.split(':', 1) for line in status.splitlines())
  return int(fields.get('VmHWM', '0 kB').split()[0]) / 1024


def given(path: Path, count: int) -> list[str]:
  with path.open(encoding='utf-8') as stream:
    return [line.rstrip('\n') for line in islice(stream, count)]


def invented(count: int) -> list[str]:
  """Articles of about 30 sentences and 660 words, with summaries."""
  rng = random.Random(0)
  lines = []
  for number in range(count):
    sentences = [
      f'{" ".join(rng.choices(_WORDS, k=rng.randint(14, 30))).capitalize()}.'
      for _ in range(rng.randint(20, 40))
    ]
    lines.append(
      json.dumps(
        {
          'id': f'a{number}',
          'article': sentences,
          'highlights': rng.sample(sentences, 3),
        }
      )
    )
  return lines


def estimates(
  rows: Sequence[Mapping[str, Any]], price: float
) -> list[dict[str, Any]]:
  """Time and cost on paper: workers of one core each, as measured here."""
  found = []
  for row in rows:
    if row['way'] != WAYS[-1].name:
      continue
    for archive, documents in _ARCHIVES.items():
      work = documents * row['cpu_ms_per_document'] / 1000
      start = row['start_cpu_seconds'] / row['processes']
      hours = (work / _WORKERS + start) / 3600
      found.append(
        {
          'verb': row['verb'],
          'archive': archive,
          'documents': documents,
          'workers': _WORKERS,
          'hours': round(hours, 3),
          'core_hours': round(hours * _WORKERS, 1),
          'dollars': round(hours * _WORKERS * price, 2),
        }
      )
  return found


def markdown(content: Mapping[str, Any]) -> str:
  """Tables of the results."""
  lines = [
    f'`{content["command"]}`, {content["date"]}, commit '
    f'{content["commit"][:12]}, {content["device"]}, load '
    f'{content["load_before"]} to {content["load_after"]}, articles '
    f'{content["articles"]}.',
    '',
    '| verb | way | ms of a core per document | rate of a process beside plain '
    '| start, s of a core | worker, MiB: short and long run |',
    '|---|---|---:|---:|---:|---:|',
  ]
  lines += [
    f'| {row["verb"]} | {row["way"]} | {row["cpu_ms_per_document"]:.1f} '
    f'| {row["rate_per_process"]:.2f} | {row["start_cpu_seconds"]:.1f} '
    f'| {row["worker_mib"][0]}, {row["worker_mib"][1]} |'
    for row in content['rows']
  ]
  lines += [
    '',
    f'On paper, {_WORKERS} workers of one such core, at '
    f'${content["price"]} of a core and hour:',
    '',
    '| verb | archive | documents | hours | core hours | cost |',
    '|---|---|---:|---:|---:|---:|',
  ]
  lines += [
    f'| {each["verb"]} | {each["archive"]} | {each["documents"]:,} '
    f'| {each["hours"]:.2f} | {each["core_hours"]:,} | ${each["dollars"]:,} |'
    for each in content['estimates']
  ]
  return '\n'.join(lines)


if __name__ == '__main__':
  main()
