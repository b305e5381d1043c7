"""Rule tables shard any model over a `data x fsdp x model` mesh.

Parameters carry logical axis names (`embed`, `heads`, `kv`, `mlp`, `vocab`,
`layers`, ...), activations are constrained to names (`batch`, `length`,
`global`, `embed`, ...). Rules map names to mesh axes; a dimension that the
mesh axis does not divide stays whole.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
from flax import linen as nn
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from stepwise._errors import InputError

MeshAxes = str | tuple[str, ...] | None
Rules = Sequence[tuple[str, MeshAxes]]

DEFAULT_RULES: Rules = (
  ('batch', ('data', 'fsdp')),
  ('heads', 'model'),
  ('mlp', 'model'),
  # Rows of a table, or its columns where the rows cannot be divided: few
  # vocabularies can.
  ('vocab', 'model'),
  ('table', 'model'),
  # Replicated; listed so that a typo in a name is an error, not a silence.
  ('embed', None),
  ('embedding', None),
  ('global', None),
  ('kv', None),
  ('labels', None),
  ('layers', None),
  ('length', None),
  ('positions', None),
  ('score', None),
  ('segments', None),
  ('token_types', None),
  ('tokens', None),
  ('units', None),
)

# More rules of parameters, and so of their moments: what is left whole is
# spread over the devices that read different rows, and gathered where it is
# used. Activations are not: their rows are spread over these devices already.
PARAM_RULES: Rules = (*DEFAULT_RULES, ('embed', 'fsdp'), ('table', 'fsdp'))


def change_rules(rules: Rules, changes: Rules) -> Rules:
  """Rules with all those of some names replaced.

  >>> change_rules((('heads', 'model'), ('mlp', 'model')), [('mlp', None)])
  (('mlp', None), ('heads', 'model'))
  """
  changed = {name for name, _ in changes}
  rest = [rule for rule in rules if rule[0] not in changed]
  return (*((name, axes) for name, axes in changes), *rest)


def make_mesh(
  data: int,
  model: int = 1,
  devices: Sequence[Any] | None = None,
  *,
  fsdp: int = 1,
  sequence: int | None = None,
) -> Mesh:
  """A `data x fsdp x model` mesh over the first devices.

  With `sequence` there is one more axis, for documents that are longer than a
  chip: the attention of the implementation `'sequence'` spreads over it, and
  everything else by the rules of `on_mesh`.

  >>> dict(make_mesh(1, sequence=1).shape)
  {'data': 1, 'fsdp': 1, 'sequence': 1, 'model': 1}
  """
  devices = jax.devices() if devices is None else devices
  axes = {'data': data, 'fsdp': fsdp, 'sequence': sequence, 'model': model}
  shape = {name: size for name, size in axes.items() if size is not None}
  needed = math.prod(shape.values())
  if needed > len(devices):
    told = [n for name, n in shape.items() if n > 1 or name != 'fsdp']
    raise InputError(
      f'a {" x ".join(map(str, told))} mesh needs {needed} devices, there are'
      f' {len(devices)}.'
    )
  return jax.make_mesh(
    tuple(shape.values()),
    tuple(shape),
    # The compiler propagates shardings from parameters and constraints.
    axis_types=(AxisType.Auto,) * len(shape),
    devices=devices[:needed],
  )


def on_mesh(
  mesh: Mesh, function: Callable[..., Any], changes: Rules = ()
) -> Callable[..., Any]:
  """Runs a function where logical axis names mean axes of the mesh.

  Args:
    mesh: the devices; if it has the axis `sequence`, the long axis of arrays
      lies on it.
    function: of any arguments.
    changes: rules instead of those of the same names.

  >>> axes = lambda: jax.sharding.get_abstract_mesh().axis_names
  >>> on_mesh(make_mesh(1), axes)()
  ('data', 'fsdp', 'model')
  """
  rules = DEFAULT_RULES
  if 'sequence' in mesh.shape:
    rules = change_rules(rules, [('length', 'sequence')])
  rules = list(change_rules(rules, changes))

  def run(*args: Any) -> Any:
    with jax.set_mesh(mesh), nn.logical_axis_rules(rules):
      return function(*args)

  return run


def param_shardings(boxed: Any, mesh: Mesh, rules: Rules = PARAM_RULES) -> Any:
  """Shardings of a parameter tree as `init` or `eval_shape` of it returns it.

  Args:
    boxed: the tree with its axis names, that is, before `flax.linen.unbox`.
    mesh: the devices.
    rules: pairs of a logical name and mesh axes, or None to replicate. The
      first that fits takes a dimension, and its mesh axes, for itself.

  Returns:
    The unboxed tree with a `NamedSharding` for every parameter.
  """
  specs = nn.get_partition_spec(boxed)
  known = {name for name, _ in rules}

  def sharding(leaf: Any, spec: PartitionSpec) -> NamedSharding:
    for name in spec:
      _check_name(name, known)
    axes = _first_fit(leaf.shape, tuple(spec), rules, dict(mesh.shape))
    return NamedSharding(mesh, PartitionSpec(*axes))

  return jax.tree.map(sharding, nn.unbox(boxed), specs)


def gather_parts(table: jax.Array, names: Sequence[str]) -> jax.Array:
  """A table as it is where it is used: not spread over rows of the batch.

  Looking rows up in columns that are spread like the batch would gather what
  all rows of the batch have found, which is larger than any table.
  """
  mesh = dict(jax.sharding.get_abstract_mesh().shape)
  if mesh.get('fsdp', 1) == 1:
    return table
  axes = _first_fit(table.shape, names, nn.get_logical_axis_rules(), mesh)
  return jax.lax.with_sharding_constraint(table, PartitionSpec(*axes))


def _first_fit(
  shape: Sequence[int],
  names: Sequence[str | None],
  rules: Rules,
  mesh: dict[str, int],
) -> list[MeshAxes]:
  """Mesh axes of every dimension; each axis is used once."""
  found: list[MeshAxes] = [None] * len(names)
  free = {axis for axis, size in mesh.items() if size > 1}
  # Vectors are too small to be worth gathering.
  if sum(name != 'layers' for name in names) < 2:
    free.discard('fsdp')
  for name, axes in rules:
    wanted = (axes,) if isinstance(axes, str) else axes or ()
    if name not in names or not wanted or not free.issuperset(wanted):
      continue
    position = names.index(name)
    parts = math.prod(mesh[axis] for axis in wanted)
    if found[position] is None and shape[position] % parts == 0:
      found[position] = axes
      free.difference_update(wanted)
  return found


def _check_name(name: str | None, known: set[str]) -> None:
  if name is not None and name not in known:
    raise InputError(
      f'no rule for logical axis {name!r}, rules are for {sorted(known)}.'
    )


def init_sharded(
  module: nn.Module,
  mesh: Mesh,
  rng: jax.Array,
  *args: Any,
  rules: Rules = PARAM_RULES,
) -> Any:
  """Initial variables, created where they belong and never gathered."""
  shardings = param_shardings(
    jax.eval_shape(module.init, rng, *args), mesh, rules
  )

  def init(rng: jax.Array) -> Any:
    return nn.unbox(module.init(rng, *args))

  return jax.jit(init, out_shardings=shardings)(rng)


def num_params(module: nn.Module, *args: Any) -> int:
  """Counts the parameters of a module without allocating them.

  >>> import jax.numpy as jnp
  >>> num_params(nn.Dense(3), jnp.ones((1, 5)))
  18
  """
  shapes = jax.eval_shape(module.init, jax.random.key(0), *args)
  return sum(math.prod(x.shape) for x in jax.tree.leaves(shapes['params']))
