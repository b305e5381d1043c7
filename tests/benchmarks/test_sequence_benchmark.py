"""Programs for slices of chips, at sizes that compile in seconds."""

import functools
import json
import subprocess
import sys

import jax
import pytest

from benchmarks._attention_systems import Sizes
from benchmarks._sequence import (
  count_collectives,
  largest_collectives,
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
  assert largest_collectives(text) == {
    'all-reduce': 4,
    'collective-permute': 16,
  }


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


@pytest.mark.slow
def test_chips_of_a_slice_exchange_halos_and_sums_of_global_rows():
  """Read from what the TPU compiler makes of one layer for four chips."""
  pytest.importorskip('libtpu', reason='compiles for chips of a TPU')
  code = """
import json
from benchmarks import _sequence as sequence
lowered = sequence.lower_layer(sequence.slice_mesh(4), 4 * 1024)
text = lowered.compile().as_text()
print(json.dumps(sequence.largest_collectives(text)))
"""
  done = subprocess.run(
    [sys.executable, '-c', code], capture_output=True, text=True, check=True
  )
  largest = json.loads(done.stdout)
  sizes = Sizes()
  # Neither the document nor its states are gathered anywhere.
  assert set(largest) == {'all-reduce', 'collective-permute'}
  row = sizes.heads * sizes.dim
  # A window reaches `radius` tokens far. Compilers widen bfloat16 and pad.
  assert largest['collective-permute'] <= 128 * row * 4
  assert largest['all-reduce'] <= sizes.globals * row * 4
