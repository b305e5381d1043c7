"""Summaries by trained models."""

import dataclasses
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from jax.sharding import Mesh
from jaxtyping import Float

from stepwise._errors import InputError
from stepwise.data import Record, Tokenizer
from stepwise.documents import Document, language_name
from stepwise.inference import (
  Demands,
  PredictConfig,
  Predictor,
  Reading,
  Selection,
  inference_buckets,
  local_mesh,
  read_document,
)
from stepwise.models import ModelConfig
from stepwise.summarization._base import Chosen, Summarizer
from stepwise.summarization._coverage import CoverageWeights, cover
from stepwise.summarization._encoder import UnitEncoder, parts_of
from stepwise.summarization._focus import focus_on
from stepwise.summarization._options import AUTO, SummaryOptions
from stepwise.summarization._requests import Request
from stepwise.summarization._result import Step

# `sentences='auto'`: a summary ends where the model would stop with at least
# this probability, and after so many sentences at the latest. Chosen by
# `benchmarks/auto_length.py`, so that summaries have as many words as those of
# people; they are fewer sentences, as sentences of news are longer.
_STOP_PROBABILITY = 0.04
_MOST_AUTO = 8
# A budget is spent by what the model would choose in so many steps, and by
# words that are not covered yet; chosen on training sets of
# `benchmarks/mixed.py` and on news and e-mail of its validation.
_BUDGET_STEPS = 4
_BUDGET_WEIGHTS = CoverageWeights(prior=4.0)
# Where sentences are counted the model's liking decides more.
_COUNTED_WEIGHTS = CoverageWeights(prior=8.0)


class _Search(NamedTuple):
  """A request that one search answers."""

  position: int
  request: Request
  reading: Reading


@dataclasses.dataclass(frozen=True, eq=False)
class ModelSummarizer(Summarizer):
  """A model, ready for texts; threads may share it.

  Compiles once for every size of document; sizes are powers of two. A text
  that is longer than the model reads at once is read in overlapping parts, and
  chosen from as a whole.

  Attributes:
    model: its configuration.
    params: its parameters.
    tokenizer: that it was trained with.
    config: how it chooses if nothing is asked.
    name: for people.
    languages: that it was trained on; none if that is not known.
    mesh: devices that share documents, and the tokens of long ones; None = all
      of this process share the documents of a batch.
    products: precision of products, as `Predictor` takes it.
    covers: whether sentences are chosen by what they add to others as well,
      which they are in any case where words or characters are counted.
  """

  model: ModelConfig
  params: Any
  tokenizer: Tokenizer
  config: PredictConfig
  name: str
  languages: tuple[str, ...] = ()
  mesh: Mesh | None = None
  products: str = 'auto'
  covers: bool = False
  # Copies with other settings share it.
  _predictors: dict[Any, Predictor] = dataclasses.field(
    default_factory=dict, repr=False
  )
  # Two threads that compile the same program would do it twice.
  _lock: Any = dataclasses.field(default_factory=threading.RLock, repr=False)

  @property
  def encoder(self) -> UnitEncoder:
    languages = self.languages or ('en',)
    return UnitEncoder(self.model, self.params, self.tokenizer, languages)

  def choose(
    self,
    requests: Sequence[Request],
    options: SummaryOptions,
    batch_size: int | None,
  ) -> list[Chosen]:
    with self._lock:
      return self._choose(requests, options, batch_size or 1)

  def fits(self, request: Request) -> bool:
    """Whether the model reads the whole document at once."""
    return not self._read(request.document).units_cut

  def _read(self, document: Document) -> Record:
    # No more than one unit too many: a long text would be tokenised in vain.
    most = self.model.limits.units
    part = document.part(0, most + 1) if most else document
    return read_document(part, self.tokenizer, self.model)

  def _choose(
    self, requests: Sequence[Request], options: SummaryOptions, batch_size: int
  ) -> list[Chosen]:
    """Decodes those together that are searched alike."""
    found: dict[int, Chosen] = {}
    searches: dict[PredictConfig, list[_Search]] = defaultdict(list)
    for position, request in enumerate(requests):
      record = self._read(request.document)
      plan = self.model.limits.plan
      too_long = (
        plan is not None
        and not options.has_budget
        and request.most_units > plan
      )
      if record.units_cut or too_long or options.about is not None:
        found[position] = self._from_parts(request, options, batch_size)
      else:
        config = self._search_config(options, batch_size)
        demands = self._demands(request, options)
        reading = Reading(request.document, record, demands)
        searches[config].append(_Search(position, request, reading))
    for config, group in searches.items():
      predictions = self._predict(config, [each.reading for each in group])
      for each, prediction in zip(group, predictions, strict=True):
        found[each.position] = self._chosen(each, prediction, options)
    return [found[position] for position in range(len(requests))]

  def _predict(
    self, config: PredictConfig, readings: Sequence[Reading]
  ) -> list[Selection]:
    mesh = self.mesh or local_mesh(config.batch_size)
    key = config, self.products, mesh
    if key not in self._predictors:
      buckets = inference_buckets(self.model)
      self._predictors[key] = Predictor(
        *(self.model, self.params, config, buckets), self.products, mesh
      )
    predictions = self._predictors[key].predict(readings)
    if any(prediction.broken for prediction in predictions):
      raise InputError(
        f'{self.name} gives scores that are not numbers: its weights are'
        ' broken.'
      )
    return predictions

  def _search_config(
    self, options: SummaryOptions, batch_size: int
  ) -> PredictConfig:
    blocking = options.trigram_blocking
    if blocking is None:
      blocking = self.config.trigram_blocking
    # A budget is spent by what the model likes, not by what it would choose.
    return dataclasses.replace(
      self.config,
      trigram_blocking=blocking,
      batch_size=batch_size,
      whole_plans=self.config.whole_plans and not options.has_budget,
    )

  def _demands(self, request: Request, options: SummaryOptions) -> Demands:
    """The stop is closed before the length that is asked for."""
    most = least = request.most_units
    if options.has_budget:
      most = least = min(_BUDGET_STEPS, int(request.may.sum()))
    elif options.sentences == AUTO:
      most = least = min(_MOST_AUTO, int(request.may.sum()))
    elif not options.has_length:
      most, least = self._usual_length(len(request.required))
    return Demands(
      must_include=request.required,
      candidates=tuple(request.may.tolist()),
      min_units=least,
      max_units=max(most, len(request.required)),
    )

  def _usual_length(self, required: int) -> tuple[int, int]:
    """As the model says, but never nothing."""
    decode = self.config.decode
    if not self.model.stepwise:
      return max(self.config.top_k, required), 0
    return max(decode.max_units, required), max(decode.min_units, 1)

  def _chosen(
    self, search: _Search, prediction: Selection, options: SummaryOptions
  ) -> Chosen:
    request, steps = search.request, _steps(prediction)
    if options.sentences == AUTO:
      steps = _until_stop(steps, len(request.required))
    if options.has_budget or self.covers:
      if request.limit is None:
        request = request._replace(limit=len(steps))
      weights = _BUDGET_WEIGHTS if options.has_budget else _COUNTED_WEIGHTS
      choices = cover(request, prior=_chances(prediction), weights=weights)
      steps = tuple(Step(choice.unit) for choice in choices)
    if not self.model.gives_probabilities:
      # Baselines score by position: what would follow is no probability.
      steps = tuple(Step(step.index) for step in steps)
    warnings = (
      *self._language_warning(search.request.document),
      *_cuts(search.reading.record),
    )
    return Chosen(steps, self.name, warnings)

  def _from_parts(
    self, request: Request, options: SummaryOptions, batch_size: int
  ) -> Chosen:
    """Scores of all units, part by part, and a choice among all of them."""
    prior, warnings = self._scores(request.document, batch_size)
    focus = None
    if options.about is not None:
      focus = focus_on(options.about, request, self.encoder)
    if request.limit is None:
      most = min(_MOST_AUTO, int(request.may.sum()))
      request = request._replace(limit=most)
    choices = cover(request, prior=prior, focus=focus)
    steps = tuple(Step(choice.unit) for choice in choices)
    language = self._language_warning(request.document)
    return Chosen(steps, self.name, (*language, *warnings))

  def _scores(
    self, document: Document, batch_size: int
  ) -> tuple[Float[np.ndarray, ' units'], tuple[str, ...]]:
    """How good every unit is by what the model likes, 0 to 1.

    Besides, what was not read.
    """
    likings, warnings = self._likings(document, batch_size)
    return _percentiles(likings), warnings

  def _likings(
    self, document: Document, batch_size: int
  ) -> tuple[Float[np.ndarray, ' units'], tuple[str, ...]]:
    """How much the model would like to begin a summary with each unit.

    A model likes whatever stands first, so long texts are read twice, cut at
    different places, and the lower score counts. Besides, what was not read.
    """
    readings = self._parts(document)
    warnings = tuple(_cuts(*(reading.record for reading in readings)))
    once = self._liking(readings, batch_size)
    most = self.model.limits.units
    if not most or len(document.spans) <= most:
      return once, warnings
    again, half = once.copy(), most // 2
    rest = self._parts(document.part(half, len(document.spans)))
    again[half:] = self._liking(rest, batch_size)
    return np.minimum(once, again), warnings

  def _parts(self, document: Document) -> list[Reading]:
    demands = Demands(min_units=1, max_units=1)
    return [
      Reading(part, record, demands)
      for part, record in parts_of(document, self.tokenizer, self.model)
    ]

  def _liking(
    self, readings: Sequence[Reading], batch_size: int
  ) -> Float[np.ndarray, ' units']:
    """Of all units of all parts, as a first choice."""
    decode = dataclasses.replace(self.config.decode, beam_size=1)
    config = dataclasses.replace(
      self.config, decode=decode, trigram_blocking=False, batch_size=batch_size
    )
    # Beside an even share: parts of different sizes can be compared.
    shares = [
      found.rankings[0] + np.log(len(found.rankings[0]))
      for found in self._predict(config, readings)
    ]
    return np.concatenate(shares)

  def _language_warning(self, document: Document) -> Iterator[str]:
    known, language = self.languages, document.language
    if known and language and language not in known:
      yield (
        f'{self.name} was trained on {" and ".join(map(language_name, known))},'
        f' but the text is {language_name(language)}.'
      )


def _steps(prediction: Selection) -> tuple[Step, ...]:
  """Every choice, the stop included if it was one."""
  indices = [*prediction.units, None]
  return tuple(
    Step(
      indices[step],
      float(log_prob),
      tuple(np.exp(prediction.rankings[step]).astype(float).tolist()),
      float(np.exp(prediction.stops[step])),
    )
    for step, log_prob in enumerate(prediction.log_probs)
  )


def _chances(prediction: Selection) -> Float[np.ndarray, ' units']:
  """How likely every unit was to be chosen at all, the likeliest 1."""
  missed = np.prod(1 - np.exp(prediction.rankings), axis=0)
  chances = 1 - missed
  return chances / max(float(chances.max()), 1e-9)


def _until_stop(steps: tuple[Step, ...], least: int) -> tuple[Step, ...]:
  for number, step in enumerate(steps):
    if number >= max(least, 1) and step.stop >= _STOP_PROBABILITY:
      return steps[:number]
  return steps


def _percentiles(scores: np.ndarray) -> np.ndarray:
  order = np.argsort(np.argsort(scores, kind='stable'), kind='stable')
  return order / max(len(scores) - 1, 1)


def _cuts(*records: Record) -> Iterator[str]:
  read = sum(record.num_units - record.special for record in records)
  if shortened := sum(record.units_shortened for record in records):
    yield (
      f'{shortened} of {read} sentences were read only in part: they are longer'
      ' than the model reads.'
    )
