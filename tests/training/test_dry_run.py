"""What a run's programs need, and how they talk between devices."""

import dataclasses
import re

import jax
import pytest

from stepwise._errors import InputError
from stepwise.data import Buckets
from stepwise.layers import make_mesh
from stepwise.training import (
  CheckpointConfig,
  InputConfig,
  MeshConfig,
  ModelSpec,
  dry_run,
  resolve_model,
  topology_devices,
)
from stepwise.training._dry_run import _batch_shapes
from stepwise.training._loop import make_programs
from stepwise.training._mesh import describe_layout, param_layout
from stepwise.training._task import selector_task
from tests.training.runs import tiny_config, with_validation

# Rows, tokens and units that are no other size of the models.
ROWS, TOKENS, UNITS = 24, 112, 9


def config(**changes):
  fields = {
    'model': ModelSpec('hibert_tiny'),
    'input': InputConfig(
      *('-', ROWS, 'sample'),
      buckets=Buckets((56, TOKENS), (UNITS,)),
      plan_steps=3,
    ),
    'evaluation': with_validation('-', batch_size=8),
    'mesh': MeshConfig(data=4, model=2),
  }
  return tiny_config('-', **fields | changes)


def test_a_dry_run_compiles_what_a_run_would():
  told = []
  by_auc = CheckpointConfig(best_metric='validation/auc', best_mode='max')
  run = config(accumulate=2, checkpoints=by_auc)
  found = dry_run(run, on_program=told.append)
  assert tuple(told) == found.programs
  assert found.fits
  assert found.mesh == {'data': 4, 'fsdp': 1, 'model': 2}
  assert found.accumulate == 2
  update, validation, prediction, ranking = found.programs
  assert (update.name, update.rows, update.tokens) == ('update', ROWS, TOKENS)
  assert (validation.name, validation.rows) == ('validation', 8)
  # Three passes of three times as many rows.
  assert update.flops == pytest.approx(9 * validation.flops)
  assert update.device_bytes > update.temporary_bytes > 0
  # Eight documents on eight devices; each is encoded once and searched.
  assert (prediction.name, prediction.rows) == ('prediction', 8)
  assert prediction.flops > 0
  # Every step of a plan, where checkpoints are chosen by AUC.
  assert (ranking.name, ranking.rows) == ('ranking', 8)
  assert ranking.flops > prediction.flops
  assert found.chip_bytes(update)[0] == update.device_bytes


def test_the_slice_decides_what_auto_means():
  """Not the processor of the machine that compiles."""
  asked = []

  def make_task(run):
    asked.append(run.model.products)
    return selector_task(run)

  with pytest.raises(InputError, match='mesh needs 8 devices, there are 4'):
    dry_run(config(), 'v5e:2x2', make_task)
  bfloat16 = ModelSpec('hibert_tiny', products='bfloat16')
  with pytest.raises(InputError, match='mesh needs 8 devices'):
    dry_run(config(model=bfloat16), 'v5e:2x2', make_task)
  assert asked == ['float32', 'bfloat16']


def test_a_dry_run_needs_sizes():
  without = dataclasses.replace(config().input, buckets=None)
  with pytest.raises(InputError, match=r'set InputConfig\.buckets'):
    dry_run(config(input=without))
  without = dataclasses.replace(config().input, plan_steps=None)
  with pytest.raises(InputError, match=r'plan_steps must be set'):
    dry_run(config(input=without))


def test_an_unknown_slice_is_one_sentence():
  with pytest.raises(InputError, match=r"--topology is 'v5e:3x17', which the"):
    topology_devices('v5e:3x17')


COLLECTIVES = re.compile(
  r'= \S+ (all-gather|all-reduce|all-to-all|collective-permute|reduce-scatter)'
)


def computations(text):
  """The lines of every computation of a compiled program, by its name."""
  found, name = {}, None
  for line in text.splitlines():
    if match := re.match(r'(?:ENTRY )?%?([\w.\-]+) \(.*\{$', line):
      name = match[1]
      found[name] = []
    elif name:
      found[name].append(line)
  return found


def called(lines):
  pattern = (
    r'(?:body|condition|calls|to_apply|branch_computations)=\{?%?([\w.\-]+)'
  )
  return {name for line in lines for name in re.findall(pattern, line)}


def inside_loops(parts):
  """Names of all computations that a loop runs again and again."""
  bodies = {
    name
    for lines in parts.values()
    for line in lines
    for name in re.findall(r'body=%?([\w.\-]+)', line)
  }
  todo, seen = list(bodies), set()
  while todo:
    name = todo.pop()
    if name not in seen:
      seen.add(name)
      todo += called(parts.get(name, []))
  return seen


@pytest.fixture(scope='module')
def etcsum():
  """An update of ETCSum on 2 x 2 x 2 devices; layers one after another."""
  run = config(
    model=ModelSpec('etcsum_tiny', sizes={'encoder.layers': 1}),
    mesh=MeshConfig(data=2, fsdp=2, model=2),
  )
  programs = make_programs(run, selector_task(run))
  batch = _batch_shapes(programs, (TOKENS, UNITS), ROWS)
  lowered = programs.lower['update'](programs.shapes, batch)
  return programs, lowered.compile().as_text()


@pytest.mark.slow
def test_no_device_waits_inside_the_loop_of_attention(etcsum):
  """Layers are unrolled and rows not accumulated: all loops are attention's."""
  parts = computations(etcsum[1])
  loops = inside_loops(parts)
  everywhere = [
    line
    for lines in parts.values()
    for line in lines
    if COLLECTIVES.search(line)
  ]
  inside = [
    line for name in loops for line in parts[name] if COLLECTIVES.search(line)
  ]
  assert loops and everywhere
  assert inside == []


@pytest.mark.slow
def test_no_device_holds_the_whole_batch(etcsum):
  """Every large array is a part: no device sees the states of all rows."""
  shapes = re.findall(r'(?:f32|bf16)\[([\d,]+)\]', etcsum[1])
  sizes = {tuple(map(int, shape.split(','))) for shape in shapes}
  local = ROWS // 4
  assert any(size[0] == local and len(size) > 2 for size in sizes)
  whole = [size for size in sizes if size[0] == ROWS and len(size) > 2]
  assert whole == []


@pytest.mark.slow
def test_tables_and_moments_are_spread(etcsum):
  """Whatever is larger than a vector is a part of it on every device."""
  programs, _ = etcsum
  large = [
    leaf
    for leaf in jax.tree.leaves(programs.shapes)
    if leaf.size >= 1000 and leaf.ndim > 1
  ]
  assert len(large) > 20
  for leaf in large:
    part = leaf.sharding.shard_shape(leaf.shape)
    assert part != leaf.shape, leaf
  lines = describe_layout(programs.shapes.params)
  assert any('fsdp/model' in line for line in lines)


@pytest.mark.parametrize('rows', [30522, 50265, 50358])
@pytest.mark.parametrize('model', [2, 4, 8])
def test_a_table_that_no_mesh_divides_is_never_whole(rows, model):
  """Its columns are spread where its rows cannot be."""
  mesh = make_mesh(8 // model, model)
  sizes = {'encoder.vocab': rows}
  built = resolve_model(ModelSpec('bertsum_base', sizes=sizes))
  shapes, shardings = param_layout(built.build(), mesh, built.smallest_inputs)
  table = find_table(shapes, rows)
  part = find_table(shardings, rows, shapes).shard_shape(table.shape)
  assert part[0] * part[1] * model == table.size


def find_table(tree, rows, shapes=None):
  """The leaf where `shapes` has a matrix of so many rows."""
  shapes = tree if shapes is None else shapes
  pairs = zip(jax.tree.leaves(tree), jax.tree.leaves(shapes), strict=True)
  (found,) = [leaf for leaf, shape in pairs if shape.shape[:1] == (rows,)]
  return found
