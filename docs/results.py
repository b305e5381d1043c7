"""Tables of README, docs and cards, from the JSON of their measurements.

Between `<!-- results: NAME -->` and `<!-- end -->` of a page stands what the
function of that name makes of `benchmarks/results`.

  python -m docs.results    # writes all of them anew: `make results`
"""

import dataclasses
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from docs.blocks import ROOT, markdown_files
from stepwise.evaluation import ContentSelection, bootstrap_interval
from stepwise.extraction import SystemRow, published_systems, systems_table

RESULTS = ROOT / 'benchmarks' / 'results'
_ROUGE = ('rouge1', 'rouge2', 'rougeLsum')
_SYSTEMS = {
  'lead:3': 'Lead-3',
  'lexrank:3': 'LexRank',
  'textrank:3': 'TextRank',
  'oracle': 'Oracle (Full), which knows the reference',
  'oracle:512': 'Oracle (512), which knows the reference',
}
_PUBLISHED = ('lead', 'stepwise_hibert_triblk', 'stepwise_etcsum')
_WAYS = {
  'default.jsonl': 'whole summaries, two to four sentences',
  'stepwise_3.jsonl': 'stepwise',
  'stepwise_3_triblk.jsonl': 'stepwise, trigram blocking',
  'twin.jsonl': 'twin',
  'twin_triblk.jsonl': 'twin, trigram blocking',
  'lead:3': 'Lead-3',
}
_ASKED = {
  ('default.jsonl', 'stepwise_3_triblk.jsonl'),
  ('stepwise_3.jsonl', 'twin.jsonl'),
  ('stepwise_3_triblk.jsonl', 'twin_triblk.jsonl'),
}
_SCORED = {
  'reports.txt': '**`stepwise report`**',
  'plans.jsonl': 'its plans, `stepwise plan`',
}
_FREQUENT = 'frequent entries'
_LINES = {
  'hibert': 'stepwise HiBERT',
  'etcsum': 'stepwise ETCSum',
  'etcsum-pretrained': 'stepwise ETCSum, pretrained',
  'etcsum-twin': 'twin of ETCSum',
  'etcsum-pretrained-twin': 'twin of ETCSum, pretrained',
}
_PRETRAINED = {
  'mlm_loss': 'MLM loss',
  'mlm_accuracy': 'masked tokens found',
  'cpc_loss': 'CPC loss',
  'cpc_accuracy': 'hidden sentences found',
}
_REALIZERS = {'template': 'templates', 'learned': '`learned`'}


def load(name: str) -> Any:
  """A measurement."""
  return json.loads((RESULTS / f'{name}.json').read_text(encoding='utf-8'))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
  """A table of Markdown.

  >>> print(table(['a', 'b'], [['1', '2']]))
  | a | b |
  |---|---|
  | 1 | 2 |
  """
  lines = [head, ['---'] * len(head), *rows]
  bars = ['|'.join(['', *(f' {cell} ' for cell in line), '']) for line in lines]
  return '\n'.join([bars[0], bars[1].replace(' ', ''), *bars[2:]])


def interval(
  scores: Mapping[str, float], sign: str = '', digits: int = 2
) -> str:
  """A mean with its interval.

  >>> interval({'mean': 1.5, 'low': 1, 'high': 2}, '+')
  '+1.50 (+1.00 to +2.00)'
  """
  mean, low, high = (
    f'{scores[part]:{sign}.{digits}f}' for part in ('mean', 'low', 'high')
  )
  return f'{mean} ({low} to {high})'


def summarizer() -> str:
  """The packaged summarizer beside baselines and the paper's systems."""
  from stepwise.models import find_system

  report = load('default_model')
  first, *others = report['systems']
  gains = {
    pair['first']: pair['difference']['rouge1']
    for pair in report['comparisons']
    if pair['second'] == 'lead:3'
  }
  lead = next(s for s in others if s['name'] == 'lead:3')
  rows = [
    [f'**{name}**', *_rouge(system), _gain(system, lead, gains)]
    if system is first
    else [name, *_rouge(system), _gain(system, lead, gains)]
    for name, system in (
      ('`stepwise summarize`', first),
      *((_SYSTEMS[s['name']], s) for s in others if s['name'] in _SYSTEMS),
    )
  ]
  lead_published = find_system('lead').published
  assert lead_published
  for name in _PUBLISHED:
    system = find_system(name)
    assert system.published
    gain = system.published[0] - lead_published[0]
    shown = '' if name == 'lead' else f'{gain:+.2f}'
    cells = [f'{score:.2f}' for score in system.published]
    rows.append([f'paper: {system.title}', *cells, shown])
  head = ['', 'ROUGE-1', 'ROUGE-2', 'ROUGE-L', 'ROUGE-1 over its Lead']
  return '\n\n'.join(
    [
      table(head, rows),
      f'`{report["metric"]}` F1, 95 % intervals, {report["documents"]:,}'
      f' validation documents that nothing was chosen on, {report["date"]}:'
      f' `{report["command"]}`. Rows of the paper are of the test split.',
    ]
  )


def _rouge(system: Mapping[str, Any]) -> list[str]:
  return [interval(system['rouge'][kind]['f1']) for kind in _ROUGE]


def _gain(system: Any, lead: Any, gains: Mapping[str, Any]) -> str:
  if system is lead:
    return ''
  if system['name'] in gains:
    return interval(gains[system['name']], '+')
  means = [each['rouge']['rouge1']['f1']['mean'] for each in (system, lead)]
  return f'{means[0] - means[1]:+.2f}'


def twins() -> str:
  """Choosing step by step, at once, and by the worth of whole summaries."""
  report = load('default_twin')
  rows = [
    [_WAYS[system['name']], *_rouge(system)] for system in report['systems']
  ]
  differences = [
    [
      f'{_WAYS[pair["first"]]}, minus {_WAYS[pair["second"]]}',
      *(interval(pair['difference'][kind], '+') for kind in _ROUGE),
    ]
    for pair in report['comparisons']
    if (pair['first'], pair['second']) in _ASKED
  ]
  head = ['', 'ROUGE-1', 'ROUGE-2', 'ROUGE-L']
  return table(head, [*rows, *differences])


def curve() -> str:
  """Lines of HiBERT and ETCSum against documents and compute."""
  report = load('curve')
  rows = [
    [
      *(_LINES[point['line']], _seen(point), f'{point["core_seconds"]:,.0f}'),
      *(interval(point['over_lead'][kind], '+') for kind in _ROUGE),
    ]
    for point in report['points']
  ]
  kinds = [f'{kind} over Lead-3' for kind in ('ROUGE-1', 'ROUGE-2', 'ROUGE-L')]
  head = ['', 'documents', 'core-seconds', *kinds]
  return '\n\n'.join(
    [
      table(head, rows),
      f'`{report["metric"]}` F1, 95 % intervals, {report["documents"]} of the'
      f' choosing documents, {report["date"]}; Lead-3 has'
      f' {report["lead"]["rouge1"]["mean"]:.2f} ROUGE-1.',
      _curve_differences(report),
    ]
  )


def pretraining() -> str:
  """The first and last batches of a pretraining, none of them seen before."""
  path = RESULTS / 'curve_training_etc.jsonl'
  lines = path.read_text(encoding='utf-8').splitlines()
  log = [json.loads(line) for line in lines]
  third = len(log) // 3
  rows = []
  for part in (log[:third], log[-third:]):
    means = [
      sum(row[f'train/{name}'] for row in part) / third for name in _PRETRAINED
    ]
    steps = f'{part[0]["step"]} to {part[-1]["step"]}'
    rows.append([steps, *_losses(means)])
  return table(['updates', *_PRETRAINED.values()], rows)


def _losses(means: Sequence[float]) -> list[str]:
  mlm, known, cpc, found = means
  return [f'{mlm:.2f}', f'{known:.1%}', f'{cpc:.2f}', f'{found:.1%}']


def _curve_differences(report: Mapping[str, Any]) -> str:
  """What the lines are beside each other, and beside themselves."""
  points = {point['name']: point for point in report['points']}
  rows = [
    [
      what,
      *(_named(points[pair[end]]) for end in ('first', 'second')),
      ' / '.join(f'{seconds:,.0f}' for seconds in pair['core_seconds']),
      *(interval(pair['difference'][kind], '+') for kind in _ROUGE),
    ]
    for key, what in (
      ('equal_documents', 'equal documents'),
      ('equal_compute', 'equal compute'),
      ('twins', 'stepwise, minus its twin'),
    )
    for pair in report[key]
  ]
  for row in report['per_doubling']:
    gains = (interval(row[kind], '+') for kind in _ROUGE)
    rows.append(
      ['a doubling of documents', _LINES[row['line']], '', '', *gains]
    )
  head = ['', 'first', 'minus', 'core-seconds', 'ROUGE-1', 'ROUGE-2', 'ROUGE-L']
  return table(head, rows)


def _named(point: Mapping[str, Any]) -> str:
  return f'{_LINES[point["line"]]}, {_seen(point)}'


def _seen(point: Mapping[str, Any]) -> str:
  more = ' more' if point['line'].endswith('-twin') else ''
  return f'{point["documents"]:,}{more}'


def baselines() -> str:
  """Lead and oracles of all validation documents beside published ones."""
  from stepwise.models import find_system

  names = {'lead:3': 'lead', 'oracle:512': 'oracle_512', 'oracle': 'oracle'}
  rows = []
  for system in load('cnn_dailymail_validation_baselines')['systems']:
    paper = find_system(names[system['name']])
    published = ' / '.join(f'{score:.2f}' for score in paper.published or ())
    rows.append([paper.title, *_rouge(system), published])
  head = ['', 'ROUGE-1', 'ROUGE-2', 'ROUGE-Lsum', 'published, test split']
  return table(head, rows)


def planner() -> str:
  """Planning only, against human summaries read by `lookup`."""
  rows = [
    [name, f'{scores["cs"]["f1"]:.2f}', f'{scores["co"]:.2f}']
    for name, kinds in load('rotowire_planner')['planning_only'].items()
    for scores in [kinds['human summaries, read by lookup']]
  ]
  plain = load('rotowire_salience')['salience']
  rows.append(
    [
      '`--model salience`, which learns nothing',
      f'{plain["cs"]["f1"]:.2f}',
      f'{plain["co"]:.2f}',
    ]
  )
  return table(['', 'CS F1', 'CO'], rows)


def planners() -> str:
  """Planning only by the strict metric: seeds, intervals, paired tests."""
  report = load('rotowire_planners')
  systems = report['systems']
  over_frequent = _over_frequent(report['differences'])
  rows = []
  # The paper's first.
  for name in sorted(systems, key=lambda name: not name.startswith('stepwise')):
    scores, gain = systems[name], over_frequent.get(name)
    rows.append(
      [
        name,
        f'{scores["CS P"]["mean"]:.2f}',
        f'{scores["CS R"]["mean"]:.2f}',
        interval(scores['CS F1']),
        ' / '.join(f'{seed:.2f}' for seed in scores['CS F1']['seeds']),
        interval(scores['CO']),
        '' if gain is None else interval(gain, '+'),
      ]
    )
  for row in published_systems('valid'):
    if row.cs is not None and row.system.endswith(', plans'):
      cs = (row.cs.precision, row.cs.recall, row.cs.f1)
      name = f'{row.system}, all 727 games'
      rows.append([name, *(f'{score:.2f}' for score in cs), '', '', ''])
  head = ['', 'CS P', 'CS R', 'CS F1', 'by seed', 'CO', 'over frequent entries']
  return table(head, rows)


def _over_frequent(differences: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
  """CS F1 of every system over frequent entries."""
  found = {}
  for row in differences:
    if row['second'] == _FREQUENT:
      found[row['first']] = row['CS F1']
    elif row['first'] == _FREQUENT:
      found[row['second']] = _opposite(row['CS F1'])
  return found


def _opposite(difference: Mapping[str, float]) -> dict[str, float]:
  """Second minus first."""
  ends = {'mean': 'mean', 'low': 'high', 'high': 'low'}
  return {end: -difference[other] for end, other in ends.items()}


def extractors() -> str:
  """Learned extractors and `lookup` against distant labels."""
  rows = [
    [
      f'`{name}`',
      str(scores['games']),
      f'{scores["precision"]:.2f}',
      f'{scores["recall"]:.2f}',
    ]
    for name, scores in load('rotowire_extractors')['agreement'].items()
  ]
  return table(['extractor', 'games', 'precision', 'recall'], rows)


def realizer() -> str:
  """Realizers on oracle plans and on those of the planner, strictly scored."""
  rows = []
  for plans, file in (
    ('planner', 'realizer_planned'),
    ('oracle', 'realizer_oracle_plans'),
  ):
    for name, scores in load(file)['systems'].items():
      strict = scores['strict']
      cs = strict['cs']
      numbers = (
        *(strict['rg_count'], strict['rg_precision']),
        *(cs['precision'], cs['recall'], cs['f1'], strict['co']),
      )
      rows.append(
        [
          plans,
          _REALIZERS[name],
          str(strict['count']),
          *(f'{number:.2f}' for number in numbers),
          interval(scores['BLEU'], digits=2),
          f'{strict["words"]:.1f}',
          str(strict['mistakes']),
        ]
      )
  head = ('plans', 'realizer', 'games', 'RG #', 'RG P', 'CS P', 'CS R')
  return table([*head, 'CS F1', 'CO', 'BLEU', 'words', 'mistakes'], rows)


def reports() -> str:
  """Reports of the package by the strict metric, beside the paper's."""
  rows = []
  for row in load('rotowire_table')['rows']:
    named = row | {'system': _SCORED.get(row['system'], row['system'])}
    cs = row['cs'] and ContentSelection(**row['cs'])
    rows.append(SystemRow(**named | {'cs': cs}))
  return systems_table(rows)


def kinds() -> str:
  """The way `auto` takes, by kind of document, beside the best other."""
  rows = []
  sets = load('mixed')['sets']
  for name, row in sorted(sets.items(), key=lambda s: -s[1]['documents']):
    mean, low, high = row['auto_minus_best']
    rows.append(
      [
        name,
        str(row['documents']),
        str(row['words']),
        f'{row["rouge1"]["auto"]:.2f}',
        f'{row["best"]} {row["rouge1"][row["best"]]:.2f}',
        f'{mean:+.2f} ({low:+.2f} to {high:+.2f})',
        ', '.join(f'{key} {count}' for key, count in row['auto'].items()),
      ]
    )
  head = [
    *('set', 'documents', 'words', '`auto`', 'best of the others'),
    *('difference', '`auto` took'),
  ]
  return table(head, rows)


def far() -> str:
  """Long documents read at once, beside other ways, over all sets."""
  report = load('reach')
  sets = report['sets'].values()
  scores = {
    name: np.concatenate([found['rouge1'][name] for found in sets])
    for name in next(iter(sets))['rouge1']
  }

  def show(values: np.ndarray, sign: str = '') -> str:
    return interval(dataclasses.asdict(bootstrap_interval(values)), sign)

  rows = [
    [
      name,
      show(found),
      show(found - scores['lexrank'], '+') if name != 'lexrank' else '',
      show(scores['at once'] - found, '+') if name != 'at once' else '',
    ]
    for name, found in scores.items()
  ]
  head = ['way', 'ROUGE-1', 'minus LexRank', 'at once minus it']
  about = (
    f'{len(scores["at once"])} documents, 95 % intervals, {report["date"]}, '
    f'{report["device"]}.'
  )
  return f'{table(head, rows)}\n\n{about}'


TABLES: dict[str, Callable[[], str]] = {
  function.__name__: function
  for function in (
    *(summarizer, twins, curve, pretraining, baselines, planner),
    *(planners, extractors, realizer, reports, kinds, far),
  )
}
_PLACE = re.compile(r'(<!-- results: (\w+) -->\n).*?(<!-- end -->)', re.S)


def fill(text: str) -> str:
  """A page with its tables as they are now."""
  return _PLACE.sub(
    lambda found: f'{found[1]}{TABLES[found[2]]()}\n{found[3]}', text
  )


def main() -> None:
  for path in markdown_files():
    text = path.read_text(encoding='utf-8')
    if fill(text) != text:
      path.write_text(fill(text), encoding='utf-8')
      print(path.relative_to(ROOT))


if __name__ == '__main__':
  main()
