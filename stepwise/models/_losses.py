"""Training losses: pure functions of `(params, batch, rng)` for any model."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from flax import linen as nn

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Float, Int
from stepwise.models._batch import Batch, concatenate_ragged, take


class LossSums(NamedTuple):
  """Sums over a batch, so that shards and micro-batches add up.

  Attributes:
    loss: sum of the losses of all terms.
    weight: number of terms (steps, or units of non-stepwise models).
    correct: terms the model got right.
  """

  loss: Float[Array, '']
  weight: Float[Array, '']
  correct: Float[Array, '']

  @property
  def mean(self) -> Float[Array, '']:
    return self.loss / jnp.maximum(self.weight, 1)


def stepwise_loss(
  model: nn.Module,
  params: Any,
  batch: Batch,
  rng: Array | None = None,
  *,
  never: tuple[int, ...] = (),
  sample: int = 0,
  stages: int = 1,
  rest_share: float = 0.0,
  stop: tuple[int, float] | None = None,
  also: Callable[[Any, Any], Float[Array, '']] | None = None,
) -> LossSums:
  """Cross entropy of the next unit at every step, with teacher forcing.

  At step j the model reads `plan` and `targets[:j]`; the softmax is over all
  real units, chosen ones too, except those in `never` (BEG).

  Args:
    model: has `encode` and `score`.
    params: its parameters.
    batch: documents with plans and targets.
    rng: of dropout (and of sampling); None = no dropout.
    never: units that have no share of the softmax.
    sample: so many steps of every document, drawn at random; 0 = all.
    stages: parts of plans that steps are drawn from, equally many from each;
      steps of a part are read together, with no more slots than its plans fill.
    rest_share: what of a step's probability the units share that are still to
      come, see `rest_shares`; the units up to the last of `never` are special.
    stop: the unit that ends a plan, and its odds, see `late_stop`.
    also: what else is learnt from what the model has read: parameters and
      memory in, a sum of losses out.

  A batch with `gains` is learnt from them: the target of a step is then a
  distribution (`gain_shares`), not one unit.
  """
  if batch.plan is None or batch.targets is None:
    raise InputError('a batch without plan or targets has nothing to learn.')
  contexts = step_contexts(batch.plan, batch.targets)
  step = every_step(batch.targets)
  if sample:
    if rng is None:
      raise InputError('rng is missing: it draws the sampled steps.')
    rng, step_rng = jax.random.split(rng)
    step = _draw_steps(step_rng, batch.targets, sample, stages)
    contexts = take(contexts, step)
  encode_rng, score_rng = _split(rng)
  memory = _apply(model, params, encode_rng, 'encode', batch)
  logits = jnp.concatenate(
    [
      _score_steps(model, params, score_rng, memory, part)
      for part in _in_stages(contexts, stages, batch.targets.shape[1])
    ],
    axis=1,
  )
  sums = step_sums(
    late_stop(logits, stop), batch, step, contexts, never, rest_share
  )
  if also is None:
    return sums
  return sums._replace(loss=sums.loss + also(params, memory))


def every_step(targets: Int[Array, 'batch steps']) -> Int[Array, 'batch steps']:
  """Indices of all steps of every document."""
  return jnp.broadcast_to(jnp.arange(targets.shape[1])[None], targets.shape)


def step_sums(
  logits: Float[Array, 'batch steps units'],
  batch: Batch,
  step: Int[Array, 'batch steps'],
  contexts: Int[Array, 'batch steps context'],
  never: tuple[int, ...] = (),
  rest_share: float = 0.0,
) -> LossSums:
  """Losses of some steps of every document, by what the batch has of them.

  Args:
    logits: of all units at these steps.
    batch: documents with targets, and gains if it is learnt from them.
    step: which steps they are.
    contexts: what is chosen before each.
    never: see `stepwise_loss`.
    rest_share: the same.
  """
  assert batch.targets is not None
  targets = take(batch.targets, step)
  candidates = _candidates(batch.valid, never)
  if batch.gains is not None:
    if rest_share:
      raise InputError('a batch with gains is learnt from them: no rest_share.')
    wanted = gain_shares(take(batch.gains, step), contexts, candidates)
  elif rest_share:
    units, special = candidates.shape[1], max(never, default=-1) + 1
    wanted = rest_shares(batch.targets, step, units, rest_share, special)
  else:
    return cross_entropy(logits, targets, candidates)
  return soft_cross_entropy(logits, wanted, targets, candidates)


def late_stop(
  logits: Float[Array, 'batch steps units'], stop: tuple[int, float] | None
) -> Float[Array, 'batch steps units']:
  """Logits as they are learnt: that of the stop is raised by -log(odds).

  A greedy search ends a plan as soon as the end is more probable than any one
  unit, however probable all of them are together: too early. A model that has
  learnt with the raised logit gives the end `odds` times the odds that it has
  in the examples. It learns what it would if so many times fewer of them were
  ends, but from all of them.

  Args:
    logits: of all units.
    stop: the unit that ends a plan, and its odds; None = as they are.
  """
  if stop is None:
    return logits
  unit, odds = stop
  return logits.at[..., unit].add(-jnp.log(odds))


def extractive_loss(
  model: nn.Module,
  params: Any,
  batch: Batch,
  rng: Array | None = None,
  *,
  positive_weight: float = 1.0,
) -> LossSums:
  """Weighted sigmoid loss of non-stepwise models: is a unit of the oracle?

  Args:
    model: has `encode` and `score`.
    params: its parameters.
    batch: documents whose targets are the oracle's units, in any order.
    rng: of dropout; None = no dropout.
    positive_weight: of units that are in the oracle; others weigh 1.
  """
  if batch.targets is None:
    raise InputError('a batch without targets has nothing to learn.')
  encode_rng, score_rng = _split(rng)
  memory = _apply(model, params, encode_rng, 'encode', batch)
  logits = _apply(model, params, score_rng, 'score', memory, None)
  units = jnp.arange(batch.valid.shape[1])
  labels = (batch.targets[:, :, None] == units[None, None]).any(axis=1)
  scored = batch.valid & ~jnp.isneginf(logits)
  # A logit of -inf times a weight of 0 would be nan.
  logits = jnp.where(scored, logits, 0)
  losses = jnp.where(
    labels,
    -positive_weight * jax.nn.log_sigmoid(logits),
    -jax.nn.log_sigmoid(-logits),
  )
  return _sums(losses, (logits > 0) == labels, scored)


def step_contexts(
  plan: Int[Array, 'batch plan'], targets: Int[Array, 'batch steps']
) -> Int[Array, 'batch steps context']:
  """What a model has chosen before every step: `plan`, then `targets[:j]`."""
  filled = [(part >= 0).sum(axis=1, keepdims=True) for part in (plan, targets)]
  # Nothing is chosen after the last target.
  width = plan.shape[1] + targets.shape[1] - 1
  layout = concatenate_ragged(jnp.concatenate(filled, axis=1), width)
  history = jnp.where(
    layout.piece == 0, take(plan, layout.offset), take(targets, layout.offset)
  )
  step = jnp.arange(targets.shape[1])[None, :, None]
  before = jnp.arange(width)[None, None] < filled[0][:, :, None] + step
  return jnp.where(before & layout.real[:, None], history[:, None], -1)


def cross_entropy(
  logits: Float[Array, 'batch steps units'],
  targets: Int[Array, 'batch steps'],
  candidates: Bool[Array, 'batch units'],
) -> LossSums:
  """-log softmax(logits)[target] over the candidates.

  Targets of -1 do not count, nor do units that cannot be chosen: no candidate,
  or cut away from a long document (a logit of -inf). A NaN counts, and shows.
  """
  logits = jnp.where(candidates[:, None], logits, -jnp.inf)
  chosen = jnp.maximum(targets, 0)[..., None]
  target_logits = jnp.take_along_axis(logits, chosen, axis=-1)[..., 0]
  counted = (targets >= 0) & ~jnp.isneginf(target_logits)
  # Rows that do not count may have no candidate: keep their softmax finite.
  safe = jnp.where(counted[..., None], logits, 0)
  log_probs = jnp.take_along_axis(jax.nn.log_softmax(safe), chosen, axis=-1)
  return _sums(-log_probs[..., 0], safe.argmax(axis=-1) == targets, counted)


def gain_shares(
  gains: Float[Array, 'batch steps units'],
  contexts: Int[Array, 'batch steps context'],
  candidates: Bool[Array, 'batch units'],
  sharpness: float = 20.0,
) -> Float[Array, 'batch steps units']:
  """How much of a step's probability every unit deserves by its gain.

    softmax(sharpness (gain - least) / (most - least))

  over candidates that are not chosen yet (Zhou et al., 2018), so that a step
  with small gains weighs as much as one with large ones.
  """
  units = jnp.arange(gains.shape[2])[None, None, None]
  chosen = (contexts[..., None] == units).any(axis=2)
  open_ = candidates[:, None] & ~chosen
  least = jnp.min(gains, 2, keepdims=True, where=open_, initial=jnp.inf)
  most = jnp.max(gains, 2, keepdims=True, where=open_, initial=-jnp.inf)
  scaled = (gains - least) / jnp.maximum(most - least, 1e-6)
  return jax.nn.softmax(sharpness * scaled, where=open_)


def rest_shares(
  targets: Int[Array, 'batch targets'],
  step: Int[Array, 'batch steps'],
  units: int,
  share: float,
  special: int = 0,
) -> Float[Array, 'batch steps units']:
  """What every unit deserves of some steps: the target, and what follows it.

    (1 - share) [unit = targets[step]] + share [unit in rest] / |rest|

  where the rest is what `targets[step:]` has and `targets[:step]` has not, the
  first `special` units left out: what was said and may be said again, such as
  the name of a team, is no part of it. A model that learns the first term alone
  spreads the probability of an entry over all steps where it may come, so that
  a stop, or a unit that comes often, can look better to a greedy search than
  any of them. The second term does not ask when. If nothing is left to say, the
  target has it all.
  """
  every = jnp.arange(units)[None, None]
  steps = targets.shape[1]
  place = jnp.arange(steps)[None, :, None]
  first = jnp.where(targets[..., None] == every, place, steps).min(axis=1)
  first = jnp.where(first < steps, first, -1)
  rest = (first[:, None] >= step[..., None]) & (every >= special)
  count = rest.sum(axis=2, keepdims=True)
  share_of_rest = jnp.where(count > 0, share, 0.0)
  chosen = take(targets, step)[..., None] == every
  return (1 - share_of_rest) * chosen + share_of_rest * rest / jnp.maximum(
    count, 1
  )


def soft_cross_entropy(
  logits: Float[Array, 'batch steps units'],
  wanted: Float[Array, 'batch steps units'],
  targets: Int[Array, 'batch steps'],
  candidates: Bool[Array, 'batch units'],
) -> LossSums:
  """Cross entropy of softmax(logits) over the candidates against `wanted`.

  Steps whose target is -1 do not count, nor do units that were cut away from
  a long document (a logit of -inf).
  """
  counted = targets >= 0
  open_ = candidates[:, None] & counted[..., None] & ~jnp.isneginf(logits)
  logits = jnp.where(open_, logits, -1e9)
  losses = -jnp.where(open_, wanted * jax.nn.log_softmax(logits), 0).sum(2)
  return _sums(losses, logits.argmax(2) == wanted.argmax(2), counted)


def _sums(
  losses: Float[Array, 'batch terms'],
  correct: Bool[Array, 'batch terms'],
  counted: Bool[Array, 'batch terms'],
) -> LossSums:
  return LossSums(
    jnp.where(counted, losses, 0).sum(),
    counted.sum().astype(losses.dtype),
    (counted & correct).sum().astype(losses.dtype),
  )


def _candidates(
  valid: Bool[Array, 'batch units'], never: tuple[int, ...]
) -> Bool[Array, 'batch units']:
  excluded = jnp.zeros(valid.shape[1], bool)
  for unit in never:
    excluded |= jnp.arange(valid.shape[1]) == unit
  return valid & ~excluded[None]


def _draw_steps(
  rng: Array,
  targets: Int[Array, 'batch targets'],
  count: int,
  stages: int,
) -> Int[Array, 'batch steps']:
  """Steps of every document; in stages they come in the order of its plan."""
  if stages == 1:
    return _sample_steps(rng, targets, count)
  return _spread_steps(rng, targets, count)


def _in_stages(
  contexts: Int[Array, 'batch steps context'], stages: int, all_steps: int
) -> list[Int[Array, 'batch part slots']]:
  """Contexts in parts, each with no more slots than its steps can fill.

  Args:
    contexts: what is chosen before drawn steps, early ones first.
    stages: parts.
    all_steps: of the plans that steps were drawn from.
  """
  given = contexts.shape[2] - (all_steps - 1)
  return [
    part[:, :, : given + -(-all_steps * n // stages) - 1]
    for n, part in enumerate(jnp.split(contexts, stages, axis=1), start=1)
  ]


def _sample_steps(
  rng: Array, targets: Int[Array, 'batch targets'], count: int
) -> Int[Array, 'batch steps']:
  """Different steps of every document, all equally likely.

  Where there are fewer than `count`, steps without a target follow.
  """
  uniform = jax.random.uniform(rng, targets.shape)
  real = jnp.where(targets >= 0, uniform, -1)
  return jax.lax.top_k(real, min(count, targets.shape[1]))[1]


def _spread_steps(
  rng: Array, targets: Int[Array, 'batch targets'], count: int
) -> Int[Array, 'batch steps']:
  """One step of each of `count` equal parts of every plan, in their order.

  All are equally likely. Those of short plans, with fewer steps than parts, may
  come twice.
  """
  uniform = jax.random.uniform(rng, (len(targets), count))
  places = jnp.arange(count)[None] + uniform
  steps = (targets >= 0).sum(axis=1, keepdims=True)
  return (places * steps / count).astype(jnp.int32)


def _score_steps(
  model: nn.Module,
  params: Any,
  rng: Array | None,
  memory: Any,
  contexts: Int[Array, 'batch steps context'],
) -> Float[Array, 'batch steps units']:
  """Steps are rows: the gradient of a weight is one product over all."""
  batch, steps, slots = contexts.shape
  rows = jax.tree.map(lambda x: _repeat_rows(x, steps), memory)
  context = contexts.reshape(-1, slots)
  logits = _apply(model, params, rng, 'score', rows, context)
  return logits.reshape(batch, steps, -1)


def _split(rng: Array | None) -> tuple[Array | None, Array | None]:
  """Dropout keys of `encode` and of `score`."""
  if rng is None:
    return None, None
  encode, score = jax.random.split(rng)
  return encode, score


def _repeat_rows(values: Array, times: int) -> Array:
  """Every row some times in a row; rows of a device stay there."""
  shape = (values.shape[0], times, *values.shape[1:])
  repeated = jnp.broadcast_to(values[:, None], shape)
  return repeated.reshape(-1, *values.shape[1:])


def _apply(
  model: nn.Module, params: Any, rng: Array | None, method: str, *args: Any
) -> Any:
  rngs = None if rng is None else {'dropout': rng}
  return model.apply(
    {'params': params},
    *args,
    deterministic=rng is None,
    method=method,
    rngs=rngs,
  )
