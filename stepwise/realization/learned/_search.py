"""Beam search over tokens with a cache: one `while_loop` under one jit.

A hypothesis is a text. Its total is the sum of the log-probabilities of its
tokens, the end token included; constraints forbid tokens and do not
renormalise, as in `stepwise.decoding`. At the last position only the end is
left, so every text ends. Ended and growing hypotheses compete for the same
`beam_size` places, by total over (number of tokens) ** length_alpha; with
enough places the search is exhaustive. Ties go to the better parent, then to
the smaller token.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Float, Int
from stepwise.layers import EncoderDecoder
from stepwise.realization.learned._config import PAD, SearchConfig
from stepwise.realization.learned._numerals import (
  NumeralTrie,
  TokenClasses,
  allowed_tokens,
  next_node,
)


class SearchResult(NamedTuple):
  """Texts of every input, best first; the end token and what follows is PAD.

  Where there are fewer texts than beams the score is -inf.
  """

  tokens: Int[Array, 'batch beams length']
  scores: Float[Array, 'batch beams']


class _Beams(NamedTuple):
  """Hypotheses, best first, and what the model keeps for each."""

  tokens: Int[Array, 'batch beams length']
  last: Int[Array, 'batch beams']  # token that the next step reads
  lengths: Int[Array, 'batch beams']  # tokens paid for, the end included
  totals: Float[Array, 'batch beams']  # -inf = no such hypothesis
  ended: Bool[Array, 'batch beams']
  nodes: Int[Array, 'batch beams']  # in the trie of numerals
  past: Any  # keys and values of all layers [batch beams length heads dim]


def search_texts(
  model: EncoderDecoder,
  params: Any,
  inputs: Int[Array, 'batch source'],
  classes: TokenClasses,
  config: SearchConfig,
  *,
  end: int,
  numerals: NumeralTrie | None = None,
  forbidden: Bool[Array, 'batch vocab'] | None = None,
) -> SearchResult:
  """Finds the most probable texts of every input; meant to be jitted.

  Args:
    model: its memory is computed once and never copied per beam.
    params: of the model.
    inputs: ids, `PAD` after the last.
    classes: tells which tokens may be written.
    config: beams, length, how lengths are compared.
    end: the token that ends a text.
    numerals: confines numerals to paths of these tries; None = all are free.
    forbidden: tokens that a text may not have; None = there are none.
  """
  variables, mask = {'params': params}, inputs != PAD
  memory: Any = model.apply(variables, inputs, mask, method='encode')
  cache: Any = model.apply(
    variables, memory, mask, config.max_tokens, method='init_cache'
  )
  axes = cache._replace(
    layers=tuple(kept._replace(past=1, memory=None) for kept in cache.layers),
    memory_mask=None,
  )

  def step(token: Array, position: Array, cache: Any) -> tuple[Array, Any]:
    out: Any = model.apply(
      variables, token, position, cache, method='decode_step'
    )
    return out

  step = jax.vmap(step, in_axes=(1, None, axes), out_axes=(1, axes))

  def body(state: tuple[Array, _Beams]) -> tuple[Array, _Beams]:
    position, beams = state
    layers = tuple(
      kept._replace(past=past)
      for kept, past in zip(cache.layers, beams.past, strict=True)
    )
    logits, after = step(beams.last, position, cache._replace(layers=layers))
    beams = beams._replace(past=tuple(kept.past for kept in after.layers))
    allowed = _allowed(beams, position, classes, numerals, config, end)
    if forbidden is not None:
      allowed &= ~jnp.asarray(forbidden)[:, None]
    return position + 1, _advance(beams, logits, allowed, numerals, config, end)

  def unfinished(state: tuple[Array, _Beams]) -> Array:
    position, beams = state
    return (position < config.max_tokens) & ~jnp.all(beams.ended)

  beams = _initial(inputs.shape[0], cache, config)
  _, beams = lax.while_loop(unfinished, body, (jnp.asarray(0), beams))
  tokens = jnp.where(beams.tokens == end, PAD, beams.tokens)
  return SearchResult(tokens, _scores(beams.totals, beams.lengths, config))


def check_texts(result: SearchResult) -> SearchResult:
  """The result itself; InputError if no text could be scored. On the host."""
  broken = jnp.flatnonzero(~jnp.isfinite(result.scores[:, 0]))
  if broken.size:
    raise InputError(
      f'the realizer has no finite score for text {broken[0]} of the batch: '
      'its weights are broken.'
    )
  return result


def _initial(batch: int, cache: Any, config: SearchConfig) -> _Beams:
  """One hypothesis for every input, and empty places beside it."""
  shape = batch, config.beam_size

  def per_beam(array: Array) -> Array:
    return jnp.zeros((*shape, *array.shape[1:]), array.dtype)

  zeros = jnp.zeros(shape, jnp.int32)
  first = jnp.arange(config.beam_size) == 0
  totals = jnp.where(first, 0.0, -jnp.inf)
  return _Beams(
    tokens=jnp.full((*shape, config.max_tokens), PAD, jnp.int32),
    last=jnp.full(shape, PAD, jnp.int32),
    lengths=zeros,
    totals=jnp.broadcast_to(totals[None], shape),
    ended=jnp.broadcast_to(~first[None], shape),
    nodes=zeros,
    past=tuple(jax.tree.map(per_beam, kept.past) for kept in cache.layers),
  )


def _allowed(
  beams: _Beams,
  position: Int[Array, ''],
  classes: TokenClasses,
  numerals: NumeralTrie | None,
  config: SearchConfig,
  end: int,
) -> Bool[Array, 'batch beams vocab']:
  """What every hypothesis may write next."""
  vocab = classes.writable.shape[0]
  is_end = jnp.arange(vocab) == end
  writable = jnp.asarray(classes.writable) | is_end
  classes = classes._replace(writable=writable)
  if numerals is None:
    shape = *beams.last.shape, vocab
    allowed = jnp.broadcast_to(writable[None, None], shape)
  else:
    each_beam = jax.vmap(allowed_tokens, in_axes=(None, None, 0))
    each_text = jax.vmap(each_beam, in_axes=(0, None, 0))
    allowed = each_text(numerals, classes, beams.nodes)
  last = position == config.max_tokens - 1
  return jnp.where(last, is_end[None, None], allowed)


def _advance(
  beams: _Beams,
  logits: Float[Array, 'batch beams vocab'],
  allowed: Bool[Array, 'batch beams vocab'],
  numerals: NumeralTrie | None,
  config: SearchConfig,
  end: int,
) -> _Beams:
  """The best continuations of all hypotheses; ended ones stay as they are."""
  batch, beam_size, vocab = logits.shape
  log_probs = jax.nn.log_softmax(logits.astype(jnp.float32))
  growing = beams.totals[..., None] + jnp.where(allowed, log_probs, -jnp.inf)
  # An ended text has one continuation, itself, in the column of PAD.
  stays = jnp.where(
    (jnp.arange(vocab) == PAD)[None, None], beams.totals[..., None], -jnp.inf
  )
  totals = jnp.where(beams.ended[..., None], stays, growing)
  totals = jnp.where(jnp.isnan(totals), -jnp.inf, totals)
  lengths = beams.lengths + ~beams.ended
  scores = _scores(totals, lengths[..., None], config)
  _, best = lax.top_k(scores.reshape(batch, -1), beam_size)
  parent, token = jnp.divmod(best, vocab)
  totals = jnp.take_along_axis(totals.reshape(batch, -1), best, axis=1)
  beams = _take(beams._replace(lengths=lengths, totals=beams.totals), parent)
  return _append(beams, token, totals, numerals, end)


def _append(
  beams: _Beams,
  token: Int[Array, 'batch beams'],
  totals: Float[Array, 'batch beams'],
  numerals: NumeralTrie | None,
  end: int,
) -> _Beams:
  grows = ~beams.ended
  slots = jnp.arange(beams.tokens.shape[-1])[None, None]
  slot = grows[..., None] & (slots == beams.lengths[..., None] - 1)
  nodes = beams.nodes
  if numerals is not None:
    each_beam = jax.vmap(next_node, in_axes=(None, 0, 0))
    nodes = jax.vmap(each_beam)(numerals, nodes, token)
  return beams._replace(
    tokens=jnp.where(slot, token[..., None], beams.tokens),
    last=jnp.where(grows, token, beams.last),
    totals=totals,
    ended=beams.ended | (token == end) | jnp.isneginf(totals),
    nodes=nodes,
  )


def _take(beams: _Beams, parent: Int[Array, 'batch beams']) -> _Beams:
  rows = jnp.arange(parent.shape[0])[:, None]
  return jax.tree.map(lambda field: field[rows, parent], beams)


def _scores(
  totals: Float[Array, '...'], lengths: Int[Array, '...'], config: SearchConfig
) -> Float[Array, '...']:
  return totals / jnp.maximum(lengths, 1) ** config.length_alpha
