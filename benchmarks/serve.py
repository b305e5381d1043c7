"""How fast does the server answer many at a time?

  stepwise bench serve            # some minutes
  stepwise bench serve --quick    # few texts and a ranker
  stepwise bench serve --soak 600 # ten minutes of eight clients, and its memory

A server in a process of its own, as `stepwise serve` starts it, and clients on
the same machine, each with one request at a time: documents a second, and the
seconds in which half and 99 of 100 requests are answered. Beside it `stepwise
infer`, on the same texts with the same model and options, is what the same work
costs without a network; starting and loading are not counted in either.

Texts are drawn from the words of the packaged sample, of 8 to 40 sentences.
"""

import http.client
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import benchmarks._harness as harness  # Before jax.

# isort: split
from rich.console import Console
from rich.table import Table

from stepwise.summarization import (
  SummaryOptions,
  load_summarizer,
  sample_article,
  write_summaries,
)

CLIENTS = (1, 8, 32)
# Throughput of the most clients, beside that of `infer`.
TARGET = 0.8
# Growth of memory in a soak, beside what it was after a tenth of it.
FLAT = 0.05


class Plan(NamedTuple):
  model: str
  texts: int


FULL = Plan('default', 64)
QUICK = Plan('lead', 32)


def main(arguments: Sequence[str] | None = None) -> None:
  parser = harness.parser('serve', __doc__)
  parser.add_argument(
    '--soak', type=float, metavar='SECONDS', help='only this, for so long'
  )
  options = parser.parse_args(arguments)
  plan = QUICK if options.quick else FULL
  name = 'serve' if options.soak is None else 'serve_soak'
  flags = ['--quick'] if options.quick else []
  flags += [] if options.soak is None else [f'--soak {options.soak:g}']
  command = ' '.join(['stepwise bench serve', *flags])
  packages = ['stepwise', 'jax', 'jaxlib', 'starlette', 'uvicorn', 'h11']
  content = harness.provenance(command, harness.host_name(), packages)
  content |= {'model': plan.model}
  texts = make_texts(plan.texts)
  if options.soak is None:
    content |= measure(plan, texts)
    print_report(content)
  else:
    content |= soak(plan, texts, options.soak)
    Console().print_json(data=content['memory'])
  harness.write_json(options.out / f'{name}.json', content)


def make_texts(count: int) -> list[str]:
  """Sentences of the sample, shuffled and of many lengths."""
  rng = random.Random(0)
  sentences = [
    sentence.strip() + '.'
    for sentence in sample_article().replace('\n', ' ').split('. ')
    if sentence.strip()
  ]
  return [
    ' '.join(rng.choices(sentences, k=rng.randint(8, 40))) for _ in range(count)
  ]


def measure(plan: Plan, texts: Sequence[str]) -> dict[str, Any]:
  """Documents a second, with every number of clients and without any."""
  with running() as server:
    # Every size of document once: compiling is no part of it.
    load(server.port, plan.model, texts, 4)
    # Before and after, as machines change meanwhile.
    before = infer(plan.model, texts)
    served = {
      str(clients): load(server.port, plan.model, texts, clients)
      for clients in CLIENTS
    }
    alone = round((before + infer(plan.model, texts)) / 2, 2)
  most = served[str(max(CLIENTS))]['documents_per_second']
  return {
    'texts': len(texts),
    'clients': served,
    'infer': {'documents_per_second': alone},
    'ratio': {
      'value': round(most / alone, 3),
      'target': TARGET,
      'met': most >= TARGET * alone,
    },
  }


def infer(model: str, texts: Sequence[str]) -> float:
  """Documents a second of the batch command, loaded and warm."""
  summarizer = load_summarizer(model)
  config = getattr(summarizer, 'config', None)
  size = config.batch_size if config else 1
  with tempfile.TemporaryDirectory() as folder:
    source = Path(folder, 'in.jsonl')
    rows = (json.dumps({'text': text}) + '\n' for text in texts)
    source.write_text(''.join(rows), encoding='utf-8')
    times = []
    for attempt in range(2):
      started = time.perf_counter()
      write_summaries(
        source,
        Path(folder, f'out-{attempt}.jsonl'),
        summarizer,
        SummaryOptions(),
        made_by={'model': model},
        batch_size=size,
      )
      times.append(time.perf_counter() - started)
  return round(len(texts) / times[-1], 2)


class Server(NamedTuple):
  port: int
  pid: int


@contextmanager
def running() -> Iterator[Server]:
  """A server as people start it."""
  process = subprocess.Popen(
    [sys.executable, '-m', 'stepwise.cli.main', 'serve', '--port', '0'],
    stderr=subprocess.PIPE,
    text=True,
    env={**os.environ, 'JAX_PLATFORMS': 'cpu'},
  )
  assert process.stderr is not None
  try:
    line = ''
    while 'http://' not in line:
      line = process.stderr.readline()
      if not line:
        raise RuntimeError('the server ended before it listened')
    # Whatever else it says goes nowhere, or it would wait for a reader.
    threading.Thread(target=process.stderr.read, daemon=True).start()
    yield Server(int(line.strip().rstrip('/').rpartition(':')[2]), process.pid)
  finally:
    process.terminate()
    process.wait(60)
    process.stderr.close()


def load(
  port: int, model: str, texts: Sequence[str], clients: int
) -> dict[str, float]:
  """All texts once, shared out among clients."""
  started = time.perf_counter()
  with ThreadPoolExecutor(clients) as pool:
    parts = pool.map(
      lambda part: run_client(port, model, part),
      [texts[start::clients] for start in range(clients)],
    )
    seconds = sorted(each for part in parts for each in part)
  whole = time.perf_counter() - started
  return {
    'documents_per_second': round(len(texts) / whole, 2),
    'p50_seconds': round(statistics.median(seconds), 4),
    'p99_seconds': round(seconds[int(0.99 * (len(seconds) - 1))], 4),
  }


def run_client(
  port: int,
  model: str,
  texts: Iterable[str],
  more: Callable[[], bool] = lambda: True,
) -> list[float]:
  """Seconds of every request of one client that keeps its connection."""
  connection = http.client.HTTPConnection('127.0.0.1', port, timeout=300)
  seconds = []
  for text in texts:
    if not more():
      break
    started = time.perf_counter()
    connection.request(
      'POST',
      '/api/summarize',
      json.dumps({'text': text, 'model': model}),
      {'Content-Type': 'application/json'},
    )
    answer = connection.getresponse()
    answer.read()
    if answer.status != 200:
      raise RuntimeError(f'the server answers {answer.status}')
    seconds.append(time.perf_counter() - started)
  connection.close()
  return seconds


def soak(plan: Plan, texts: Sequence[str], seconds: float) -> dict[str, Any]:
  """Eight clients for a while; memory of the server all the time."""
  with running() as server:
    load(server.port, plan.model, texts, 8)
    end = time.monotonic() + seconds
    sizes: list[float] = []

    def client(_: int) -> int:
      endless = (text for _ in iter(int, 1) for text in texts)
      done = run_client(
        server.port, plan.model, endless, lambda: time.monotonic() < end
      )
      return len(done)

    with ThreadPoolExecutor(8) as pool:
      counts = pool.map(client, range(8))
      while time.monotonic() < end:
        sizes.append(resident(server.pid))
        time.sleep(max(0.0, min(seconds / 60, end - time.monotonic())))
      documents = sum(counts)
  early = sizes[len(sizes) // 10]
  growth = max(sizes[len(sizes) // 10 :]) / early - 1
  return {
    'seconds': seconds,
    'documents': documents,
    'memory': {
      'mebibytes': [round(size, 1) for size in sizes],
      'growth': round(growth, 4),
      'most': FLAT,
      'met': growth <= FLAT,
    },
  }


def resident(pid: int) -> float:
  """Mebibytes of memory that a process holds."""
  pages = int(Path(f'/proc/{pid}/statm').read_text('utf-8').split()[1])
  return pages * resource.getpagesize() / 2**20


def print_report(content: Mapping[str, Any]) -> None:
  table = Table('clients', 'documents a second', 'p50, s', 'p99, s')
  for clients, row in content['clients'].items():
    values = (row['p50_seconds'], row['p99_seconds'])
    table.add_row(
      clients,
      f'{row["documents_per_second"]:.1f}',
      *(f'{value:.3f}' for value in values),
    )
  alone = content['infer']['documents_per_second']
  table.add_row('infer', f'{alone:.1f}', '', '')
  console = Console()
  console.print(table)
  ratio = content['ratio']
  console.print(
    f'{max(CLIENTS)} clients beside infer: {ratio["value"]:.2f},'
    f' at least {ratio["target"]} is asked for'
  )


if __name__ == '__main__':
  main()
