"""What the models share: the scoring head, and BEG."""

import jax.numpy as jnp
from flax import linen as nn

from stepwise._errors import InputError
from stepwise._typing import Array, Float, Int
from stepwise.layers import Dense


class Scorer(nn.Module):
  """A linear score per unit, in float32."""

  @nn.compact
  def __call__(
    self, units: Float[Array, 'batch units embed']
  ) -> Float[Array, 'batch units']:
    wide = units.astype(jnp.promote_types(units.dtype, jnp.float32))
    return Dense((1,), ('embed', 'score'), name='dense')(wide)[..., 0]


def with_begin(
  plan: Int[Array, 'batch steps'] | None, begin_unit: int | None
) -> Int[Array, 'batch pieces'] | None:
  """The plan with BEG before it; None for a model that is not stepwise."""
  if (plan is None) != (begin_unit is None):
    raise InputError(
      f'plan is {"missing" if plan is None else "given"} but begin_unit is'
      f' {begin_unit}: a stepwise model takes a plan, its twin takes none.'
    )
  if plan is None or begin_unit is None:
    return None
  begin = jnp.full((plan.shape[0], 1), begin_unit, plan.dtype)
  return jnp.concatenate([begin, plan], axis=1)
