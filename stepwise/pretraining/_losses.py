"""The two losses of pretraining: pure functions.

MLM, the masked language model, is the cross entropy of masked tokens. CPC,
contrastive predictive coding, is that of hidden units: what the global token of
a hidden unit has gathered from its document (`contexts`) is compared with what
a global token makes of every hidden unit of the batch that it can read alone
(`units`), and must be closest to its own. Units of the same document are
negatives, too. The score is the product of two states over the root of their
width, as in attention: final norms leave states about that long.
"""

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from flax import linen as nn

from stepwise._typing import Array, Bool, Float
from stepwise.models import Guesses, LossSums, MaskedBatch
from stepwise.training import JointLoss


class RowStates(NamedTuple):
  """What the losses need to know of every row of a batch.

  Attributes:
    losses: of its masked tokens, summed.
    correct: how many of them were guessed.
    contexts, units: see `Guesses`.
  """

  losses: Float[Array, ' batch']
  correct: Float[Array, ' batch']
  contexts: Float[Array, 'batch hidden embed']
  units: Float[Array, 'batch hidden embed']


def row_states(
  module: nn.Module,
  params: Any,
  batch: MaskedBatch,
  rng: Array | None = None,
) -> RowStates:
  """Runs a `BareETC`; no rng means no dropout."""
  guesses: Any = module.apply(
    {'params': params},
    batch,
    deterministic=rng is None,
    rngs=None if rng is None else {'dropout': rng},
  )
  losses, correct = masked_sums(guesses, batch)
  contexts, units = (
    states.astype(jnp.promote_types(states.dtype, jnp.float32))
    for states in (guesses.contexts, guesses.units)
  )
  return RowStates(losses, correct, contexts, units)


def masked_sums(
  guesses: Guesses, batch: MaskedBatch
) -> tuple[Float[Array, ' batch'], Float[Array, ' batch']]:
  """Cross entropy of the masked tokens of every row, and how many are right."""
  real, labels = batch.masked >= 0, batch.labels
  log_probs = jax.nn.log_softmax(guesses.logits)
  chosen = jnp.take_along_axis(log_probs, labels[..., None], axis=-1)[..., 0]
  right = real & (guesses.logits.argmax(axis=-1) == labels)
  return (
    -jnp.where(real, chosen, 0).sum(axis=1),
    right.sum(axis=1).astype(log_probs.dtype),
  )


def contrastive_sums(
  contexts: Float[Array, 'batch hidden embed'],
  units: Float[Array, 'batch hidden embed'],
  real: Bool[Array, 'batch hidden'],
) -> LossSums:
  """Cross entropy of every real unit among all real units of all rows."""
  rows, hidden, width = contexts.shape
  # Rows stay where they are; every device compares them with all units.
  scores = jnp.einsum('bhe,cke->bhck', contexts, units) / width**0.5
  scores = jnp.where(real[None, None], scores, -jnp.inf)
  # Rows that do not count need not have a candidate: keep them finite.
  scores = jnp.where(real[:, :, None, None], scores, 0)
  scores = scores.reshape(rows, hidden, rows * hidden)
  own = jnp.arange(rows * hidden).reshape(rows, hidden)
  log_probs = jax.nn.log_softmax(scores)
  chosen = jnp.take_along_axis(log_probs, own[..., None], axis=-1)[..., 0]
  right = real & (scores.argmax(axis=-1) == own)
  return LossSums(
    -jnp.where(real, chosen, 0).sum(),
    real.sum().astype(scores.dtype),
    right.sum().astype(scores.dtype),
  )


def loss_parts(states: RowStates, batch: MaskedBatch) -> dict[str, LossSums]:
  """Sums of both losses over all rows."""
  masked = (batch.masked >= 0).sum().astype(states.losses.dtype)
  return {
    'mlm': LossSums(states.losses.sum(), masked, states.correct.sum()),
    'cpc': contrastive_sums(states.contexts, states.units, batch.hidden >= 0),
  }


def weighted_total(
  parts: Mapping[str, LossSums], mlm_weight: float, cpc_weight: float
) -> LossSums:
  """The weighted sum of two means, in the form of one loss.

  Its terms are the masked tokens, or the hidden units if only they are learnt.
  """
  weights = {'mlm': mlm_weight, 'cpc': cpc_weight}
  learnt = {name: weight for name, weight in weights.items() if weight}
  mean = sum(weight * parts[name].mean for name, weight in learnt.items())
  terms = parts[next(iter(learnt))]
  return LossSums(mean * terms.weight, terms.weight, terms.correct)


def pretraining_loss(
  module: nn.Module, mlm_weight: float = 0.8, cpc_weight: float = 0.2
) -> JointLoss:
  """What pretraining minimises; the same however a batch is accumulated."""
  total = functools.partial(
    weighted_total, mlm_weight=mlm_weight, cpc_weight=cpc_weight
  )
  return JointLoss(functools.partial(row_states, module), loss_parts, total)
