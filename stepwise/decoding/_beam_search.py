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

# (memory, plan [batch steps]) -> logits [batch units]
Score = Callable[[Any, Array], Array]


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
) -> BeamResult:
  """Finds the most probable plans of every document.

  Meant to be called inside jit, together with the encoder. The first step calls
  `score` once per document. Later steps map it over beams with `memory` left
  unmapped: no memory is copied per beam, and whatever `score` computes from
  memory alone is computed once per document. Once all hypotheses have ended the
  remaining steps call nothing.

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
  """
  starts_empty = plan is None
  if plan is None:
    plan = jnp.full((valid.shape[0], config.max_units), -1, jnp.int32)
  plan = plan.astype(jnp.int32)
  traced = is_traced((valid, plan, constraints))
  (check_shapes if traced else check_inputs)(valid, config, plan, constraints)

  documents = _documents(valid, plan, config, constraints)
  first_stage, *stages = _stages(plan.shape[1], starts_empty, config)
  seen = plan[:, : first_stage.slots]
  logits = _checked_score(score, memory, seen, valid.shape)
  beams = _initial_beams(plan, config)
  beams, first = _advance_all(beams, logits[:, None], documents, config)
  later = []
  for stage in stages:

    def step(beams: _Beams, _: None, slots: int = stage.slots):
      return _step(beams, slots, score, memory, documents, config)

    beams, beliefs = lax.scan(step, beams, None, length=stage.steps)
    later.append(beliefs)
  told = jax.tree.map(lambda *parts: jnp.concatenate(parts), *later)
  return _result(beams, first, told, documents, config)


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
  start = jnp.sum(plan >= 0, axis=1)
  return _Document(candidates, selectable, start, constraints)


def _initial_beams(
  plan: Int[Array, 'batch steps'], config: DecodeConfig
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
    ended=lengths >= config.max_units,
  )


def _checked_score(
  score: Score, memory: Any, plan: Array, shape: tuple[int, ...]
) -> Float[Array, 'batch units']:
  logits = score(memory, plan)
  if logits.shape != shape:
    raise InputError(f'score returned {logits.shape} but valid has {shape}')
  return logits


def _step(
  beams: _Beams,
  slots: int,
  score: Score,
  memory: Any,
  documents: _Document,
  config: DecodeConfig,
) -> tuple[_Beams, _Beliefs]:
  """Scores and advances all beams, unless all have ended."""
  batch, units = documents.candidates.shape

  def run(beams: _Beams) -> tuple[_Beams, _Beliefs]:
    seen = beams.plans[:, :, :slots]
    logits = jax.vmap(score, in_axes=(None, 1), out_axes=1)(memory, seen)
    return _advance_all(beams, logits, documents, config)

  def rest(beams: _Beams) -> tuple[_Beams, _Beliefs]:
    log_probs = jnp.full((batch, config.beam_size, units), -jnp.inf)
    return beams, _Beliefs(log_probs, jnp.zeros(batch, bool))

  return lax.cond(jnp.all(beams.ended), rest, run, beams)


def _advance_all(
  beams: _Beams,
  logits: Float[Array, 'batch beams units'],
  documents: _Document,
  config: DecodeConfig,
) -> tuple[_Beams, _Beliefs]:
  advance = functools.partial(_advance, config=config)
  return jax.vmap(advance)(beams, logits, documents)


def _advance(
  beams: _Beams,
  logits: Float[Array, 'beams units'],
  document: _Document,
  config: DecodeConfig,
) -> tuple[_Beams, _Beliefs]:
  """One step of one document: any number of beams in, `beam_size` out."""
  beliefs = _beliefs(logits, beams, document)
  options = _options(beams, beliefs.log_probs, document, config)
  decides = jnp.arange(options.shape[1]) < logits.shape[1]
  terms = _terms(beams, document.start)[:, None] + decides[None]
  parent, option = _best_options(_normalised(options, terms, config), config)
  return _extend(beams, parent, option, beliefs.log_probs, config), beliefs


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
    units = allowed_units(*known, max_units=config.max_units)
    return units, may_stop(*known, min_units=config.min_units)

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


def _extend(
  beams: _Beams,
  parent: Int[Array, ' best'],
  option: Int[Array, ' best'],
  log_probs: Float[Array, 'beams units'],
  config: DecodeConfig,
) -> _Beams:
  """The hypotheses `parent`, each with its `option` carried out."""
  units = log_probs.shape[1]
  beams = jax.tree.map(lambda field: field[parent], beams)
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
    ended=~grows | (lengths >= config.max_units),
  )


def _terms(
  beams: _Beams, start: Int[Array, '*batch']
) -> Int[Array, '*batch beams']:
  """How many choices each hypothesis has paid for."""
  return beams.lengths - start[..., None] + beams.stopped


def _normalised(
  totals: Float[Array, '*shape'],
  terms: Int[Array, '*shape'],
  config: DecodeConfig,
) -> Float[Array, '*shape']:
  return totals / jnp.maximum(terms, 1) ** config.length_alpha


def _result(
  beams: _Beams,
  first: _Beliefs,
  later: _Beliefs,
  documents: _Document,
  config: DecodeConfig,
) -> BeamResult:
  exists = jnp.isfinite(beams.totals)
  terms = jnp.where(exists, _terms(beams, documents.start), 0)
  ranking = _ranking(beams, first, later, documents.start, terms)
  return BeamResult(
    plans=jnp.where(exists[..., None], beams.plans, -1),
    lengths=jnp.where(exists, beams.lengths, 0),
    scores=_normalised(beams.totals, terms, config),
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
