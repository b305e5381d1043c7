"""ROUGE against documents seen and against compute; `gin/default/curve.mk`.

  python -m benchmarks.curve choose BUNDLE DOCUMENTS.jsonl OUT.jsonl
  python -m benchmarks.curve report EVALUATION.json OUT.json LINE=RUN[,RUN] ...

`choose` writes three sentences of every document, greedily and without a
trigram twice; every model reads the same beginning of a document. `report`
joins ROUGE of `stepwise evaluate`, where LINE-SIZE.jsonl is what a line of the
curve chose after SIZE updates, with the CPU time that the updates of its run
took by `metrics.jsonl`; of a second run, its pretraining, all updates count. It
says how lines differ, at equal documents and at equal compute, and draws them.
"""

import argparse
import dataclasses
import json
import math
import re
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, permutations
from operator import itemgetter
from pathlib import Path
from typing import Any

from stepwise._files import replacing, write_json, write_text
from stepwise.documents import Document, read_documents

TOKENS, UNITS = 384, 32
BATCH = 8
KINDS = ('rouge1', 'rouge2', 'rougeLsum')
LEAD = 'lead:3'
TWIN = '-twin'
# Sizes are a factor of two apart: a nearest one is always closer than this.
_ALIKE = 1.5
_COST = 'train/core_seconds'
_KEPT = ('device', 'versions', 'date', 'documents', 'seed', 'metric')

Row = dict[str, Any]
Differences = Mapping[tuple[str, str], Row]


def choose(bundle_folder: Path, source: Path) -> Iterator[Row]:
  """Lines for `stepwise evaluate`."""
  from stepwise.checkpoints import load_bundle
  from stepwise.data import Buckets, make_record
  from stepwise.inference import Predictor, Reading

  bundle = load_bundle(bundle_folder)
  config, tokenizer = bundle.config, bundle.tokenizer
  assert tokenizer is not None
  limits: dict[str, Any] = {'max_tokens': TOKENS, 'max_units': UNITS}
  limits['max_unit_tokens'] = config.limits.unit_tokens
  special = config.special_units
  documents = list(read_documents(source, on_error=print))
  readings = [
    Reading(d, make_record(d, tokenizer, special_units=special, **limits))
    for d in documents
  ]
  # One size of batches, as in training: another one would be compiled, too.
  predictor = Predictor(
    config,
    bundle.variables['params'],
    _three_sentences(config.stepwise),
    Buckets((TOKENS,), (UNITS,)),
  )
  for document, units in zip(documents, predictor(readings), strict=True):
    yield _line(document, units)


def _three_sentences(stepwise: bool) -> Any:
  from stepwise.inference import PredictConfig
  from stepwise.models import NEWS_DECODING

  config = PredictConfig(top_k=3, trigram_blocking=True, batch_size=BATCH)
  if not stepwise:
    return config
  # ETCSum reads a document anew for every step of every beam.
  decode = dataclasses.replace(
    NEWS_DECODING, beam_size=1, min_units=3, max_units=3
  )
  return dataclasses.replace(config, decode=decode)


def _line(document: Document, units: Sequence[int]) -> Row:
  summary = [document.units[unit] for unit in units]
  return {'id': document.id, 'units': list(units), 'summary': summary}


@dataclasses.dataclass(frozen=True)
class Cost:
  """Core-seconds of a line: of an update, and of what came before the first."""

  update: float
  before: float = 0.0


def update_cost(metrics: Sequence[Row]) -> float:
  """Core-seconds of an update: the median of the lines of `metrics.jsonl`.

  Those with compiling in them stand out, and are few.
  """
  return statistics.median(row[_COST] for row in metrics if _COST in row)


def line_cost(runs: Sequence[Path]) -> Cost:
  """Of a run and, if there is another, its pretraining."""
  run, *before = map(_read_metrics, runs)
  return Cost(
    update_cost(run),
    sum(update_cost(rows) * rows[-1]['step'] for rows in before),
  )


def _read_metrics(run: Path) -> list[Row]:
  lines = (run / 'metrics.jsonl').read_text(encoding='utf-8').splitlines()
  return [json.loads(line) for line in lines]


def make_report(
  evaluation: Mapping[str, Any], costs: Mapping[str, Cost]
) -> Row:
  """Points of all lines, and paired differences between them.

  Args:
    evaluation: what `stepwise evaluate --save-json` wrote.
    costs: of every line, in the order of the report.
  """
  found = _differences(evaluation)
  systems = {_file(system['name']): system for system in evaluation['systems']}
  lead = systems.pop(LEAD)
  order = list(costs)
  points = sorted(
    (_point(name, system, found, costs) for name, system in systems.items()),
    key=lambda point: (order.index(point['line']), point['updates']),
  )
  stepwise = [p for p in points if not p['line'].endswith(TWIN)]
  return {
    **{name: evaluation[name] for name in _KEPT},
    'lead': {kind: _bare(lead['rouge'][kind]['f1']) for kind in KINDS},
    'costs': {name: dataclasses.asdict(cost) for name, cost in costs.items()},
    'points': points,
    'per_doubling': list(_doublings(stepwise, found)),
    'equal_documents': _compared(_same_documents, stepwise, found),
    'equal_compute': _compared(_same_compute, stepwise, found),
    'twins': _compared(_twins, points, found),
  }


def _differences(evaluation: Mapping[str, Any]) -> dict[tuple[str, str], Row]:
  """Paired differences, in both directions."""
  found = {}
  for pair in evaluation['comparisons']:
    names = _file(pair['first']), _file(pair['second'])
    found[names] = {kind: _bare(pair['difference'][kind]) for kind in KINDS}
    found[names[::-1]] = {
      kind: _scaled(scores, -1) for kind, scores in found[names].items()
    }
  return found


def _bare(scores: Mapping[str, float]) -> dict[str, float]:
  return {part: scores[part] for part in ('mean', 'low', 'high')}


def _scaled(scores: Mapping[str, float], factor: float) -> dict[str, float]:
  """A mean and its interval, times a factor that may be negative."""
  low, high = sorted(scores[end] * factor for end in ('low', 'high'))
  return {'mean': scores['mean'] * factor, 'low': low, 'high': high}


def _file(name: str) -> str:
  """Of a path of predictions; baselines have none."""
  return Path(name).name


def _point(
  name: str, system: Row, found: Differences, costs: Mapping[str, Cost]
) -> Row:
  matched = re.fullmatch(r'(.+)-(\d+)\.jsonl', name)
  assert matched, name
  line, updates = matched[1], int(matched[2])
  return {
    'name': name,
    'line': line,
    'updates': updates,
    'documents': updates * BATCH,
    'core_seconds': costs[line].before + updates * costs[line].update,
    'rouge': {kind: _bare(system['rouge'][kind]['f1']) for kind in KINDS},
    'over_lead': found[name, LEAD],
  }


def _doublings(points: Sequence[Row], found: Differences) -> Iterator[Row]:
  """What a line gains when it sees twice as many documents, on the average."""
  for line, group in groupby(points, key=lambda point: point['line']):
    first, last = itemgetter(0, -1)(list(group))
    if first is last:
      continue
    doublings = math.log2(last['updates'] / first['updates'])
    gains = found[last['name'], first['name']]
    yield {
      'line': line,
      'doublings': doublings,
      **{kind: _scaled(gains[kind], 1 / doublings) for kind in KINDS},
    }


Alike = Callable[[Row, Row, Sequence[Row]], bool]


def _compared(
  alike: Alike, points: Sequence[Row], found: Differences
) -> list[Row]:
  """Differences between points of different lines that are to be compared."""
  return [
    {
      'first': one['name'],
      'second': other['name'],
      'core_seconds': [one['core_seconds'], other['core_seconds']],
      'difference': found[one['name'], other['name']],
    }
    for one, other in permutations(points, 2)
    if one['line'] != other['line'] and alike(one, other, points)
  ]


def _same_documents(one: Row, other: Row, points: Sequence[Row]) -> bool:
  """A later line beside an earlier one."""
  later = points.index(one) > points.index(other)
  return later and one['updates'] == other['updates']


def _same_compute(one: Row, other: Row, points: Sequence[Row]) -> bool:
  """A later line beside that point of an earlier one that cost most like it."""
  rivals = [point for point in points if point['line'] == other['line']]
  nearest = min(rivals, key=lambda rival: _ratio(one, rival))
  later = points.index(one) > points.index(other)
  return later and other is nearest and _ratio(one, other) < _ALIKE


def _ratio(one: Row, other: Row) -> float:
  return math.exp(abs(math.log(one['core_seconds'] / other['core_seconds'])))


def _twins(one: Row, other: Row, points: Sequence[Row]) -> bool:
  """What a twin started from, beside the twin."""
  line = [point for point in points if point['line'] == one['line']]
  return other['line'] == one['line'] + TWIN and one is line[-1]


def draw(report: Mapping[str, Any], path: Path) -> None:
  """Gains over Lead with their intervals, by documents and by compute."""
  from matplotlib.figure import Figure

  figure = Figure(figsize=(9, 3.6), layout='constrained')
  stepwise = [p for p in report['points'] if not p['line'].endswith(TWIN)]
  for axes, by, label in zip(
    figure.subplots(1, 2, sharey=True),
    ('documents', 'core_seconds'),
    ('documents seen', 'core-seconds, pretraining included'),
    strict=True,
  ):
    for line, group in groupby(stepwise, key=lambda point: point['line']):
      points = list(group)
      gains = [point['over_lead']['rouge1'] for point in points]
      means = [gain['mean'] for gain in gains]
      ends = [
        [gain['mean'] - gain['low'] for gain in gains],
        [gain['high'] - gain['mean'] for gain in gains],
      ]
      axes.errorbar(
        *([point[by] for point in points], means, ends),
        label=line,
        marker='o',
        capsize=3,
      )
    axes.axhline(0, color='black', linewidth=0.8)
    axes.set_xscale('log', base=2)
    axes.xaxis.set_major_formatter('{x:,.0f}')
    axes.set_xlabel(label)
  figure.axes[0].set_ylabel('ROUGE-1 over Lead-3')
  figure.axes[0].legend()
  with replacing(path) as beside:
    figure.savefig(beside, dpi=120, format='png')


def main(arguments: Sequence[str] | None = None) -> None:
  parser = argparse.ArgumentParser(description=__doc__)
  verbs = parser.add_subparsers(dest='verb', required=True)
  choosing = verbs.add_parser('choose')
  choosing.add_argument('bundle', type=Path)
  choosing.add_argument('documents', type=Path)
  choosing.add_argument('out', type=Path)
  reporting = verbs.add_parser('report')
  reporting.add_argument('evaluation', type=Path)
  reporting.add_argument('out', type=Path)
  reporting.add_argument('--command', default='', help='to be kept in OUT')
  reporting.add_argument('lines', nargs='+', metavar='LINE=RUN[,RUN]')
  args = parser.parse_args(arguments)
  if args.verb == 'choose':
    lines = choose(args.bundle, args.documents)
    rows = [json.dumps(row, ensure_ascii=False) for row in lines]
    write_text(args.out, '\n'.join(rows) + '\n')
    return
  evaluation = json.loads(args.evaluation.read_text(encoding='utf-8'))
  runs = dict(line.split('=', 1) for line in args.lines)
  costs = {
    line: line_cost([Path(run) for run in given.split(',')])
    for line, given in runs.items()
  }
  report = {'command': args.command, **make_report(evaluation, costs)}
  write_json(args.out, report)
  draw(report, args.out.with_suffix('.png'))


if __name__ == '__main__':
  main()
