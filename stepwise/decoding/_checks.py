"""Checks on the host, before anything is traced; each error is one sentence."""

import jax
import numpy as np
from jax.core import Tracer

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Int
from stepwise.decoding._config import DecodeConfig
from stepwise.decoding._constraints import (
  NO_CONSTRAINTS,
  Constraints,
  WordBudget,
)


def check_inputs(
  valid: Bool[Array, 'batch units'],
  config: DecodeConfig,
  plan: Int[Array, 'batch steps'],
  constraints: Constraints = NO_CONSTRAINTS,
) -> None:
  """Raises InputError if a search over these values would make no sense.

  `beam_search` does this by itself unless it is being traced, when values are
  unknown; call it before a jitted search whose inputs come from outside.
  """
  check_shapes(valid, config, plan, constraints)
  selectable = np.array(valid)
  selectable[:, list(_special_units(config))] = False
  _check_plan(np.asarray(valid), np.asarray(plan), config)
  if constraints.must_include is not None:
    _check_required(selectable, np.asarray(plan), constraints, config)


def check_shapes(
  valid: Bool[Array, 'batch units'],
  config: DecodeConfig,
  plan: Int[Array, 'batch steps'],
  constraints: Constraints,
) -> None:
  """Raises InputError for wrong shapes and unit ids; works while tracing."""
  batch, units = valid.shape
  if not units:
    raise InputError('valid has no units; a search needs at least one')
  for unit in _special_units(config):
    if not 0 <= unit < units:
      raise InputError(
        f'stop_unit and never name unit {unit} but valid has {units} units'
      )
  if plan.shape[0] != batch or plan.shape[1] < config.max_units:
    raise InputError(
      f'plan has shape {plan.shape} but must be ({batch}, at least '
      f'max_units={config.max_units})'
    )
  _check_constraint_shapes(constraints, batch, units)


def _special_units(config: DecodeConfig) -> tuple[int, ...]:
  stop = () if config.stop_unit is None else (config.stop_unit,)
  return (*config.never, *stop)


def _check_constraint_shapes(
  constraints: Constraints, batch: int, units: int
) -> None:
  found = constraints._asdict()
  if (budget := found.pop('budget')) is not None:
    found |= {'budget.words': budget.words, 'budget.limit': budget.limit}
  other_shapes: dict[str, tuple[int, ...]] = {'overlap': (batch, units, units)}
  for name in ('budget.limit', 'min_units', 'max_units'):
    other_shapes[name] = (batch,)
  for name, array in found.items():
    needed = other_shapes.get(name, (batch, units))
    if array is not None and array.shape != needed:
      raise InputError(
        f'constraint {name} has shape {array.shape} but must be {needed}'
      )


def _check_plan(
  valid: np.ndarray, plan: np.ndarray, config: DecodeConfig
) -> None:
  units = valid.shape[1]
  filled = plan >= 0
  if np.any((plan < -1) | (plan >= units)):
    raise InputError(
      f'plan has unit {_first(plan, (plan < -1) | (plan >= units))} but units '
      f'are 0 to {units - 1}, and -1 where empty'
    )
  if np.any(filled[:, 1:] & ~filled[:, :-1]):
    raise InputError('plan has an empty slot before a unit; fill it from 0 on')
  if filled.sum(axis=1).max(initial=0) > config.max_units:
    raise InputError(
      f'plan has {filled.sum(axis=1).max()} units but max_units is '
      f'{config.max_units}'
    )
  real = np.take_along_axis(valid, np.maximum(plan, 0), axis=1)
  wrong = filled & (~real | (plan == config.stop_unit))
  if wrong.any():
    raise InputError(
      f'plan has unit {_first(plan, wrong)}, which is padding or the stop'
    )


def _check_required(
  selectable: np.ndarray,
  plan: np.ndarray,
  constraints: Constraints,
  config: DecodeConfig,
) -> None:
  required = np.asarray(constraints.must_include)
  units = np.broadcast_to(np.arange(required.shape[1]), required.shape)
  wrong = required & ~selectable
  if constraints.must_exclude is not None:
    wrong |= required & np.asarray(constraints.must_exclude)
  if wrong.any():
    raise InputError(
      f'must_include has unit {_first(units, wrong)}, which is excluded, '
      'special or padding'
    )
  missing = required & ~(plan[:, :, None] == units[:, None]).any(axis=1)
  sizes = (plan >= 0).sum(axis=1) + missing.sum(axis=1)
  most = np.full(len(plan), config.max_units)
  if constraints.max_units is not None:
    most = np.minimum(most, np.asarray(constraints.max_units))
  if np.any(sizes > most):
    raise InputError(
      f'plan and must_include have {_first(sizes, sizes > most)} units but '
      f'max_units is {_first(most, sizes > most)}'
    )
  if constraints.budget is not None:
    _check_required_words(missing, plan, constraints.budget)


def _check_required_words(
  missing: np.ndarray, plan: np.ndarray, budget: WordBudget
) -> None:
  words, limit = np.asarray(budget.words), np.asarray(budget.limit)
  planned = np.take_along_axis(words, np.maximum(plan, 0), axis=1)
  needed = np.where(plan >= 0, planned, 0).sum(axis=1)
  needed += np.where(missing, words, 0).sum(axis=1)
  over = needed > limit
  if over.any():
    raise InputError(
      f'plan and must_include have {_first(needed, over)} words but the budget '
      f'is {_first(limit, over)}'
    )


def _first(values: np.ndarray, where: np.ndarray) -> int:
  return int(values[where][0])


def is_traced(tree: object) -> bool:
  """Whether values are unknown because a jax transformation is running."""
  return any(isinstance(x, Tracer) for x in jax.tree.leaves(tree))
