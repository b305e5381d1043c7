"""What the default summarizer chooses, under several ways of choosing.

  python -m benchmarks.default_model BUNDLE DOCUMENTS.jsonl OUT [VARIANT ...]

writes OUT/VARIANT.jsonl, predictions for `stepwise evaluate`. A document is
encoded once for all variants: on a CPU that is nearly all of the work.
"""

import argparse
import functools
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from stepwise._errors import InputError
from stepwise._files import replacing
from stepwise.checkpoints import Bundle, load_bundle
from stepwise.data import Buckets, Record, batches, make_record
from stepwise.decoding import (
  DecodeConfig,
  trigram_overlap,
)
from stepwise.documents import Document, read_documents
from stepwise.inference import (
  Reader,
  document_order,
  no_repeats,
  reading_limits,
  search,
)
from stepwise.models import NEWS_DECODING, Batch

# Windows of 256 tokens are the unit of work: finer steps than powers of two.
LENGTHS = (256, 512, 768, 1024, 1536, 2048, 4096, 8192)
UNITS = (32, 64, 132)


@dataclass(frozen=True)
class Variant:
  """A way to choose; `decode` None takes the best three at once."""

  decode: DecodeConfig | None
  trigram_blocking: bool = False


def _stepwise(count: int, blocking: bool, **options: Any) -> Variant:
  decode = replace(NEWS_DECODING, min_units=count, max_units=count, **options)
  return Variant(decode, blocking)


STEPWISE = {
  # The paper's: up to four sentences, the model stops by itself.
  'stepwise': Variant(NEWS_DECODING),
  'stepwise_3': _stepwise(3, False),
  'stepwise_3_triblk': _stepwise(3, True),
  'stepwise_4_triblk': _stepwise(4, True),
  # ETCSum reads a document anew for every step of every beam.
  'greedy_3_triblk': _stepwise(3, True, beam_size=1),
}
TWIN = {'twin': Variant(None), 'twin_triblk': Variant(None, True)}


@dataclass(frozen=True)
class Chooser:
  """A bundle, compiled once for every shape of documents and every variant."""

  bundle: Bundle

  def encode(self, batch: Batch) -> Any:
    return _encode(self.bundle.model, self.bundle.variables, batch)

  def choose(
    self, memory: Any, valid: np.ndarray, overlap: np.ndarray, variant: Variant
  ) -> np.ndarray:
    model, variables = self.bundle.model, self.bundle.variables
    given = overlap if variant.trigram_blocking else None
    if variant.decode is None:
      return np.asarray(_top_three(model, variables, memory, valid, given))
    return np.asarray(
      _search(model, variables, memory, valid, given, variant.decode)
    )


@functools.partial(jax.jit, static_argnums=0)
def _encode(model: Any, variables: Any, batch: Batch) -> Any:
  return model.apply(variables, batch, method='encode')


@functools.partial(jax.jit, static_argnums=0)
def _top_three(
  model: Any, variables: Any, memory: Any, valid: Any, overlap: Any
) -> Any:
  logits = model.apply(variables, memory, method='score')
  single = jax.nn.log_sigmoid(logits)
  reader = Reader(lambda logits, plan: logits, logits, single=single)
  best = DecodeConfig(max_units=3)
  found = search(reader, valid, best, no_repeats(valid, overlap))
  return document_order(found.plans[:, 0])


@functools.partial(jax.jit, static_argnums=(0, 5))
def _search(
  model: Any,
  variables: Any,
  memory: Any,
  valid: Any,
  overlap: Any,
  config: DecodeConfig,
) -> Any:
  def score(memory: Any, plan: Any) -> Any:
    return model.apply(variables, memory, plan, method='score')

  constraints = no_repeats(valid, overlap)
  return search(Reader(score, memory), valid, config, constraints).plans[:, 0]


def predict(
  bundle: Bundle,
  documents: Sequence[Document],
  variants: dict[str, Variant],
  batch_size: int = 8,
) -> dict[str, list[list[int]]]:
  """Chosen units of every document, in order, by variant."""
  limits = asdict(reading_limits(bundle.config))
  assert bundle.tokenizer is not None
  records = [make_record(d, bundle.tokenizer, **limits) for d in documents]
  chosen: dict[str, list[list[int]]] = {
    name: [[] for _ in records] for name in variants
  }
  for position, name, units in _choices(
    Chooser(bundle), documents, records, variants, batch_size
  ):
    chosen[name][position] = units
  return chosen


def _choices(
  chooser: Chooser,
  documents: Sequence[Document],
  records: Sequence[Record],
  variants: dict[str, Variant],
  batch_size: int,
) -> Iterator[tuple[int, str, list[int]]]:
  special = records[0].special
  buckets = Buckets(LENGTHS, UNITS)
  for group in batches(records, buckets, steps=1, batch_size=batch_size):
    valid = group.arrays['valid']
    overlap = np.zeros((*valid.shape, valid.shape[1]), bool)
    for row, position in enumerate(group.index):
      if position >= 0:
        size = records[position].num_units
        texts = [''] * special + list(documents[position].units)
        overlap[row, :size, :size] = trigram_overlap(texts[:size])
    memory = chooser.encode(Batch.of(group.arrays)._replace(plan=None))
    for name, variant in variants.items():
      plans = chooser.choose(memory, valid, overlap, variant)
      for row, position in enumerate(group.index):
        if position >= 0:
          plan = [int(unit) - special for unit in plans[row] if unit >= 0]
          yield int(position), name, plan


def main(arguments: Sequence[str] | None = None) -> None:
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument('bundle', type=Path)
  parser.add_argument('documents', type=Path)
  parser.add_argument('out', type=Path)
  parser.add_argument('variants', nargs='*')
  args = parser.parse_args(arguments)
  bundle = load_bundle(args.bundle)
  known = STEPWISE if bundle.config.stepwise else TWIN
  if unknown := set(args.variants) - set(known):
    raise InputError(f'{sorted(unknown)} are not among {list(known)}.')
  names = args.variants or list(known)
  # A line without a sentence keeps its place, with an empty summary.
  documents = list(read_documents(args.documents, on_error=print))
  chosen = predict(bundle, documents, {name: known[name] for name in names})
  args.out.mkdir(parents=True, exist_ok=True)
  for name, plans in chosen.items():
    _write(args.out / f'{name}.jsonl', documents, plans)


def _write(
  path: Path, documents: Sequence[Document], plans: Sequence[Sequence[int]]
) -> None:
  with (
    replacing(path) as beside,
    beside.open('w', encoding='utf-8') as stream,
  ):
    for document, plan in zip(documents, plans, strict=True):
      summary = [document.units[unit] for unit in plan]
      row = {'id': document.id, 'units': list(plan), 'summary': summary}
      stream.write(json.dumps(row, ensure_ascii=False) + '\n')


if __name__ == '__main__':
  main()
