"""What the decoding benchmark compares: our search, and one on the host."""

import dataclasses
import functools
import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn

from stepwise.data import Buckets, batches, pad_batch, restore_order
from stepwise.inference import decode, longest_unit
from stepwise.models import (
  BEG,
  EOT,
  NEWS_DECODING,
  Batch,
  ModelConfig,
)

STEPS, BEAMS = NEWS_DECODING.max_units, NEWS_DECODING.beam_size

Record = dict[str, np.ndarray]
Plans = list[list[int]]


class Programs:
  """A function compiled once per shape, every compilation counted."""

  def __init__(self, function: Callable[..., Any]) -> None:
    self._jitted = jax.jit(function)
    self._compiled: dict[Any, jax.stages.Compiled] = {}

  @property
  def compilations(self) -> int:
    return len(self._compiled)

  def prepare(self, *arguments: Any) -> jax.stages.Compiled:
    """Compiles for arguments of these shapes, without running."""
    shapes = tuple(np.shape(leaf) for leaf in jax.tree.leaves(arguments))
    if shapes not in self._compiled:
      self._compiled[shapes] = self._jitted.lower(*arguments).compile()
    return self._compiled[shapes]

  def __call__(self, *arguments: Any) -> Any:
    return self.prepare(*arguments)(*arguments)


class Searcher:
  """Chooses units with one model; keeps a program per size of its input.

  ETCSum has no more room for summaries than the documents need if `fitted`.
  """

  def __init__(
    self, config: ModelConfig, variables: Any, *, fitted: bool
  ) -> None:
    self._config = config
    self._variables = variables
    self._fitted = fitted
    self._programs: dict[nn.Module, Programs] = {}

  @property
  def compilations(self) -> int:
    return sum(p.compilations for p in self._programs.values())

  def function(self, model: nn.Module) -> Callable[..., Any]:
    raise NotImplementedError

  def programs(self, arrays: Record) -> Programs:
    """Those of the model that fits these documents."""
    model = self._config.build()
    if self._fitted:
      model = self._config.build_for(longest_unit(arrays['unit_ids']))
    if model not in self._programs:
      self._programs[model] = Programs(self.function(model))
    return self._programs[model]


class DeviceSearch(Searcher):
  """Ours: all steps of a document in one program."""

  def __init__(
    self, config: ModelConfig, variables: Any, buckets: Buckets
  ) -> None:
    super().__init__(config, variables, fitted=True)
    self._batches = functools.partial(
      batches, buckets=buckets, steps=STEPS, batch_size=1
    )

  def function(self, model: nn.Module) -> Callable[..., Any]:
    # A step pays for the units that can have been chosen by then, no more.
    config = dataclasses.replace(NEWS_DECODING, stages=STEPS - 1)

    def plans(variables: Any, batch: Batch) -> jax.Array:
      return decode(self._config, variables, batch, config, module=model).plans[
        :, 0
      ]

    return plans

  def prepare(self, records: Sequence[Record]) -> None:
    for batch in self._batches(records):
      programs = self.programs(batch.arrays)
      programs.prepare(self._variables, Batch.of(batch.arrays))

  def search(self, records: Sequence[Record]) -> Plans:
    outputs = []
    for batch in self._batches(records):
      programs = self.programs(batch.arrays)
      plans = programs(self._variables, Batch.of(batch.arrays))
      outputs.append((batch.index, np.asarray(plans).tolist()))
    return restore_order(outputs)


class HostSearch(Searcher):
  """Document by document, everything re-encoded for every beam and step."""

  def __init__(
    self,
    config: ModelConfig,
    variables: Any,
    buckets: Buckets,
    *,
    fitted: bool,
  ) -> None:
    super().__init__(config, variables, fitted=fitted)
    self._buckets = buckets

  def function(self, model: nn.Module) -> Callable[..., Any]:
    def log_probs(variables: Any, batch: Batch) -> jax.Array:
      logits: Any = model.apply(variables, batch)
      candidates = batch.valid.at[:, BEG].set(False)
      return jax.nn.log_softmax(logits, where=candidates)

    return log_probs

  def prepare(self, records: Sequence[Record]) -> None:
    for record in records:
      for plans in ([()], [()] * BEAMS):
        arrays = self._arrays(record, plans)
        self.programs(arrays).prepare(self._variables, Batch.of(arrays))

  def search(self, records: Sequence[Record]) -> Plans:
    return [
      search_one(functools.partial(self._score, record)) for record in records
    ]

  def _score(self, record: Record, plans: Sequence[tuple]) -> np.ndarray:
    arrays = self._arrays(record, plans)
    return np.asarray(self.programs(arrays)(self._variables, Batch.of(arrays)))

  def _arrays(self, record: Record, plans: Sequence[tuple]) -> Record:
    """The document once for every plan."""
    unit_ids = record['unit_ids']
    num_units = int(unit_ids[-1]) + 1
    length, units = self._buckets.bucket(len(unit_ids), num_units)
    copies = [record | {'plan': np.array(plan, int)} for plan in plans]
    return pad_batch(
      copies, length=length, units=units, steps=STEPS, batch=len(copies)
    )


@dataclasses.dataclass(frozen=True, order=True)
class Hypothesis:
  total: float
  plan: tuple[int, ...]
  ended: bool


def search_one(
  score: Callable[[Sequence[tuple]], np.ndarray],
) -> list[int]:
  """Beam search over one document, in plain Python around `score`.

  The first step scores one plan, the others as many as there are beams.
  """
  pool = [Hypothesis(0.0, (), False)]
  while not all(one.ended for one in pool):
    told = score([one.plan for one in pool])
    options = [one for one in pool if one.ended]
    for one, log_probs in zip(pool, told, strict=True):
      if not one.ended:
        options += _continuations(one, log_probs)
    pool = sorted(options, reverse=True)[:BEAMS]
  best = pool[0].plan
  return [*best, *[-1] * (STEPS - len(best))]


def _continuations(one: Hypothesis, log_probs: np.ndarray) -> list[Hypothesis]:
  options = []
  for unit in np.flatnonzero(np.isfinite(log_probs)).tolist():
    total = one.total + float(log_probs[unit])
    if unit == EOT and one.plan:
      options.append(Hypothesis(total, one.plan, True))
    elif unit != EOT and unit not in one.plan:
      plan = (*one.plan, unit)
      options.append(Hypothesis(total, plan, len(plan) == STEPS))
  return options


@dataclasses.dataclass(frozen=True)
class LengthMix:
  """Log-normal lengths; units of a mean length, some much longer."""

  mean_tokens: float = 800
  spread: float = 0.5
  mean_unit: float = 27
  max_unit: int = 80
  vocab: int = 30000

  def lengths(self, count: int) -> list[int]:
    """Quantiles, not a sample: the mean is right however few there are."""
    centre = math.log(self.mean_tokens) - self.spread**2 / 2
    normal = statistics.NormalDist(centre, self.spread)
    return [
      round(math.exp(normal.inv_cdf((index + 0.5) / count)))
      for index in range(count)
    ]


def draw_records(count: int, mix: LengthMix, seed: int = 0) -> list[Record]:
  """Documents of random tokens, in random order."""
  rng = np.random.default_rng(seed)
  lengths = rng.permutation(mix.lengths(count))
  return [_draw_record(rng, mix, length) for length in lengths]


def _draw_record(
  rng: np.random.Generator, mix: LengthMix, length: int
) -> Record:
  units = [1, 1]  # EOT and BEG.
  while (left := length - sum(units)) > 0:
    drawn = 1 + rng.gamma(6, (mix.mean_unit - 1) / 6)
    units.append(min(int(drawn), mix.max_unit, left))
  tokens = rng.integers(1000, mix.vocab, length).astype(np.int32)
  tokens[:2] = 10, 11
  return {'tokens': tokens, 'unit_ids': np.repeat(np.arange(len(units)), units)}


def random_variables(config: ModelConfig) -> Any:
  """Initial weights; they time like trained ones."""
  tokens = jnp.zeros((1, 8), jnp.int32)
  batch = Batch(tokens, tokens, jnp.ones((1, 4), bool), plan=tokens[:, :STEPS])
  model = config.build()
  return nn.meta.unbox(jax.jit(model.init)(jax.random.key(0), batch))
