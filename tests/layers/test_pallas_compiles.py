"""The kernels, compiled by the TPU compiler for several kinds of chips."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

# Kind of chip, long tokens, dimensions of a head.
CASES = [
  ('v5e:2x4', 4096, 64),
  ('v5e:2x4', 65536, 128),
  ('v5p:2x2x2', 4096, 128),
  ('v6e:4x4', 65536, 64),
]
# Apart from this process, whose jax knows no TPU compiler.
CODE = """
import json
import sys
import benchmarks._harness as harness
import jax.numpy as jnp
from benchmarks._attention_systems import (
  Sizes, gradient, pallas, problem_shapes,
)

found = []
for topology, length, dim in json.loads(sys.argv[1]):
  sizes = Sizes(heads=256 // dim, dim=dim)
  compiled = harness.compile_for(
    harness.tpu_device(topology),
    gradient(pallas, sizes),
    problem_shapes(length, sizes, jnp.bfloat16),
  )
  kernels = compiled.as_text().count('custom_call_target="tpu_custom_call"')
  found.append([kernels, harness.memory(compiled)['temporary_bytes']])
print(json.dumps(found))
"""


@pytest.fixture(scope='module')
def compiled():
  pytest.importorskip('libtpu', reason='compiles for chips of a TPU')
  done = subprocess.run(
    [sys.executable, '-c', CODE, json.dumps(CASES)],
    capture_output=True,
    text=True,
  )
  assert done.returncode == 0, done.stderr
  found = json.loads(done.stdout.splitlines()[-1])
  return dict(zip(CASES, found, strict=True))


@pytest.mark.parametrize('case', CASES, ids=str)
def test_a_gradient_is_three_kernels_and_stores_no_scores(compiled, case):
  kernels, temporaries = compiled[case]
  _, length, dim = case
  # Both backward passes, and the forward pass of global rows; that of long rows
  # is made anew in its backward pass, and a sum needs no more of it.
  assert kernels == 3
  # float32 scores of 512 global tokens alone would be more.
  assert temporaries < 4 * (256 // dim) * 512 * length
