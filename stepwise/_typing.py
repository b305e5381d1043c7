"""Axis glossary and array aliases; no logic.

One word per axis, used in every shape annotation:

  batch     documents processed together
  length    long tokens of a document (the "long" input of ETC)
  globals   global tokens of a document
  units     sentences or table entries that can be chosen
  tokens    tokens of one unit (a row of HiBERT's grid)
  steps     slots of a plan
  beams     hypotheses kept by beam search
  heads     attention heads
  dim       size of one head
  embed     model width
  mlp       inner width of a feed-forward block
  vocab     rows of the token table
  labels    relative-position labels
  q, kv     queries and keys of a generic attention
"""

from jax import Array
from jax.typing import DTypeLike
from jaxtyping import Bool, Float, Int

__all__ = ['Array', 'Bool', 'DTypeLike', 'Float', 'Int']
