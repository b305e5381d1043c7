"""Strict flags for every test: simulated devices, all shapes checked."""

import os
from pathlib import Path

# Before jax is imported: eight simulated devices for the sharding tests, and
# the older code generator for CPUs, which takes half the time to compile.
os.environ.setdefault(
  'XLA_FLAGS',
  '--xla_force_host_platform_device_count=8'
  ' --xla_cpu_use_fusion_emitters=false',
)
os.environ.setdefault('JAX_PLATFORMS', 'cpu')
# What tests compile stays out of the user's folders.
os.environ.setdefault('STEPWISE_CACHE', 'off')
# It is kept in the checkout, for the other workers, for processes that tests
# start and for the next run; the same program is compiled to the same code.
os.environ.setdefault(
  'JAX_COMPILATION_CACHE_DIR',
  str(Path(__file__).parents[1] / '.pytest_cache' / 'xla'),
)
os.environ.setdefault('JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS', '0.2')
os.environ.setdefault('JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES', '-1')

from jaxtyping import install_import_hook

# Every shape annotation in the package is checked at call time in tests.
install_import_hook('stepwise', 'beartype.beartype')

import hypothesis  # noqa: E402
import jax  # noqa: E402
import pytest  # noqa: E402

# A busy machine is not a failure.
hypothesis.settings.register_profile('untimed', deadline=None)
hypothesis.settings.load_profile('untimed')

jax.config.update('jax_numpy_rank_promotion', 'raise')
# Tests compile far more than they compute.
jax.config.update('jax_disable_most_optimizations', True)
# Where in the sources a program comes from is told by nobody here.
jax.config.update('jax_include_full_tracebacks_in_locations', False)
jax.config.update('jax_traceback_in_locations_limit', 0)


@pytest.fixture
def key() -> jax.Array:
  return jax.random.key(0)


@pytest.fixture
def optimised():
  """Programs are compiled as users have them.

  Without optimizations XLA's CPU compiler refuses products of bfloat16 numbers
  that are summed in float32.
  """
  jax.config.update('jax_disable_most_optimizations', False)
  yield
  jax.config.update('jax_disable_most_optimizations', True)
