"""Does it help to read long documents at once, rather than in parts?

  stepwise bench reach FOLDER    # to results/reach.json
  stepwise bench reach           # the table of the README, from that

FOLDER is that of `stepwise bench mixed`. Of every set some English documents
are drawn that have more sentences than the packaged model has positions, but
no more than `--reach`, and no more tokens than it reads at once. Systems have
the same words, as many as references of these documents have on average:

  lexrank, coverage   rankers
  parts         the model in parts; its likings are ranks that count a little
  liked parts   the same, but they count as they do in a text read at once
  at once       the same weights with `HierarchicalConfig.reach`
  --models      folders of bundles that were trained with it, at once

ROUGE-1 F1, all scripts, several references averaged; differences are paired.

`--short` draws documents that fit the positions instead, which tells what a
training did to them. Every set is written at once; sets that the file has by
the same command are kept. `--split train` is for choosing, `valid` for
reporting.
"""

import argparse
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._attention_report import markdown_table, update_readme
from benchmarks._harness import (
  RESULTS,
  host_name,
  provenance,
  read_json,
  write_json,
)
from benchmarks.mixed import SHORT_UNITS, Example, read_shuffled
from stepwise.documents import Document, count_words
from stepwise.evaluation import bootstrap_interval, rouge
from stepwise.inference import read_document
from stepwise.models import HiBERTConfig
from stepwise.summarization import (
  ModelSummarizer,
  Summarizer,
  SummaryOptions,
  load_summarizer,
)

SETS = ('aclsum', 'ectsum', 'scisummnet', 'squality', 'sumpubmed')
# What is asked: every pair is compared document by document.
PAIRS = (
  ('at once', 'parts'),
  ('at once', 'liked parts'),
  ('at once', 'coverage'),
  ('at once', 'lexrank'),
  ('parts', 'coverage'),
  ('parts', 'lexrank'),
  ('coverage', 'lexrank'),
)
_SYSTEMS = ('lexrank', 'coverage', 'parts', 'liked parts', 'at once')
_METRIC = 'rouge-1.5.5-unicode'
# How much the best unit counts more by its prior where words are counted.
_PRIOR = 4.0


@dataclasses.dataclass(frozen=True, eq=False)
class _Parts(ModelSummarizer):
  """Reads in parts, every document once."""

  kept: dict[str, Any] = dataclasses.field(default_factory=dict)

  def _likings(self, document: Document, batch_size: int) -> Any:
    if document.text not in self.kept:
      self.kept[document.text] = super()._likings(document, batch_size)
    return self.kept[document.text]


class _LikedParts(_Parts):
  def _scores(self, document: Document, batch_size: int) -> Any:
    likings, warnings = self._likings(document, batch_size)
    return _PRIOR * np.exp(likings - likings.max()), warnings


def main(arguments: Sequence[str] | None = None) -> None:
  parser = argparse.ArgumentParser(
    prog='stepwise bench reach',
    description=__doc__,
    formatter_class=argparse.RawDescriptionHelpFormatter,
  )
  parser.add_argument('folder', type=Path, nargs='?')
  parser.add_argument('--sets', nargs='*', default=SETS)
  parser.add_argument('--split', default='valid')
  parser.add_argument('--documents', type=int, default=16, help='a set')
  parser.add_argument('--reach', type=int, default=512)
  parser.add_argument('--models', type=Path, nargs='*', default=())
  parser.add_argument('--short', action='store_true')
  parser.add_argument('--seed', type=int, default=0)
  parser.add_argument('--out', type=Path, default=RESULTS / 'reach.json')
  options = parser.parse_args(arguments)
  if options.folder:
    measure_sets(options)
  else:
    update_readme('reach', markdown(read_json(options.out)))


def measure_sets(options: argparse.Namespace) -> None:
  """All sets; those that are stored are not measured again."""
  models = ' '.join(path.name for path in options.models)
  command = (
    f'stepwise bench reach FOLDER --sets {" ".join(options.sets)} --split '
    f'{options.split} --documents {options.documents} --reach {options.reach} '
    f'--seed {options.seed}{" --short" * options.short}'
    f'{f" --models {models}" * bool(models)}'
  )
  about = provenance(command, host_name(), ('jax', 'numpy'))
  content = {'sets': _stored(options.out, command), **about}
  systems = make_systems(options.reach, options.models)
  for name in options.sets:
    if name not in content['sets']:
      (path,) = options.folder.glob(f'{name}.{options.split}.jsonl*')
      drawn = draw(path, options, systems['at once'])
      examples = list(islice(drawn, options.documents))
      found = measure(examples, systems)
      content['sets'][name] = found | {'commit': about['commit']}
      write_json(options.out, content)
    print(_row(name, content['sets'][name]), flush=True)


def _stored(path: Path, command: str) -> dict[str, Any]:
  if not path.exists():
    return {}
  content = read_json(path)
  return content['sets'] if content['command'] == command else {}


def make_systems(
  reach: int, folders: Sequence[Path] = ()
) -> dict[str, Summarizer]:
  """By their names in the table."""
  packaged = load_summarizer('default')
  trained = {path.name: load_summarizer(path) for path in folders}
  parts = with_reach(packaged, 0)
  settings = {
    field.name: getattr(parts, field.name)
    for field in dataclasses.fields(parts)
  }
  kept = {}
  return {
    'lexrank': load_summarizer('lexrank'),
    'coverage': load_summarizer('coverage'),
    'parts': _Parts(**settings, kept=kept),
    'liked parts': _LikedParts(**settings, kept=kept),
    'at once': with_reach(packaged, reach),
    **{name: with_reach(model, reach) for name, model in trained.items()},
  }


def with_reach(summarizer: Summarizer, reach: int) -> ModelSummarizer:
  """The same weights, read with other limits."""
  assert isinstance(summarizer, ModelSummarizer)
  model = summarizer.model
  assert isinstance(model, HiBERTConfig), 'has document positions'
  encoder = dataclasses.replace(model.encoder, reach=reach)
  return dataclasses.replace(
    summarizer,
    model=dataclasses.replace(model, encoder=encoder),
    # Those of another model are not its own.
    _predictors={},
  )


def draw(
  path: Path, options: argparse.Namespace, reader: Summarizer
) -> Iterator[Example]:
  """Documents of the wanted length that `reader` reads whole."""
  assert isinstance(reader, ModelSummarizer)
  for example in read_shuffled(path, options.seed):
    units = len(example.document.spans)
    if units > options.reach or (units <= SHORT_UNITS) != options.short:
      continue
    if not read_document(
      example.document, reader.tokenizer, reader.model
    ).units_cut:
      yield example


def measure(
  examples: Sequence[Example], systems: Mapping[str, Summarizer]
) -> dict[str, Any]:
  """ROUGE-1 of every document by every system, in per cent."""
  counts = [
    sum(map(count_words, reference))
    for each in examples
    for reference in each.references
  ]
  asked = SummaryOptions(words=round(np.mean(counts)))
  scores = {
    name: [_score(summarizer, each, asked) for each in examples]
    for name, summarizer in systems.items()
  }
  return {
    'documents': len(examples),
    'sentences': [len(each.document.spans) for each in examples],
    'words': asked.words,
    'rouge1': scores,
  }


def _score(
  summarizer: Summarizer, example: Example, asked: SummaryOptions
) -> float:
  lines = [sentence.text for sentence in summarizer(example.document, asked)]
  found = rouge(lines, example.references, _METRIC, kinds=['rouge1'])
  return round(100 * float(found[0, 2]), 2)


def differences(content: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
  """Pairs of systems over all documents, with intervals."""
  sets = content['sets'].values()
  systems = list(next(iter(sets))['rouge1'])
  trained = [
    (name, other)
    for name in systems[len(_SYSTEMS) :]
    for other in reversed(_SYSTEMS)
  ]
  for first, second in (*PAIRS, *trained):
    gains = [
      np.subtract(found['rouge1'][first], found['rouge1'][second])
      for found in sets
    ]
    found = bootstrap_interval(np.concatenate(gains))
    shown = f'{found.mean:+.2f} ({found.low:+.2f} to {found.high:+.2f})'
    yield first, second, shown


def markdown(content: Mapping[str, Any]) -> str:
  """The tables of the README: means of every set, then paired differences."""
  systems = list(next(iter(content['sets'].values()))['rouge1'])
  rows = [
    [
      name,
      str(found['documents']),
      f'{min(found["sentences"])} to {max(found["sentences"])}',
      str(found['words']),
      *(f'{np.mean(found["rouge1"][system]):.2f}' for system in systems),
    ]
    for name, found in content['sets'].items()
  ]
  header = ['set', 'documents', 'sentences', 'words', *systems]
  pairs = [list(pair) for pair in differences(content)]
  total = sum(found['documents'] for found in content['sets'].values())
  commits = sorted({each['commit'][:12] for each in content['sets'].values()})
  about = (
    f'`{content["command"]}`, {content["date"]}, {content["device"]}, commit '
    f'{", ".join(commits)}, ROUGE-1 F1:'
  )
  paired = markdown_table(
    ['first', 'minus', f'all {total} documents, 95 % interval'], pairs
  )
  return f'{about}\n\n{markdown_table(header, rows)}\n\n{paired}\n'


def _row(name: str, found: Mapping[str, Any]) -> str:
  cells = [
    f'{system} {np.mean(scores):5.2f}'
    for system, scores in found['rouge1'].items()
  ]
  count = f'{found["documents"]:3} documents, {found["words"]:4} words'
  return f'{name:12} {count}: {", ".join(cells)}'


if __name__ == '__main__':
  main()
