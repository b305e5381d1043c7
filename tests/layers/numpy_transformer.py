"""A transformer in NumPy loops, one example at a time, from the equations.

Reads the same parameter trees as `stepwise.layers`; everything is float64.
"""

import numpy as np
from scipy import special


def gelu(x):
  return x * 0.5 * (1 + special.erf(x / np.sqrt(2)))


def gelu_tanh(x):
  return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def norm(params, x, epsilon):
  centred = x - x.mean(-1, keepdims=True)
  variance = (centred**2).mean(-1, keepdims=True)
  return (
    centred / np.sqrt(variance + epsilon) * params['scale'] + params['bias']
  )


def attention(params, states, memory, allowed):
  """states [q, embed], memory [kv, embed], allowed [q, kv]."""

  def project(name, x):
    dense = params[name]
    return np.einsum('le,ehd->lhd', x, dense['kernel']) + dense['bias']

  query, key, value = (
    project('query', states),
    project('key', memory),
    project('value', memory),
  )
  output = params['output']
  result = np.zeros_like(states, dtype=float)
  for q in range(len(states)):
    keys = np.flatnonzero(allowed[q])
    if not len(keys):
      continue
    result[q] = output['bias']
    for head in range(query.shape[1]):
      scores = key[keys, head] @ query[q, head] / np.sqrt(query.shape[2])
      weights = np.exp(scores - scores.max())
      weights /= weights.sum()
      result[q] += weights @ value[keys, head] @ output['kernel'][head]
  return result


def feed_forward(params, x, activation=gelu):
  hidden = x @ params['in']['kernel'] + params['in']['bias']
  return activation(hidden) @ params['out']['kernel'] + params['out']['bias']


def embed(params, tokens, epsilon, token_types=None):
  x = params['token']['embedding'][tokens]
  x = x + params['position']['embedding'][: len(tokens)]
  if token_types is not None:
    x = x + params['token_type']['embedding'][token_types]
  return norm(params['norm'], x, epsilon)


def post_norm_layer(params, x, allowed, epsilon, activation=gelu):
  attended = attention(params['self_attention'], x, x, allowed)
  x = norm(params['self_norm'], x + attended, epsilon)
  fed = feed_forward(params['feed_forward'], x, activation)
  return norm(params['feed_norm'], x + fed, epsilon)


def pre_norm_layer(params, x, allowed, epsilon):
  normed = norm(params['self_norm'], x, epsilon)
  x = x + attention(params['self_attention'], normed, normed, allowed)
  normed = norm(params['feed_norm'], x, epsilon)
  return x + feed_forward(params['feed_forward'], normed)


def encoder(
  params, tokens, real, epsilon, token_types=None, layer=post_norm_layer
):
  """tokens [length], real [length] bool -> [length, embed]."""
  x = embed(params['embeddings'], tokens, epsilon, token_types)
  allowed = np.broadcast_to(real, (len(tokens), len(tokens)))
  for i in range(len(params['stack'])):
    x = layer(params['stack'][f'layers_{i}'], x, allowed, epsilon)
  return x
