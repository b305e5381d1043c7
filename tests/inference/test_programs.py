"""A program outlives its process, and only where it is still the right one."""

import functools
import os
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stepwise import _runtime
from stepwise.inference import _programs
from stepwise.inference._programs import KeptProgram


class Settings(NamedTuple):
  power: int


TRACES = []


def powers(settings, tree, offset):
  TRACES.append(settings)
  moved = jax.tree.map(lambda x: x**settings.power, tree)
  return moved if offset is None else jax.tree.map(lambda x: x + offset, moved)


TREE = {'a': np.arange(3, dtype=np.float32), 'b': np.ones(2, np.int32)}


@pytest.fixture
def folder(tmp_path, monkeypatch):
  monkeypatch.setattr(_runtime, 'use_compilation_cache', lambda: tmp_path)
  TRACES.clear()
  return tmp_path


def kept(folder: Path) -> list[Path]:
  return sorted(folder.glob('*.program'))


def check(program, settings=Settings(2), offset=None):
  found = program(settings, TREE, offset)
  expected = powers(settings, TREE, offset)
  TRACES.pop()
  for name, value in expected.items():
    np.testing.assert_array_equal(found[name], value)
    assert found[name].dtype == value.dtype


def test_another_process_traces_nothing(folder):
  check(KeptProgram(powers))
  assert len(TRACES) == 1 and len(kept(folder)) == 1
  again = KeptProgram(powers)  # As a new process has it.
  check(again)
  check(again)
  assert len(TRACES) == 1


def test_settings_structure_and_shapes_have_their_own(folder):
  program = KeptProgram(powers)
  check(program)
  check(program, Settings(3))
  check(program, offset=jnp.float32(1))
  program(Settings(2), TREE | {'b': np.ones(5, np.int32)}, None)
  program(Settings(2), TREE | {'b': np.ones(2, np.float32)}, None)
  assert len(TRACES) == len(kept(folder)) == 5


def test_other_code_does_not_find_it(folder, monkeypatch):
  check(KeptProgram(powers))
  monkeypatch.setattr(_programs, '_origin', lambda: 'other')
  check(KeptProgram(powers))
  assert len(TRACES) == 2


@pytest.mark.parametrize('damage', [b'', b'no program'])
def test_a_damaged_file_is_made_again(folder, damage):
  check(KeptProgram(powers))
  whole = kept(folder)[0].read_bytes()
  kept(folder)[0].write_bytes(damage)
  check(KeptProgram(powers))
  assert len(TRACES) == 2
  assert len(kept(folder)[0].read_bytes()) > len(whole) // 2


def test_a_program_of_somebody_else_is_not_run(folder, monkeypatch):
  check(KeptProgram(powers))
  monkeypatch.setattr(os, 'getuid', lambda: 12345, raising=False)
  check(KeptProgram(powers))
  assert len(TRACES) == 2


def test_without_a_folder_nothing_is_kept(folder, monkeypatch):
  monkeypatch.setattr(_runtime, 'use_compilation_cache', lambda: None)
  check(KeptProgram(powers))
  assert not kept(folder)


def test_programs_of_old_code_are_forgotten(folder):
  old, young = folder / 'x-1.program', folder / 'x-2.program'
  for path in (old, young):
    path.touch()
  os.utime(old, (0, 0))
  check(KeptProgram(powers))
  assert not old.exists() and young.exists()


def test_it_can_be_traced_as_any_function(folder):
  program = functools.partial(KeptProgram(powers), Settings(2))
  shapes = jax.eval_shape(program, TREE, None)
  assert shapes['a'].shape == (3,) and not kept(folder)


def test_debugging_goes_through_jax(folder):
  with jax.debug_nans(True), pytest.raises(FloatingPointError):
    KeptProgram(powers)(Settings(2), TREE, jnp.float32(jnp.nan))
