"""How good are summaries of documents that are not news, at equal words?

  stepwise bench mixed FOLDER    # to results/mixed.json
  stepwise bench mixed           # the table of the README, from that

FOLDER has a file of JSON lines for every set, such as `qmsum.valid.jsonl.zst`,
with `article` and `highlights`, further references in `other_highlights`, and
`lang`. Every system gets the same words for every document of a set: as many as
its references have on average. ROUGE-1 F1, all scripts, several references
averaged. `auto` is what `stepwise summarize` does if nobody names a model;
which model it took is counted. How much better than LexRank it is, is told
apart of English documents that the packaged model reads at once, and of longer
ones.

Every set is written at once, with its commit; sets that the file has by the
same command are kept. `--split train` is for choosing weights, `valid` for
reporting.
"""

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks._attention_report import markdown_table, update_readme
from benchmarks._harness import (
  RESULTS,
  host_name,
  provenance,
  read_json,
  write_json,
)
from stepwise._files import open_for_reading
from stepwise.documents import Document, count_words, make_document
from stepwise.evaluation import bootstrap_interval, rouge
from stepwise.summarization import SummaryOptions, load_summarizer

BASELINES = ('lead', 'textrank', 'lexrank')
# Of fewer documents a mean tells little.
ENOUGH = 50
# Sentences that the packaged model reads at once.
SHORT_UNITS = 130
_METRIC = 'rouge-1.5.5-unicode'


class Example(NamedTuple):
  document: Document
  references: list[list[str]]


def main(arguments: Sequence[str] | None = None) -> None:
  parser = argparse.ArgumentParser(
    prog='stepwise bench mixed',
    description=__doc__,
    formatter_class=argparse.RawDescriptionHelpFormatter,
  )
  parser.add_argument('folder', type=Path, nargs='?')
  parser.add_argument('--sets', nargs='*', help='default: all of the split')
  parser.add_argument('--split', default='valid')
  parser.add_argument('--systems', nargs='*', default=[*BASELINES, 'auto'])
  parser.add_argument('--documents', type=int, default=200, help='a set')
  parser.add_argument('--seed', type=int, default=0)
  parser.add_argument('--out', type=Path, default=RESULTS / 'mixed.json')
  options = parser.parse_args(arguments)
  if options.folder:
    measure_sets(options)
  else:
    update_readme('mixed', markdown(read_json(options.out)))


def measure_sets(options: argparse.Namespace) -> None:
  """All sets, the small ones first; those that are stored are not again."""
  command = (
    f'stepwise bench mixed FOLDER --split {options.split} --documents '
    f'{options.documents} --seed {options.seed}'
  )
  about = provenance(command, host_name(), ('jax', 'numpy'))
  content = {'sets': _stored(options.out, command), **about}
  for path in _files(options.folder, options.split, options.sets):
    name = path.name.partition('.')[0]
    if name not in content['sets']:
      examples = read_sample(path, options.documents, options.seed)
      found = measure(examples, options.systems)
      content['sets'][name] = found | {'commit': about['commit']}
      write_json(options.out, content)
    print(_row(name, content['sets'][name]), flush=True)


def _stored(path: Path, command: str) -> dict[str, Any]:
  if not path.exists():
    return {}
  content = read_json(path)
  return content['sets'] if content['command'] == command else {}


def measure(examples: Sequence[Example], systems: Sequence[str]) -> dict:
  """ROUGE-1 of every system, in per cent, and of which models `auto` took."""
  words = round(
    np.mean([_words(each) for each in examples for each in each.references])
  )
  asked = SummaryOptions(words=words)
  scores, taken = {}, Counter()
  for name in systems:
    summarizer = load_summarizer(name)
    found = []
    for document, references in examples:
      summary = summarizer(document, asked)
      lines = [sentence.text for sentence in summary]
      found.append(rouge(lines, references, _METRIC, kinds=['rouge1'])[0, 2])
      taken[summary.model] += name == 'auto'
    scores[name] = 100 * np.array(found)
  return {
    'documents': len(examples),
    'language': examples[0].document.language,
    'words': words,
    'rouge1': {name: _round(found.mean()) for name, found in scores.items()},
    'auto': {name: count for name, count in taken.items() if count},
    **_beside_best(scores),
    **_beside_lexrank(examples, scores),
  }


def _beside_best(scores: Mapping[str, np.ndarray]) -> dict[str, Any]:
  """How much better `auto` is than the best baseline, with its interval."""
  others = [name for name in BASELINES if name in scores]
  if not others or 'auto' not in scores:
    return {}
  best = max(others, key=lambda name: scores[name].mean())
  found = bootstrap_interval(scores['auto'] - scores[best])
  ends = [_round(end) for end in (found.mean, found.low, found.high)]
  return {'best': best, 'auto_minus_best': ends}


def _beside_lexrank(
  examples: Sequence[Example], scores: Mapping[str, np.ndarray]
) -> dict[str, Any]:
  """By how much `auto` is better, document by document, by their length."""
  if not {'auto', 'lexrank'} <= scores.keys():
    return {}
  gains = scores['auto'] - scores['lexrank']
  long = np.array([len(each.document.spans) > SHORT_UNITS for each in examples])
  found = {'short': gains[~long], 'long': gains[long]}
  return {
    'auto_minus_lexrank': {
      name: [_round(gain) for gain in group] for name, group in found.items()
    }
  }


def by_length(content: Mapping[str, Any]) -> str:
  """A sentence on all English documents, the short and the long ones."""
  parts = []
  for name, about in (('short', 'at most'), ('long', 'more than')):
    gains = [
      gain
      for found in content['sets'].values()
      if found.get('language') == 'en'
      for gain in found['auto_minus_lexrank'][name]
    ]
    if gains:
      found = bootstrap_interval(np.array(gains))
      parts.append(
        f'{found.mean:+.2f} ({found.low:+.2f} to {found.high:+.2f}) on'
        f' {len(gains)} of {about} {SHORT_UNITS} sentences'
      )
  if not parts:
    return ''
  return f'`auto` minus LexRank, English documents: {"; ".join(parts)}.\n'


def _round(value: float) -> float:
  return round(float(value), 2)


def markdown(content: Mapping[str, Any]) -> str:
  """The table of the README: sets that are large enough, then the others."""
  sets = sorted(
    content['sets'].items(), key=lambda item: item[1]['documents'] < ENOUGH
  )
  rows = [
    [
      name,
      str(found['documents']),
      str(found['words']),
      *(f'{found["rouge1"][system]:.2f}' for system in (*BASELINES, 'auto')),
      '{:+.2f} ({:+.2f} to {:+.2f})'.format(*found['auto_minus_best']),
      ', '.join(f'{model} {count}' for model, count in found['auto'].items()),
    ]
    for name, found in sets
  ]
  header = ['set', 'documents', 'words', *BASELINES, '`auto`']
  header += ['`auto` minus the best', '`auto` took']
  commits = sorted({found['commit'][:12] for _, found in sets})
  about = (
    f'`{content["command"]}`, {content["date"]}, commit {", ".join(commits)},'
    ' ROUGE-1 F1, 95 % intervals:'
  )
  lengths = by_length(content)
  tail = f'\n{lengths}' if lengths else ''
  return f'{about}\n\n{markdown_table(header, rows)}\n{tail}'


def _words(sentences: Sequence[str]) -> int:
  return sum(map(count_words, sentences))


def _row(name: str, result: dict[str, Any]) -> str:
  scores = result['rouge1']
  cells = [f'{system} {score:5.2f}' for system, score in scores.items()]
  count = f'{result["documents"]:3} documents, {result["words"]:4} words'
  return f'{name:16} {count}: {", ".join(cells)} {result["auto"]}'


def _files(
  folder: Path, split: str, wanted: Sequence[str] | None
) -> Iterator[Path]:
  for path in sorted(
    folder.glob(f'*.{split}.jsonl*'), key=lambda path: path.stat().st_size
  ):
    if not wanted or path.name.partition('.')[0] in wanted:
      yield path


def read_sample(path: Path, count: int, seed: int) -> list[Example]:
  """Some documents of a file, drawn with a seed, with their references."""
  return list(islice(read_shuffled(path, seed), count))


def read_shuffled(path: Path, seed: int) -> Iterator[Example]:
  """All of them; sentences are found in those that are taken."""
  with open_for_reading(path) as stream:
    rows = [json.loads(line) for line in stream if line.strip()]
  random.Random(seed).shuffle(rows)
  return map(_example, rows)


def _example(row: dict[str, Any]) -> Example:
  references = [row['highlights'], *row.get('other_highlights', [])]
  return Example(make_document(row), references)


if __name__ == '__main__':
  main()
