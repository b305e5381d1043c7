"""Programs for slices of chips, at sizes that compile in seconds."""

import functools

import jax
import pytest

from benchmarks._sequence import (
  count_collectives,
  lower_encoder,
  lower_layer,
)
from stepwise.layers import make_mesh


def test_collectives_are_counted_once_each():
  text = """
    %a = bf16[8]{0} collective-permute(%x), source_target_pairs={{0,1}}
    %b = (f32[], f32[]) all-reduce-start(%y)
    %c = f32[] all-reduce-done(%b)
    ROOT %d = f32[] add(%a, %c)
  """
  assert count_collectives(text) == {'all-reduce': 1, 'collective-permute': 1}


@pytest.mark.slow
@pytest.mark.parametrize(
  'lower', [lower_layer, functools.partial(lower_encoder, layers=1)]
)
def test_a_layer_needs_the_same_collectives_on_any_number_of_devices(lower):
  counted = [
    count_collectives(
      lower(
        make_mesh(1, devices=jax.devices()[:chips], sequence=chips),
        128 * chips,
      )
      .compile()
      .as_text()
    )
    for chips in (2, 8)
  ]
  assert counted[0] == counted[1]
  assert counted[0]['collective-permute']
  # No chip ever gathers the document.
  assert 'all-gather' not in counted[0]
