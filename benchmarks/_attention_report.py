"""Tables, plot and targets of the attention benchmark, from its results."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks._attention_systems import LACKS
from stepwise._files import replacing, write_text

README = Path(__file__).parent / 'README.md'
_MIB = 2**20

Content = dict[str, Any]
Value = float | str | None


@dataclass(frozen=True)
class Target:
  """A promise about a measured number."""

  name: str
  measured: Callable[[Content], Value]
  limit: float
  unit: str
  at_most: bool = True

  def check(self, content: Content) -> dict[str, Any]:
    value = self.measured(content)
    row = {
      'name': self.name,
      'target': f'{"<=" if self.at_most else ">="} {self.limit:g} {self.unit}',
      'measured': value,
      'unit': self.unit,
    }
    if not isinstance(value, int | float):
      return row | {'met': None}
    met = value <= self.limit if self.at_most else value >= self.limit
    return row | {'met': met}


def _mib(
  topology: str, length: int, system: str = 'blocked'
) -> Callable[[Content], Value]:
  def measured(content: Content) -> Value:
    value = tpu_value(content, topology, system, length)
    return value / _MIB if isinstance(value, int) else value

  return measured


def _growth(content: Content) -> Value:
  return _ratio(*(_mib('v3:2x2', n)(content) for n in (32768, 8192)))


def _traffic(content: Content) -> Value:
  """Of the kernels, over what the compiler counts for `blocked`."""
  kernels, blocked = (
    tpu_value(content, 'v5e:2x4', system, 32768, field)
    for system, field in (
      ('pallas', 'kernel_bytes'),
      ('blocked', 'compiler_bytes'),
    )
  )
  return _ratio(kernels, blocked)


def _speedup(content: Content) -> Value:
  return _ratio(
    *(
      host_value(content, 'seconds', system, 'gradient', 8192)
      for system in ('dense', 'blocked')
    )
  )


def _ratio(first: Value, second: Value) -> Value:
  if isinstance(first, int | float) and isinstance(second, int | float):
    return first / second
  return None


TARGETS = (
  Target('v5e gradient temporaries, n=8192', _mib('v5e:2x4', 8192), 40, 'MiB'),
  Target('v3 gradient temporaries, n=8192', _mib('v3:2x2', 8192), 180, 'MiB'),
  Target('v3 growth from n=8192 to 32768', _growth, 4.2, 'times'),
  Target(
    'v5e gradient temporaries, n=32768', _mib('v5e:2x4', 32768), 450, 'MiB'
  ),
  Target(
    'v5e gradient temporaries of pallas, n=8192',
    _mib('v5e:2x4', 8192, 'pallas'),
    40,
    'MiB',
  ),
  Target(
    'v5e gradient temporaries of pallas, n=32768',
    _mib('v5e:2x4', 32768, 'pallas'),
    200,
    'MiB',
  ),
  Target(
    'HBM traffic of the kernels against blocked, n=32768',
    _traffic,
    0.6,
    'times',
  ),
  Target(
    'speed of blocked against dense, forward and gradient, n=8192',
    _speedup,
    5,
    'times',
    at_most=False,
  ),
)


def check_targets(content: Content) -> list[dict[str, Any]]:
  return [target.check(content) for target in TARGETS]


def tpu_value(
  content: Content,
  topology: str,
  system: str,
  length: int,
  field: str = 'temporaries',
) -> Value:
  return _find(
    content['tpu'],
    field,
    {'topology': topology, 'system': system, 'length': length},
  )


def host_value(
  content: Content, field: str, system: str, pass_name: str, length: int
) -> Value:
  return _find(
    content['host'],
    field,
    {'system': system, 'pass': pass_name, 'length': length},
  )


def _find(rows: list[dict], field: str, keys: dict[str, Any]) -> Value:
  for row in rows:
    if all(row[key] == value for key, value in keys.items()):
      return row.get(field)
  return None


@dataclass(frozen=True)
class Grid:
  """A table: a row for every length, a column for every system."""

  title: str
  systems: list[str]
  rows: list[list[str]]


def grids(content: Content) -> list[Grid]:
  """All tables of the results."""
  tables = [
    _host_grid(content, 'seconds', pass_name, title)
    for pass_name, title in (
      ('forward', 'Forward, time (and times that of blocked)'),
      ('gradient', 'Forward and gradient, time (and times that of blocked)'),
    )
  ]
  tables.append(
    _host_grid(
      content, 'temporaries', 'gradient', 'Gradient, compiled temporaries'
    )
  )
  topologies = dict.fromkeys(row['topology'] for row in content['tpu'])
  for topology in topologies:
    tables += _tpu_grids(content, topology)
  return tables


def _host_grid(
  content: Content, field: str, pass_name: str, title: str
) -> Grid:
  def cell(system: str, length: int) -> str:
    value = host_value(content, field, system, pass_name, length)
    if field == 'temporaries':
      return _show_bytes(value)
    return _show_time(
      value, host_value(content, field, 'blocked', pass_name, length)
    )

  return _grid(f'{content["device"]}, float32. {title}', content['host'], cell)


_FIELDS = {
  'temporaries': 'HBM temporaries',
  'compiler_bytes': 'bytes moved, as the compiler counts them (a loop once,'
  ' operands of a kernel once)',
  'kernel_bytes': 'bytes moved by the kernels, by their block specs',
}


def _tpu_grids(content: Content, topology: str) -> list[Grid]:
  """A table for every number, of the systems that have it."""
  return [
    _grid(
      f'TPU compiler, one device of {topology}, bfloat16. Gradient, {title}',
      rows,
      lambda system, n, field=field: _show_bytes(
        tpu_value(content, topology, system, n, field)
      ),
    )
    for field, title in _FIELDS.items()
    if (
      rows := [
        row
        for row in content['tpu']
        if row['topology'] == topology and field in row
      ]
    )
  ]


def _grid(
  title: str, rows: list[dict], cell: Callable[[str, int], str]
) -> Grid:
  systems = list(dict.fromkeys(row['system'] for row in rows))
  lengths = sorted({row['length'] for row in rows})
  cells = [
    [str(length), *(cell(system, length) for system in systems)]
    for length in lengths
  ]
  return Grid(title, systems, cells)


def _show_bytes(value: Value) -> str:
  if not isinstance(value, int | float):
    return value or ''
  return f'{value / _MIB:,.1f} MiB'


def _show_time(value: Value, base: Value) -> str:
  if not isinstance(value, int | float):
    return value or ''
  shown = f'{value:.3f} s' if value < 1 else f'{value:.2f} s'
  return f'{shown} ({value / base:.1f}x)' if isinstance(base, float) else shown


def target_rows(content: Content) -> list[list[str]]:
  return [
    [
      row['name'],
      row['target'],
      _show_measured(row),
      {True: 'yes', False: 'NO', None: 'not measured'}[row['met']],
    ]
    for row in content['targets']
  ]


def _show_measured(row: dict[str, Any]) -> str:
  if row['met'] is None:
    return str(row['measured'] or '')
  digits = 1 if row['measured'] >= 1 else 2
  return f'{row["measured"]:.{digits}f} {row["unit"]}'


_TARGET_HEADER = ['Target', 'Needed', 'Measured', 'Met']


def print_report(content: Content) -> None:
  console = Console(width=120)
  for grid in grids(content):
    console.print(_rich(grid.title, ['n', *grid.systems], grid.rows))
  console.print(_rich('Targets', _TARGET_HEADER, target_rows(content)))


def _rich(title: str, header: list[str], rows: list[list[str]]) -> Table:
  table = Table(*header, title=title)
  for row in rows:
    table.add_row(*row)
  return table


def markdown(content: Content) -> str:
  """The tables of the README."""
  parts = [_origin(content)]
  if 'tpu_run' in content:
    parts[0] += f' TPU compiler: {_origin(content["tpu_run"])}'
    parts[0] += _other_commits(content)
  parts.append(
    '![Time and memory against the number of tokens](results/attention.png)'
  )
  parts += [
    f'{grid.title}:\n\n{markdown_table(["n", *grid.systems], grid.rows)}'
    for grid in grids(content)
  ]
  if content['tpu']:
    rows = [list(row) for row in LACKS.items()]
    parts.append(markdown_table(['Peer', 'Does not compute'], rows))
  parts.append(markdown_table(_TARGET_HEADER, target_rows(content)))
  return '\n\n'.join(parts) + '\n'


def _other_commits(content: Content) -> str:
  """Which rows of the TPU compiler an earlier run measured."""
  now = content['tpu_run']['commit']
  others: dict[str, list[str]] = {}
  for row in content['tpu']:
    if row['commit'] != now:
      name = f'{row["system"]} on {row["topology"]} at {row["length"]}'
      others.setdefault(row['commit'], []).append(name)
  told = [f' Of commit {c[:12]}: {", ".join(n)}.' for c, n in others.items()]
  return ''.join(told)


def _origin(run: Content) -> str:
  """Which command of which commit, and what it ran on."""
  peers = [
    f', {name} {run["versions"][name]}'
    for name in ('tokamax', 'ringattention')
    if name in run['versions']
  ]
  return (
    f'`{run["command"]}`, {run["date"]}, commit {run["commit"][:12]}, jax'
    f' {run["versions"]["jax"]}, libtpu'
    f' {run["versions"].get("libtpu", "none")}{"".join(peers)}.'
  )


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
  lines = [header, ['---'] * len(header), *rows]
  return '\n'.join(f'| {" | ".join(line)} |' for line in lines)


def update_readme(name: str, text: str, readme: Path = README) -> None:
  """Writes a text between the marks of that name in the README."""
  begin, end = (f'<!-- {name}: {mark} -->\n' for mark in ('begin', 'end'))
  before, _, rest = readme.read_text(encoding='utf-8').partition(begin)
  _, _, after = rest.partition(end)
  write_text(readme, f'{before}{begin}{text}{end}{after}')


def sequence_markdown(content: Content) -> str:
  """What chips need as documents grow with the slice, and what they tell."""
  header = ['Program', 'Slice', 'Tokens', 'HBM a chip', 'of which temporary']
  rows = [
    [
      row['program'],
      row['slice'],
      f'{row["tokens"]:,}',
      row.get('failed') or _show_bytes(row['device_bytes']),
      _show_bytes(row.get('temporary_bytes')),
      ', '.join(f'{n} {kind}' for kind, n in row['collectives'].items())
      if 'collectives' in row
      else '',
      f'`{row["commit"][:12]}`',
    ]
    for row in content['rows']
  ]
  table = markdown_table([*header, 'Collectives', 'Commit'], rows)
  return f'{_origin(content)}\n\n{table}\n'


def plot(content: Content, path: Path) -> None:
  """Time and memory of the gradient against n, on log axes."""
  from matplotlib.figure import Figure

  topologies = list(dict.fromkeys(row['topology'] for row in content['tpu']))
  figure = Figure(
    figsize=(4 * (2 + len(topologies)), 3.6), layout='constrained'
  )
  axes = figure.subplots(1, 2 + len(topologies))
  gradients = [row for row in content['host'] if row['pass'] == 'gradient']
  _draw(axes[0], gradients, 'seconds', 1, 'time on this machine [s]')
  _draw(axes[1], gradients, 'temporaries', _MIB, 'memory here [MiB]')
  for axis, topology in zip(axes[2:], topologies, strict=True):
    rows = [row for row in content['tpu'] if row['topology'] == topology]
    _draw(axis, rows, 'temporaries', _MIB, f'HBM on {topology} [MiB]')
  axes[0].legend()
  with replacing(path) as beside:
    figure.savefig(beside, dpi=120)


def _draw(
  axis: Any, rows: list[dict], field: str, scale: float, label: str
) -> None:
  for index, system in enumerate(dict.fromkeys(row['system'] for row in rows)):
    points = [
      (row['length'], row[field] / scale)
      for row in rows
      if row['system'] == system
      and isinstance(row[field], int | float)
      and row[field] > 0
    ]
    if points:
      axis.plot(*zip(*points, strict=True), f'C{index}o-', label=system)
  axis.set(xscale='log', yscale='log', xlabel='long tokens', ylabel=label)
  axis.grid(True, alpha=0.3)
