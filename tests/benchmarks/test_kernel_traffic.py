"""Bytes that kernels move, counted from their block specs."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

from benchmarks._attention_systems import (
  Sizes,
  gradient,
  pallas,
  problem_shapes,
)
from benchmarks._kernel_traffic import kernel_traffic


def test_a_block_is_fetched_when_its_index_changes():
  def add(rows, whole, out):
    out[...] = rows[...] + whole[...]

  def function(rows, whole):
    return pl.pallas_call(
      add,
      grid=(3, 4),
      in_specs=[
        pl.BlockSpec((8, 128), lambda i, j: (i * 4 + j, 0)),
        pl.BlockSpec((8, 128), lambda i, j: (0, 0)),
      ],
      # Written back once for every i.
      out_specs=pl.BlockSpec((8, 128), lambda i, j: (i, 0)),
      out_shape=jax.ShapeDtypeStruct((24, 128), jnp.float32),
    )(rows, whole)

  shapes = [jax.ShapeDtypeStruct((rows, 128), jnp.float32) for rows in (96, 8)]
  assert kernel_traffic(function, *shapes) == (12 + 1 + 3) * 8 * 128 * 4


def test_traffic_of_attention_grows_with_its_length():
  sizes = Sizes(globals=128, heads=2)
  short, long = (
    kernel_traffic(
      gradient(pallas, sizes), problem_shapes(length, sizes, jnp.bfloat16)
    )
    for length in (1024, 2048)
  )
  # Every long array is read or written once a pass, keys and values of long
  # rows with a halo of a quarter block on either side.
  row = 2 * 64 * 2 * 2
  ids = 2 * (8 * 4 * 1.5 + 8 * 4)
  arrays = (4 + 2 * 0.5 + 2) + (7 + 2 * 0.5 + 4)
  assert 0.95 < (long - short) / (1024 * (arrays * row / 2 + ids)) < 1.05
