"""Constraints on plans: pure masks over units.

Every mask is written for one hypothesis, a `plan [steps]` whose first slots
are filled and whose others are -1, and speaks of the unit chosen next.

The rules, in the order of their strength:

* Excluded units are never chosen.
* Required units (`must_include`) have their place in the plan from the start:
  others may take only the slots and the words that the missing required units
  leave, and may share no trigram with them. A required unit is therefore never
  refused because of slots, words or trigrams, and the stop waits for all.
* Repeats, trigrams and words mask what they say below.
* The stop is masked by `min_units` and missing required units, nothing else.
"""

from typing import NamedTuple

import jax.numpy as jnp

from stepwise._typing import Array, Bool, Int


class WordBudget(NamedTuple):
  """A plan's units have at most `limit` words together.

  Attributes:
    words: the words of every unit; those of the stop are never counted.
    limit: the words of a whole plan.
  """

  words: Int[Array, '*batch units']
  limit: Int[Array, '*batch']


class Constraints(NamedTuple):
  """What a plan must satisfy; None switches a constraint off.

  Attributes:
    repeatable: units that may be chosen again; all others only once.
    overlap: units that share a trigram (`trigram_overlap`, symmetric). A unit
      that shares one with a chosen unit is masked. A unit of three words or
      more shares one with itself, so it is never repeated.
    budget: a unit that would exceed the words left is masked.
    must_include: units that every plan contains.
    must_exclude: units that no plan contains.
    min_units: the stop is masked while the plan is shorter.
    max_units: a plan with this many units is complete; more than those of the
      `DecodeConfig` mean nothing.
  """

  repeatable: Bool[Array, '*batch units'] | None = None
  overlap: Bool[Array, '*batch units units'] | None = None
  budget: WordBudget | None = None
  must_include: Bool[Array, '*batch units'] | None = None
  must_exclude: Bool[Array, '*batch units'] | None = None
  min_units: Int[Array, '*batch'] | None = None
  max_units: Int[Array, '*batch'] | None = None


NO_CONSTRAINTS = Constraints()


def allowed_units(
  plan: Int[Array, ' steps'],
  selectable: Bool[Array, ' units'],
  constraints: Constraints,
  max_units: int | Int[Array, ''],
) -> Bool[Array, ' units']:
  """The units that may come next in `plan`; `selectable` has no stop unit."""
  chosen = _chosen_units(plan, selectable.shape[0])
  missing = _missing_units(chosen, selectable, constraints)
  allowed = selectable
  if constraints.must_exclude is not None:
    allowed &= ~constraints.must_exclude
  if constraints.repeatable is not None:
    allowed &= constraints.repeatable | ~chosen
  if constraints.overlap is not None:
    allowed &= missing | ~_overlapping(chosen | missing, constraints.overlap)
  if constraints.budget is not None:
    allowed &= missing | _affordable(plan, missing, constraints.budget)
  if constraints.must_include is not None:
    slots_left = max_units - jnp.sum(plan >= 0)
    allowed &= missing | (slots_left > jnp.sum(missing))
  return allowed


def may_stop(
  plan: Int[Array, ' steps'],
  selectable: Bool[Array, ' units'],
  constraints: Constraints,
  min_units: int | Int[Array, ''],
) -> Bool[Array, '']:
  """Whether `plan` is long enough and has every required unit."""
  chosen = _chosen_units(plan, selectable.shape[0])
  missing = _missing_units(chosen, selectable, constraints)
  return (jnp.sum(plan >= 0) >= min_units) & ~jnp.any(missing)


def _chosen_units(
  plan: Int[Array, ' steps'], units: int
) -> Bool[Array, ' units']:
  return jnp.any(plan[:, None] == jnp.arange(units)[None], axis=0)


def _missing_units(
  chosen: Bool[Array, ' units'],
  selectable: Bool[Array, ' units'],
  constraints: Constraints,
) -> Bool[Array, ' units']:
  if constraints.must_include is None:
    return jnp.zeros_like(chosen)
  missing = constraints.must_include & selectable & ~chosen
  if constraints.must_exclude is not None:
    missing &= ~constraints.must_exclude
  return missing


def _overlapping(
  taken: Bool[Array, ' units'], overlap: Bool[Array, 'units units']
) -> Bool[Array, ' units']:
  return jnp.any(overlap & taken[:, None], axis=0)


def _affordable(
  plan: Int[Array, ' steps'],
  missing: Bool[Array, ' units'],
  budget: WordBudget,
) -> Bool[Array, ' units']:
  used = jnp.sum(jnp.where(plan >= 0, budget.words[plan], 0))
  reserved = jnp.sum(jnp.where(missing, budget.words, 0))
  return used + reserved + budget.words <= budget.limit
