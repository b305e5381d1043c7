"""ROUGE of summaries on many machines, with the intervals of one.

What is measured of a document is a row of numbers. Rows are joined as they
come, in whatever order, and sorted by the place of the document in the input:
then means, bootstrap and tests are those of `stepwise.evaluation`, to the last
digit.
"""

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import apache_beam as beam
import numpy as np
from jaxtyping import Bool, Int

from stepwise._errors import InputError
from stepwise.beam._parts import Part, read_part
from stepwise.beam._storage import open_bytes, write_whole
from stepwise.data import (
  Prediction,
  Reference,
  parse_prediction,
  parse_reference,
)
from stepwise.evaluation import (
  DEFAULT_METRIC,
  KINDS,
  MeasuredSystem,
  Report,
  SummaryMeasures,
  TextMeasures,
  check_measuring,
  check_names,
  join_measures,
  join_texts,
  measure_summaries,
  measure_texts,
  report_measures,
)

# A system that chooses from the document of a reference.
Baseline = Callable[[Reference], Sequence[str]]
# Rows that are kept apart before they are joined.
_CHUNKS = 1000
# Mistakes of the input that are told.
_TOLD = 3


@dataclass(frozen=True)
class Measuring:
  """How summaries are measured; see `stepwise.evaluation.rouge`."""

  metric: str = DEFAULT_METRIC
  kinds: tuple[str, ...] = KINDS
  several: str = 'average'


@dataclass(frozen=True)
class SystemScores:
  """What is known of one system on some documents.

  Attributes:
    measures: of its summaries.
    failed: whether it gave an error instead.
    missing: documents without a prediction.
    loose: errors that do not say of which document.
  """

  measures: SummaryMeasures
  failed: Bool[np.ndarray, ' documents']
  missing: int = 0
  loose: int = 0


@dataclass(frozen=True)
class Scores:
  """What is known of all systems on some documents: sums of it are the same.

  Attributes:
    places: file and line of every document.
    sizes: units of every document.
    human: the first human summary of every document.
    systems: by name.
    mistakes: of the input.
  """

  places: Int[np.ndarray, 'documents 2']
  sizes: Int[np.ndarray, ' documents']
  human: TextMeasures
  systems: dict[str, SystemScores]
  mistakes: tuple[str, ...] = ()

  def __len__(self) -> int:
    return len(self.sizes)


class ScoreRouge(beam.PTransform):
  """References and predictions in, one `Scores` out.

  Collections are of parts (`FindParts`): `{'references': ..., NAME: ...}`, a
  name for every system. Predictions meet the reference of the same id.

  Args:
    measuring: how.
    baselines: systems that choose from the documents of the references.
  """

  def __init__(
    self,
    measuring: Measuring = Measuring(),
    baselines: Mapping[str, Baseline] | None = None,
  ):
    super().__init__()
    check_measuring(measuring.metric, measuring.several, measuring.kinds)
    self._measuring, self._baselines = measuring, dict(baselines or {})

  def expand(self, input_or_inputs: Any) -> Any:
    inputs = dict(input_or_inputs)
    references = inputs.pop('references')
    check_names([*inputs, *self._baselines])
    keyed = [references | 'References' >> beam.FlatMap(_keyed_references)]
    keyed += [
      parts | f'Predictions {number}' >> beam.FlatMap(_keyed_predictions, name)
      for number, (name, parts) in enumerate(inputs.items())
    ]
    score = partial(_score, self._measuring, tuple(inputs), self._baselines)
    return (
      keyed
      | beam.Flatten()
      | beam.GroupByKey()
      | beam.Map(score)
      | beam.CombineGlobally(
        JoinScores(self._measuring, (*inputs, *self._baselines))
      ).without_defaults()
    )


class JoinScores(beam.CombineFn):
  """Joins rows; the result has them in the order of the input."""

  def __init__(self, measuring: Measuring, names: Sequence[str]):
    super().__init__()
    self._empty = _nothing(measuring, names)

  def create_accumulator(self, *args: Any, **kwargs: Any) -> list[Scores]:
    return [self._empty]

  def add_input(
    self, mutable_accumulator: list[Scores], element: Scores, *args: Any
  ) -> list[Scores]:
    mutable_accumulator.append(element)
    return self.compact(mutable_accumulator)

  def merge_accumulators(
    self, accumulators: Iterable[list[Scores]], *args: Any, **kwargs: Any
  ) -> list[Scores]:
    return [join_scores([part for parts in accumulators for part in parts])]

  def compact(
    self, accumulator: list[Scores], *args: Any, **kwargs: Any
  ) -> list[Scores]:
    if len(accumulator) < _CHUNKS:
      return accumulator
    return [join_scores(accumulator)]

  def extract_output(
    self, accumulator: list[Scores], *args: Any, **kwargs: Any
  ) -> Scores:
    joined = join_scores(accumulator)
    return take_scores(joined, np.lexsort(joined.places.T[::-1]).tolist())


@dataclass(frozen=True)
class _Found:
  """One of the things that share an id."""

  place: tuple[int, int] = (0, 0)
  reference: Reference | None = None
  system: str = ''
  prediction: Prediction | None = None
  mistake: str = ''


def _keyed_references(part: Part) -> Iterator[tuple[str, _Found]]:
  number = int(part.name.partition('-')[0])
  for item in read_part(part):
    place = (number if not part.number else item.number, item.number)
    try:
      reference = parse_reference(Path(item.file), item.number, item.raw)
      if not reference.document.id:
        raise InputError(
          f'{item.file}:{item.number}: no id; with --runner predictions and '
          'references meet by their ids.'
        )
    except InputError as error:
      yield '', _Found(place, mistake=str(error))
    else:
      yield reference.document.id, _Found(place, reference)


def _keyed_predictions(part: Part, name: str) -> Iterator[tuple[str, _Found]]:
  for item in read_part(part):
    try:
      found = parse_prediction(Path(item.file), item.number, item.raw)
      if not found.id and not found.error:
        raise InputError(
          f'{item.file}:{item.number}: no id; with --runner predictions and '
          'references meet by their ids.'
        )
    except InputError as error:
      yield '', _Found(mistake=str(error))
    else:
      yield found.id, _Found(system=name, prediction=found)


def _score(
  measuring: Measuring,
  names: tuple[str, ...],
  baselines: Mapping[str, Baseline],
  group: tuple[str, Iterable[_Found]],
) -> Scores:
  """All that has one id: no row without a reference."""
  key, found = group[0], list(group[1])
  nothing = _nothing(measuring, (*names, *baselines))
  mistakes = [each.mistake for each in found if each.mistake]
  references = [each for each in found if each.reference]
  of = {name: [each for each in found if each.system == name] for name in names}
  if not key:
    systems = {
      name: replace(system, loose=len(of.get(name, ())))
      for name, system in nothing.systems.items()
    }
    return replace(nothing, systems=systems, mistakes=_first(mistakes))
  if len(references) > 1:
    mistakes.append(f'several references have the id {key!r}.')
  mistakes += [
    f'{name} has several predictions for the same id.'
    for name in names
    if len(of[name]) > 1
  ]
  if not references or mistakes:
    return replace(nothing, mistakes=_first(mistakes))
  [place], [reference] = (
    [each.place for each in references],
    [each.reference for each in references if each.reference],
  )
  return _row(measuring, place, reference, of, baselines)


def _row(
  measuring: Measuring,
  place: tuple[int, int],
  reference: Reference,
  predictions: Mapping[str, Sequence[_Found]],
  baselines: Mapping[str, Baseline],
) -> Scores:
  systems = {}
  for name, found in predictions.items():
    prediction = found[0].prediction if found else None
    sentences = prediction.sentences if prediction else ()
    systems[name] = SystemScores(
      _measure(measuring, sentences, reference),
      np.array([prediction is None or bool(prediction.error)]),
      missing=int(prediction is None),
    )
  for name, choose in baselines.items():
    measures = _measure(measuring, choose(reference), reference)
    systems[name] = SystemScores(measures, np.zeros(1, bool))
  return Scores(
    np.array([place], np.int64),
    np.array([len(reference.document.units)], np.int64),
    measure_texts(reference.summaries[:1], measuring.metric),
    systems,
  )


def _measure(
  measuring: Measuring, summary: Sequence[str], reference: Reference
) -> SummaryMeasures:
  return measure_summaries(
    [summary],
    [reference.summaries],
    [reference.document.units],
    metric=measuring.metric,
    kinds=measuring.kinds,
    several=measuring.several,
  )


def _nothing(measuring: Measuring, names: Sequence[str]) -> Scores:
  """No documents."""
  whole, real = np.zeros(0, np.int64), np.zeros(0)
  texts = TextMeasures(whole, real)
  rouge = np.zeros((0, len(measuring.kinds), 3))
  measures = SummaryMeasures(rouge, texts, whole, whole)
  system = SystemScores(measures, np.zeros(0, bool))
  return Scores(
    np.zeros((0, 2), np.int64), whole, texts, dict.fromkeys(names, system)
  )


def join_scores(parts: Sequence[Scores]) -> Scores:
  """The documents of all parts, one part after another."""
  systems = {}
  for name in parts[0].systems:
    of_one = [part.systems[name] for part in parts]
    systems[name] = SystemScores(
      join_measures([each.measures for each in of_one]),
      np.concatenate([each.failed for each in of_one]),
      sum(each.missing for each in of_one),
      sum(each.loose for each in of_one),
    )
  return Scores(
    np.concatenate([part.places for part in parts]),
    np.concatenate([part.sizes for part in parts]),
    join_texts([part.human for part in parts]),
    systems,
    _first(mistake for part in parts for mistake in part.mistakes),
  )


def take_scores(scores: Scores, rows: Sequence[int]) -> Scores:
  """Some documents, in the order given."""
  systems = {
    name: replace(
      system, measures=system.measures.take(rows), failed=system.failed[rows]
    )
    for name, system in scores.systems.items()
  }
  return replace(
    scores,
    places=scores.places[rows],
    sizes=scores.sizes[rows],
    human=scores.human.take(rows),
    systems=systems,
  )


def report_scores(
  scores: Scores,
  names: Sequence[str],
  *,
  seed: int = 0,
  measuring: Measuring = Measuring(),
) -> Report:
  """The report of `compare_systems`, to the last digit.

  Args:
    scores: in the order of the input, as `ScoreRouge` gives them.
    names: of systems, in the order of the report.
    seed: of the bootstrap.
    measuring: that of the scores.
  """
  return report_measures(
    [
      MeasuredSystem(
        name,
        scores.systems[name].measures,
        int(scores.systems[name].failed.sum()),
      )
      for name in names
    ],
    scores.human,
    scores.sizes,
    seed=seed,
    metric=measuring.metric,
    kinds=measuring.kinds,
    several=measuring.several,
  )


def check_scores(scores: Scores) -> None:
  """Complains about what did not belong together."""
  if scores.mistakes:
    raise InputError(scores.mistakes[0])
  for name, system in scores.systems.items():
    if system.missing > system.loose:
      raise InputError(
        f'{name} has no prediction for {system.missing - system.loose} of '
        f'{len(scores)} references.'
      )
  if not len(scores):
    raise InputError('There are 0 references; at least 1 is needed.')


def save_scores(scores: Scores, path: str) -> None:
  """Writes arrays, and what is no array beside them."""
  about = {
    'mistakes': scores.mistakes,
    'systems': [
      (name, system.missing, system.loose)
      for name, system in scores.systems.items()
    ],
  }
  arrays: dict[str, Any] = {
    'about': np.array(json.dumps(about)),
    'places': scores.places,
    'sizes': scores.sizes,
  }
  arrays |= _texts_to_arrays('human', scores.human)
  for number, system in enumerate(scores.systems.values()):
    measures = system.measures
    arrays |= _texts_to_arrays(f'{number}', measures.texts)
    arrays |= {
      f'{number}.rouge': measures.rouge,
      f'{number}.sentences': measures.sentences,
      f'{number}.located': measures.located,
      f'{number}.failed': system.failed,
    }
  stream = io.BytesIO()
  np.savez(stream, **arrays)
  write_whole(path, stream.getvalue())


def load_scores(path: str) -> Scores:
  """Reads what `save_scores` wrote."""
  with open_bytes(path) as stream:
    arrays = np.load(io.BytesIO(stream.read()), allow_pickle=False)
  about = json.loads(str(arrays['about']))
  systems = {
    name: SystemScores(
      SummaryMeasures(
        arrays[f'{number}.rouge'],
        _texts_from_arrays(f'{number}', arrays),
        arrays[f'{number}.sentences'],
        arrays[f'{number}.located'],
      ),
      arrays[f'{number}.failed'],
      missing,
      loose,
    )
    for number, (name, missing, loose) in enumerate(about['systems'])
  }
  return Scores(
    arrays['places'],
    arrays['sizes'],
    _texts_from_arrays('human', arrays),
    systems,
    tuple(about['mistakes']),
  )


def _texts_to_arrays(name: str, texts: TextMeasures) -> dict[str, np.ndarray]:
  return {f'{name}.words': texts.words, f'{name}.repeated': texts.repeated}


def _texts_from_arrays(name: str, arrays: Any) -> TextMeasures:
  return TextMeasures(arrays[f'{name}.words'], arrays[f'{name}.repeated'])


def _first(mistakes: Iterable[str]) -> tuple[str, ...]:
  return tuple(sorted(set(mistakes))[:_TOLD])
