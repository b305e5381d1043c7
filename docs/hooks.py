"""What the site has besides `docs/`: `mkdocs build` calls these functions.

- a page of reference for every package, from its public names;
- a page for every JSON of `benchmarks/results`;
- Markdown of the repository that pages link to (cards, CONTRIBUTING), as pages;
- other files that pages link to, as files.

Pages link as on a disk (`../stepwise/x.py`); links that leave `docs/` are
changed to where those files are on the site.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
DOCS = ROOT / 'docs'
_LINK = re.compile(r'(\]\()(?!\w+:|#)([^)\s#]+)(#[^)\s]*)?(\))')
_NAMES = ROOT / 'tests' / 'public_names.json'
_RESULTS = 'benchmarks/results/'


def on_files(files: Files, config: Any) -> Files:
  sys.path.insert(0, str(ROOT))
  reference = {f'reference/{name}.md': page for name, page in _reference()}
  measured = {
    f'{_RESULTS}{path.stem}.md': _measurement(path)
    for path in sorted((ROOT / _RESULTS).glob('*.json'))
  }
  linked = _linked()
  pages = {
    _place(path): path.read_text(encoding='utf-8')
    for path in linked
    if path.suffix == '.md'
  }
  for place, text in {**reference, **measured, **pages}.items():
    files.append(File.generated(config, place, content=text))
  for path in linked:
    if path.suffix not in ('.md', '.json') and path.is_file():
      place = _place(path)
      files.append(File.generated(config, place, abs_src_path=str(path)))
  benchmarks = ['benchmarks/README.md', *measured]
  cards = sorted(place for place in pages if place.startswith('stepwise/'))
  _add_guides(files, config.nav)
  config.nav += [
    {'Benchmarks': benchmarks},
    {'Model cards': [{_title(pages[place]): place} for place in cards]},
    {'Reference': [{place[10:-3]: place} for place in reference]},
    {'Project': [{'Contributing': 'CONTRIBUTING.md'}, 'CHANGELOG.md']},
  ]
  rest = {*pages} - {*benchmarks, *cards, 'CONTRIBUTING.md', 'CHANGELOG.md'}
  config.nav[-1]['Project'] += [
    {p.removesuffix('.md'): p} for p in sorted(rest)
  ]
  return files


def _add_guides(files: Files, nav: list[Any]) -> None:
  """Pages that nobody gave a place in mkdocs.yml are guides."""
  placed = set(re.findall(r"'([^']+\.(?:md|ipynb))'", repr(nav)))
  (guides,) = (part['Guides'] for part in nav if 'Guides' in part)
  for file in files.documentation_pages():
    inside = (DOCS / file.src_uri).exists()
    if inside and file.src_uri not in placed:
      guides.append(file.src_uri)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
  """Links to where the files are on the site."""
  place = page.file.src_uri
  source = _source(place)

  def change(found: re.Match[str]) -> str:
    target = Path(os.path.normpath(source.parent / found[2]))
    if target.is_dir() or not target.exists():
      return found[0]
    here = os.path.relpath(_place(target), os.path.dirname(place) or '.')
    return f'{found[1]}{here}{found[3] or ""}{found[4]}'

  return _LINK.sub(change, markdown)


def _place(path: Path) -> str:
  """Where a file of the repository is on the site."""
  if path.is_relative_to(DOCS):
    return path.relative_to(DOCS).as_posix()
  place = path.relative_to(ROOT).as_posix()
  if place.startswith(_RESULTS) and path.suffix == '.json':
    return place.removesuffix('.json') + '.md'
  return 'repository.md' if place == 'README.md' else place


def _source(place: str) -> Path:
  """The file of the repository that a page is made from."""
  if place == 'repository.md':
    return ROOT / 'README.md'
  return DOCS / place if (DOCS / place).exists() else ROOT / place


def _linked() -> list[Path]:
  """Files outside `docs/` that pages of the site link to, however far."""
  found: set[Path] = set(ROOT.glob('stepwise/**/README.md'))
  found.add(ROOT / 'CONTRIBUTING.md')
  found.add(ROOT / 'CHANGELOG.md')
  todo = [*DOCS.rglob('*.md'), *found]
  while todo:
    page = todo.pop()
    for link in _LINK.findall(page.read_text(encoding='utf-8')):
      target = Path(os.path.normpath(page.parent / link[1]))
      outside = not target.is_relative_to(DOCS) and target.is_file()
      if outside and target not in found:
        found.add(target)
        todo += [target] if target.suffix == '.md' else []
  return sorted(found)


def _title(text: str) -> str:
  return re.search(r'^# (.+)', text, re.M)[1]  # type: ignore[index]


def _reference() -> Iterator[tuple[str, str]]:
  names = json.loads(_NAMES.read_text(encoding='utf-8'))
  for package, members in names.items():
    listed = '\n'.join(f'        - {name}' for name in members)
    yield (
      package,
      f'# {package}\n\n::: {package}\n    options:\n      members:\n{listed}\n',
    )


def _measurement(path: Path) -> str:
  """A measurement as tables; numbers are rounded, the file has them all."""
  content = json.loads(path.read_text(encoding='utf-8'))
  lines = [f'# {path.stem}', '', *_provenance(content), '']
  return '\n'.join([*lines, *_show(content, 2)]) + '\n'


def _provenance(content: dict[str, Any]) -> Iterator[str]:
  commands = content.pop('commands', [content.pop('command', '')])
  yield '```text'
  yield from filter(None, commands)
  yield '```'
  yield ''
  versions = content.pop('versions', {})
  parts = [content.pop(key, '') for key in ('date', 'device')]
  commit = str(content.pop('commit', ''))[:12]
  parts += [f'commit {commit}'] if commit else []
  parts += [f'{name} {version}' for name, version in versions.items()]
  yield ', '.join(filter(None, parts)) + '.'


def _show(content: Any, level: int) -> Iterator[str]:
  if isinstance(content, list):
    yield from _rows(content)
    return
  plain = {key: value for key, value in content.items() if _is_cell(value)}
  if plain:
    yield from _table(('', ''), [(k, _cell(v)) for k, v in plain.items()])
  for key, value in content.items():
    if key in plain:
      continue
    yield f'{"#" * min(level, 5)} {key}'
    yield ''
    if isinstance(value, dict) and _is_grid(value):
      yield from _rows([{'': name, **row} for name, row in value.items()])
    else:
      yield from _show(value, level + 1)


def _is_grid(value: dict[str, Any]) -> bool:
  return bool(value) and all(
    isinstance(row, dict) and all(map(_is_cell, row.values()))
    for row in value.values()
  )


def _is_cell(value: Any) -> bool:
  if isinstance(value, dict):
    return {'mean', 'low', 'high'} <= value.keys()
  if isinstance(value, list):
    return len(value) < 13 and all(
      not isinstance(v, dict | list) for v in value
    )
  return True


def _rows(rows: list[Any]) -> Iterator[str]:
  if not rows:
    return
  if not isinstance(rows[0], dict):
    yield ', '.join(map(_cell, rows))
    yield ''
  elif all(_is_cell(value) for row in rows for value in row.values()):
    columns = list(dict.fromkeys(key for row in rows for key in row))
    columns = [column for column in columns if column != 'commit']
    cells = [[_cell(row.get(column, '')) for column in columns] for row in rows]
    yield from _table(columns, cells)
  else:
    for number, row in enumerate(rows, 1):
      flat = dict(row)
      name = flat.pop('name', None) or flat.pop('first', None) or number
      yield f'**{name}**'
      yield ''
      yield from _show(flat, 4)


def _table(head: Any, rows: Any) -> Iterator[str]:
  yield '| ' + ' | '.join(head) + ' |'
  yield '|' + '---|' * len(head)
  for row in rows:
    yield '| ' + ' | '.join(str(c).replace('|', '\\|') for c in row) + ' |'
  yield ''


def _cell(value: Any) -> str:
  if isinstance(value, dict):
    return '{mean:.2f} ({low:.2f} to {high:.2f})'.format(**value)
  if isinstance(value, list):
    return ', '.join(map(_cell, value))
  if isinstance(value, float):
    return f'{value:.4g}' if abs(value) < 1e4 else f'{value:,.0f}'
  if isinstance(value, int) and not isinstance(value, bool):
    return f'{value:,}'
  return str(value).replace('\n', ' ')


def on_post_build(config: Any) -> None:
  """Every public name has its place in the reference."""
  names = json.loads(_NAMES.read_text(encoding='utf-8'))
  for package, members in names.items():
    page = Path(config.site_dir) / 'reference' / f'{package}.html'
    text = page.read_text(encoding='utf-8')
    missing = [n for n in members if f'id="{package}.{n}"' not in text]
    if missing:
      raise PluginError(f'{package}: no reference of {missing}.')
