"""Beam search over plans in `lax.scan`, generic over the model's `score`.

What it searches. A hypothesis is a plan. At every step it chooses a unit or
the stop, with the model's own probability: a softmax over the real units
except `config.never`, the same as in training. Its total is the sum of the
log-probabilities of its choices. Constraints decide which choices are open but
do not renormalise: a plan's probability is the model's, whatever it is compared
with, and forbidding one plan never makes another look more probable.

How hypotheses end. By choosing the stop, which is paid for like any choice; or,
for free, when no unit may be chosen any more: the plan has `max_units` units,
or the constraints leave none. A forced end is no choice of the model. So a
document in which the stop is the only candidate has an empty plan of score 0.

Ended and growing hypotheses compete for the same `beam_size` places; with
enough places the search is exhaustive. Ties go to the better parent, then to
the unit that comes first.

Plans can be drawn instead: with `rng` the hypotheses do not compete, and every
choice is a draw from the model's probabilities among what is open.
"""

import functools
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Float, Int
from stepwise.decoding._checks import check_inputs, check_shapes, is_traced
from stepwise.decoding._config import DecodeConfig
from stepwise.decoding._constraints import (
  NO_CONSTRAINTS,
  Constraints,
  allowed_units,
  may_stop,
)

# (memory, plan [batch steps]) -> logits [batch units]; of a model that keeps
# what it has read, (memory, plan, state, position) -> logits, state.
Score = Callable[..., Any]
# Steps between two looks at whether all plans have ended.
_STRIDE = 8


class BeamResult(NamedTuple):
  """Plans of every document, best first.

  Slot `s` of a plan was decided with log-probability `log_probs[s]`, when the
  model's beliefs were `ranking[s]`. If a plan stopped by itself, slot `lengths`
  of both belongs to the stop.

  Attributes:
    plans: chosen units in order, the initial plan first; -1 = empty.
    lengths: units of a plan, without the stop.
    scores: sum of `log_probs` over (their number) ** length_alpha. Where there
      are fewer plans than beams the score is -inf and the plan empty.
    log_probs: 0 where nothing was decided.
    ranking: log-probabilities of all units before constraints; -inf for units
      outside the softmax and where nothing was decided.
    stopped: the plan chose the stop, rather than being full or out of choices.
    broken: a logit of the document was NaN or +inf. Such logits count as -inf,
      so everything else stays finite; see `check_result`.
  """

  plans: Int[Array, 'batch beams steps']
  lengths: Int[Array, 'batch beams']
  scores: Float[Array, 'batch beams']
  log_probs: Float[Array, 'batch beams steps']
  ranking: Float[Array, 'batch beams steps units']
  stopped: Bool[Array, 'batch beams']
  broken: Bool[Array, ' batch']


def beam_search(
  score: Score,
  memory: Any,
  valid: Bool[Array, 'batch units'],
  config: DecodeConfig,
  *,
  plan: Int[Array, 'batch steps'] | None = None,
  constraints: Constraints = NO_CONSTRAINTS,
  state: Any = None,
  length_alpha: Float[Array, ''] | None = None,
  rng: Array | None = None,
) -> BeamResult:
  """Finds the most probable plans of every document.

  Meant to be called inside jit, together with the encoder. The first step calls
  `score` once per document. Later steps map it over beams with `memory` left
  unmapped: no memory is copied per beam, and whatever `score` computes from
  memory alone is computed once per document. Some steps after all hypotheses
  have ended, the search ends.

  Args:
    score: logits of all units given the plan so far, -1 = empty slot. With
      `config.stages` it must take plans of any number of slots, 0 included.
    memory: any pytree whose leaves have a leading batch axis.
    valid: the real units, special ones included; False = padding. A document
      without any, a padding row, gets an empty plan of score 0.
    config: limits, special units, beam size. A beam size beyond the number of
      plans is allowed and leaves beams of score -inf.
    plan: units chosen beforehand, filled from slot 0 on, at least `max_units`
      slots; empty by default. They count as chosen for every limit and
      constraint, and are not scored.
    constraints: what the plans must satisfy.
    state: what the model has read before the first step, a pytree with a
      leading batch axis. `score` gets it with the plan and the number of units
      in it, and gives it back with the logits; every hypothesis keeps its own.
      Only where plans start empty.
    length_alpha: instead of that of the `config`, and not part of the program.
    rng: draws `beam_size` plans, see above. The draws of a document depend
      neither on the others of its batch nor on padding.
  """
  starts_empty = plan is None
  if state is not None and not starts_empty:
    raise InputError('plan is given, but a model with state reads its own.')
  if plan is None:
    plan = jnp.full((valid.shape[0], config.max_units), -1, jnp.int32)
  plan = plan.astype(jnp.int32)
  traced = is_traced((valid, plan, constraints))
  (check_shapes if traced else check_inputs)(valid, config, plan, constraints)

  alpha = config.length_alpha if length_alpha is None else length_alpha
  documents = _documents(valid, plan, config, constraints)
  search = _Search(_with_state(score, state), memory, documents, config, alpha)
  first_stage, *stages = _stages(plan.shape[1], starts_empty, config)
  seen = plan[:, : first_stage.slots]
  logits, state = _checked_score(search, seen, state)
  state = jax.tree.map(lambda x: x[None], state)
  beams = _initial_beams(plan, documents, state)
  noise = _noise(rng, 0, (config.beam_size, valid.shape[1]))
  beams, first = _advance_all(beams, logits[:, None], noise, search)
  later, done = [], 1
  for stage in stages:
    beams, beliefs = _run(beams, done, stage, rng, search)
    later.append(beliefs)
    done += stage.steps
  told = jax.tree.map(lambda *parts: jnp.concatenate(parts), *later)
  return _result(beams, first, told, search)


def check_result(result: BeamResult) -> BeamResult:
  """The result itself; InputError if a logit was NaN or +inf. On the host."""
  broken = jnp.flatnonzero(result.broken)
  if broken.size:
    raise InputError(
      f'the logits of document {broken[0]} of the batch are not finite: the '
      'weights are broken or an activation overflowed'
    )
  return result


class _Stage(NamedTuple):
  """Some consecutive steps, and the slots of a plan that `score` reads."""

  steps: int
  slots: int


def _stages(
  slots: int, starts_empty: bool, config: DecodeConfig
) -> list[_Stage]:
  """The first step, and what the others are divided into.

  Before step j (from 0) a plan that started empty has at most j units. How
  many a given plan has is only known on the device.
  """
  later = config.max_units - 1
  if config.stages == 1 or not starts_empty:
    return [_Stage(1, slots), _Stage(later, slots)]
  ends = [later * part // config.stages for part in range(config.stages + 1)]
  return [_Stage(1, 0)] + [
    _Stage(end - start, end) for start, end in itertools.pairwise(ends)
  ]


class _Document(NamedTuple):
  """What does not change during the search; no batch axis inside vmap."""

  candidates: Bool[Array, '*batch units']  # share the softmax
  selectable: Bool[Array, '*batch units']  # candidates without the stop
  start: Int[Array, '*batch']  # length of the initial plan
  min_units: Int[Array, '*batch']
  max_units: Int[Array, '*batch']
  constraints: Constraints


class _Beams(NamedTuple):
  """Hypotheses, best first; no batch axis inside vmap."""

  plans: Int[Array, '*batch beams steps']
  lengths: Int[Array, '*batch beams']
  totals: Float[Array, '*batch beams']  # -inf = no such hypothesis
  log_probs: Float[Array, '*batch beams steps']
  origins: Int[Array, '*batch beams steps']  # beam that decided each slot
  stopped: Bool[Array, '*batch beams']
  ended: Bool[Array, '*batch beams']
  # What the model has read of each plan; beams come first, then the batch: as
  # the model is called for all beams, so that nothing is turned over.
  state: Any


class _Search(NamedTuple):
  """What the steps of a search share."""

  score: Score
  memory: Any
  documents: _Document
  config: DecodeConfig
  alpha: float | Float[Array, '']


class _Beliefs(NamedTuple):
  """What the model said at one step about every beam."""

  log_probs: Float[Array, '*batch beams units']
  broken: Bool[Array, '*batch']


def _documents(
  valid: Bool[Array, 'batch units'],
  plan: Int[Array, 'batch steps'],
  config: DecodeConfig,
  constraints: Constraints,
) -> _Document:
  candidates = valid
  for unit in config.never:
    candidates = candidates.at[:, unit].set(False)
  selectable = candidates
  if config.stop_unit is not None:
    selectable = candidates.at[:, config.stop_unit].set(False)

  def limit(given: Array | None, otherwise: int) -> Int[Array, ' batch']:
    every = jnp.full(valid.shape[0], otherwise, jnp.int32)
    return every if given is None else jnp.asarray(given, jnp.int32)

  most = limit(constraints.max_units, config.max_units)
  return _Document(
    candidates,
    selectable,
    jnp.sum(plan >= 0, axis=1),
    limit(constraints.min_units, config.min_units),
    jnp.minimum(most, config.max_units),
    constraints,
  )


def _initial_beams(
  plan: Int[Array, 'batch steps'], documents: _Document, state: Any
) -> _Beams:
  """One hypothesis for every document."""
  plans = plan[:, None]
  lengths = jnp.sum(plans >= 0, axis=-1)
  return _Beams(
    plans=plans,
    lengths=lengths,
    totals=jnp.zeros(lengths.shape, jnp.float32),
    log_probs=jnp.zeros(plans.shape, jnp.float32),
    origins=jnp.zeros(plans.shape, jnp.int32),
    stopped=jnp.zeros(lengths.shape, bool),
    ended=lengths >= documents.max_units[:, None],
    state=state,
  )


def _with_state(score: Score, state: Any) -> Score:
  if state is not None:
    return score
  return lambda memory, plan, state, position: (score(memory, plan), state)


def _checked_score(
  search: _Search, plan: Array, state: Any
) -> tuple[Float[Array, 'batch units'], Any]:
  shape = search.documents.candidates.shape
  logits, state = search.score(
    search.memory, plan, state, jnp.zeros((), jnp.int32)
  )
  if logits.shape != shape:
    raise InputError(f'score returned {logits.shape} but valid has {shape}')
  return logits, state


def _run(
  beams: _Beams,
  done: int,
  stage: _Stage,
  rng: Array | None,
  search: _Search,
) -> tuple[_Beams, _Beliefs]:
  """All steps of a stage, `_STRIDE` at a time, until all beams have ended.

  A branch in every step would save some of the last ones, but what the model
  remembers of the plans would be copied into and out of it at each.
  """

  def step(beams: _Beams, index: Int[Array, '']) -> tuple[_Beams, _Beliefs]:
    return _step(beams, index, stage.slots, rng, search)

  if stage.steps <= _STRIDE:
    return lax.scan(step, beams, jnp.arange(done, done + stage.steps))
  strides = -(-stage.steps // _STRIDE)

  def goes_on(carry: Any) -> Bool[Array, '']:
    stride, beams, _ = carry
    return (stride < strides) & ~jnp.all(beams.ended)

  def run(carry: Any) -> Any:
    stride, beams, told = carry
    # Steps beyond the last find plans that are full, and leave them so.
    steps = done + stride * _STRIDE + jnp.arange(_STRIDE)
    beams, beliefs = lax.scan(step, beams, steps)
    told = jax.tree.map(lambda x, new: x.at[stride].set(new), told, beliefs)
    return stride + 1, beams, told

  batch, units = search.documents.candidates.shape
  shape = strides, _STRIDE, batch
  told = _Beliefs(
    jnp.full((*shape, search.config.beam_size, units), -jnp.inf),
    jnp.zeros(shape, bool),
  )
  _, beams, told = lax.while_loop(
    goes_on, run, (jnp.zeros((), jnp.int32), beams, told)
  )
  flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), told)
  return beams, jax.tree.map(lambda x: x[: stage.steps], flat)


def _step(
  beams: _Beams,
  index: Int[Array, ''],
  slots: int,
  rng: Array | None,
  search: _Search,
) -> tuple[_Beams, _Beliefs]:
  """Scores and advances all beams; those that have ended stay as they are."""
  seen = beams.plans[:, :, :slots]
  score = jax.vmap(search.score, in_axes=(None, 1, 0, None), out_axes=(1, 0))
  logits, state = score(search.memory, seen, beams.state, index)
  beams = beams._replace(state=state)
  units = search.documents.candidates.shape[1]
  noise = _noise(rng, index, (search.config.beam_size, units))
  return _advance_all(beams, logits, noise, search)


def _noise(
  rng: Array | None, step: Int[Array, ''] | int, shape: tuple[int, int]
) -> Float[Array, 'draws units'] | None:
  """The largest of Gumbel-perturbed logits is a draw from their softmax."""
  if rng is None:
    return None
  draws, units = shape

  def one(key: Array) -> Float[Array, ' units']:
    key = jax.random.fold_in(key, step)
    return jax.random.gumbel(key, (units,), jnp.float32)

  return jax.vmap(one)(jax.random.split(rng, draws))


def _advance_all(
  beams: _Beams,
  logits: Float[Array, 'batch beams units'],
  noise: Float[Array, 'draws units'] | None,
  search: _Search,
) -> tuple[_Beams, _Beliefs]:
  advance = functools.partial(_advance, noise=noise, search=search)
  axes: Any = _Beams(*[0] * 7, state=1)  # pyright: ignore
  return jax.vmap(advance, in_axes=(axes, 0, 0), out_axes=(axes, 0))(
    beams, logits, search.documents
  )


def _advance(
  beams: _Beams,
  logits: Float[Array, 'beams units'],
  document: _Document,
  noise: Float[Array, 'draws units'] | None,
  search: _Search,
) -> tuple[_Beams, _Beliefs]:
  """One step of one document: any number of beams in, `beam_size` out."""
  config = search.config
  beliefs = _beliefs(logits, beams, document)
  options = _options(beams, beliefs.log_probs, document, config)
  if noise is None:
    decides = jnp.arange(options.shape[1]) < logits.shape[1]
    terms = _terms(beams, document.start)[:, None] + decides[None]
    scores = _normalised(options, terms, search.alpha)
    parent, option = _best_options(scores, config)
  else:
    parent, option = _drawn_options(options, noise)
    if len(option) == len(options):
      parent = None
  grown = _extend(beams, parent, option, beliefs.log_probs, document, config)
  return grown, beliefs


def _beliefs(
  logits: Float[Array, 'beams units'], beams: _Beams, document: _Document
) -> _Beliefs:
  """Softmax over the candidates, in float32 whatever the logits are."""
  logits = logits.astype(jnp.float32)
  candidates = document.candidates[None]
  bad = candidates & (jnp.isnan(logits) | jnp.isposinf(logits))
  log_probs = jax.nn.log_softmax(
    logits, where=candidates & jnp.isfinite(logits)
  )
  return _Beliefs(log_probs, jnp.any(bad & ~beams.ended[:, None]))


def _options(
  beams: _Beams,
  log_probs: Float[Array, 'beams units'],
  document: _Document,
  config: DecodeConfig,
) -> Float[Array, 'beams options']:
  """Totals after choosing each unit or the stop, or (last) remaining as is."""

  def masks(plan):
    known = plan, document.selectable, document.constraints
    units = allowed_units(*known, max_units=document.max_units)
    return units, may_stop(*known, min_units=document.min_units)

  allowed, stops = jax.vmap(masks)(beams.plans)
  possible = jnp.isfinite(log_probs)
  allowed &= possible & ~beams.ended[:, None]
  remains = ~jnp.any(allowed, axis=1)
  if config.stop_unit is not None:
    stops &= ~remains & possible[:, config.stop_unit]
    allowed = allowed.at[:, config.stop_unit].set(stops)
  totals = beams.totals[:, None]
  return jnp.concatenate(
    [
      jnp.where(allowed, totals + log_probs, -jnp.inf),
      jnp.where(remains[:, None], totals, -jnp.inf),
    ],
    axis=1,
  )


def _best_options(
  scores: Float[Array, 'beams options'], config: DecodeConfig
) -> tuple[Int[Array, ' best'], Int[Array, ' best']]:
  """Parent and option of the best, best first; option -1 = there is none."""
  missing = max(0, config.beam_size - scores.size)
  flat = jnp.pad(scores.reshape(-1), (0, missing), constant_values=-jnp.inf)
  best_scores, best = lax.top_k(flat, config.beam_size)
  exists = jnp.isfinite(best_scores)
  parent, option = jnp.divmod(jnp.where(exists, best, 0), scores.shape[1])
  return parent, jnp.where(exists, option, -1)


def _drawn_options(
  options: Float[Array, 'beams options'], noise: Float[Array, 'draws units']
) -> tuple[Int[Array, ' draws'], Int[Array, ' draws']]:
  """Every hypothesis is its own parent; the first is that of all."""
  draws = noise.shape[0]
  parent = jnp.arange(draws) % options.shape[0]
  perturbed = options[parent] + jnp.pad(noise, ((0, 0), (0, 1)))
  exists = jnp.isfinite(perturbed.max(axis=1))
  return parent, jnp.where(exists, perturbed.argmax(axis=1), -1)


def _extend(
  beams: _Beams,
  parent: Int[Array, ' best'] | None,
  option: Int[Array, ' best'],
  log_probs: Float[Array, 'beams units'],
  document: _Document,
  config: DecodeConfig,
) -> _Beams:
  """The hypotheses `parent`, each with its `option` carried out.

  None = each is its own: what the model remembers of plans is not copied.
  """
  units = log_probs.shape[1]
  if parent is not None:
    beams = jax.tree.map(lambda field: field[parent], beams)
  else:
    parent = jnp.arange(len(option))
  decides = (option >= 0) & (option < units)
  stops = jnp.zeros_like(decides)
  if config.stop_unit is not None:
    stops = option == config.stop_unit
  grows = decides & ~stops
  paid = jnp.where(
    decides, log_probs[parent, jnp.minimum(option, units - 1)], 0
  )
  slots = jnp.arange(beams.plans.shape[1])
  slot = decides[:, None] & (slots[None] == beams.lengths[:, None])
  lengths = beams.lengths + grows
  return _Beams(
    plans=jnp.where(slot & grows[:, None], option[:, None], beams.plans),
    lengths=lengths,
    totals=jnp.where(option >= 0, beams.totals + paid, -jnp.inf),
    log_probs=jnp.where(slot, paid[:, None], beams.log_probs),
    origins=jnp.where(slot, parent[:, None], beams.origins),
    stopped=beams.stopped | stops,
    ended=~grows | (lengths >= document.max_units),
    state=beams.state,
  )


def _terms(
  beams: _Beams, start: Int[Array, '*batch']
) -> Int[Array, '*batch beams']:
  """How many choices each hypothesis has paid for."""
  return beams.lengths - start[..., None] + beams.stopped


def _normalised(
  totals: Float[Array, '*shape'],
  terms: Int[Array, '*shape'],
  alpha: float | Float[Array, ''],
) -> Float[Array, '*shape']:
  return totals / jnp.maximum(terms, 1) ** alpha


def _result(
  beams: _Beams,
  first: _Beliefs,
  later: _Beliefs,
  search: _Search,
) -> BeamResult:
  exists = jnp.isfinite(beams.totals)
  start = search.documents.start
  terms = jnp.where(exists, _terms(beams, start), 0)
  ranking = _ranking(beams, first, later, start, terms)
  return BeamResult(
    plans=jnp.where(exists[..., None], beams.plans, -1),
    lengths=jnp.where(exists, beams.lengths, 0),
    scores=_normalised(beams.totals, terms, search.alpha),
    log_probs=jnp.where(exists[..., None], beams.log_probs, 0),
    ranking=ranking,
    stopped=exists & beams.stopped,
    broken=first.broken | jnp.any(later.broken, axis=0),
  )


def _ranking(
  beams: _Beams,
  first: _Beliefs,
  later: _Beliefs,
  start: Int[Array, ' batch'],
  terms: Int[Array, 'batch beams'],
) -> Float[Array, 'batch beams steps units']:
  """Gathers the beliefs behind every slot, from the beam that decided it."""
  batch, beam_size, steps = beams.plans.shape
  told = jnp.broadcast_to(
    first.log_probs, (batch, beam_size, first.log_probs.shape[-1])
  )
  told = jnp.concatenate([told[None], later.log_probs])
  step = (jnp.arange(steps)[None] - start[:, None])[:, None]
  decided = (step >= 0) & (step < terms[..., None])
  rows = jnp.arange(batch)[:, None, None]
  ranking = told[jnp.clip(step, 0, len(told) - 1), rows, beams.origins]
  return jnp.where(decided[..., None], ranking, -jnp.inf)
