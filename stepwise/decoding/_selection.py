"""Selection without steps: the best k units at once, in document order."""

import functools

import jax
import jax.numpy as jnp
from jax import lax

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Float, Int


def select_top_k(
  logits: Float[Array, 'batch units'],
  valid: Bool[Array, 'batch units'],
  k: int,
  overlap: Bool[Array, 'batch units units'] | None = None,
) -> Int[Array, 'batch k']:
  """The units of the `k` highest logits, in document order, -1 = empty.

  With `overlap` (`trigram_overlap`) a unit that shares a trigram with a better
  unit already taken is passed over. Fewer than `k` units come back if fewer are
  left, as in BERTSum. Ties go to the unit that comes first; logits of -inf or
  NaN are never selected.
  """
  if k < 1:
    raise InputError(f'k is {k} but must be at least 1')
  if overlap is None:
    overlap = jnp.zeros((*valid.shape, valid.shape[1]), bool)
  select = functools.partial(_select_top_k, k=k)
  return jax.vmap(select)(logits, valid & (logits > -jnp.inf), overlap)


def _select_top_k(
  logits: Float[Array, ' units'],
  open_units: Bool[Array, ' units'],
  overlap: Bool[Array, 'units units'],
  k: int,
) -> Int[Array, ' k']:
  units = logits.shape[0]

  def take_best(open_units: Array, _: None) -> tuple[Array, Array]:
    best = jnp.argmax(jnp.where(open_units, logits, -jnp.inf))
    taken = jnp.where(jnp.any(open_units), best, units)
    closed = overlap[best] | (jnp.arange(units) == best)
    return open_units & ~closed, taken

  _, taken = lax.scan(take_best, open_units, None, length=k)
  in_order = jnp.sort(taken)  # `units` stands for nothing: it sorts last
  return jnp.where(in_order < units, in_order, -1)
