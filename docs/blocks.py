"""Code blocks and links of the Markdown files, and what is wrong with them.

- `python` blocks run, those of a page one after another in one namespace.
- `console` blocks have commands after `$` and what these print.
- `sh` blocks are for people with data and hours: verbs, options, extras,
  targets of make, modules and run files in them must exist.
- `json` and `toml` blocks can be read.

`<!-- slow -->` before a block says that it takes more than seconds, and `<!--
not run -->` that a `python` block is part of something else.

  python -m docs.blocks FILE...    # runs console blocks, writes what they print
"""

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
import tomllib
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[1]
_SHELL = frozenset('|<>&;*"')
_WIDTH = 78


@dataclass(frozen=True)
class Block:
  """A code block; `lines` are those of its code in the file, from 0."""

  language: str
  code: str
  lines: tuple[int, int]
  marks: frozenset[str]

  @property
  def slow(self) -> bool:
    return 'slow' in self.marks


def markdown_files() -> list[Path]:
  """All pages for people."""
  patterns = (
    *('*.md', 'docs/**/*.md', 'benchmarks/*.md', 'examples/**/*.md'),
    'stepwise/**/*.md',
  )
  found = {path for pattern in patterns for path in ROOT.glob(pattern)}
  return sorted(found)


def read_blocks(text: str) -> list[Block]:
  """The code blocks of a page.

  >>> read_blocks('<!-- slow -->' + chr(10) + '```sh' + chr(10) + 'ls' + chr(10)
  ... + '```')[0].slow
  True
  """
  blocks, marks = [], frozenset()
  for token in MarkdownIt('commonmark').parse(text):
    if token.type == 'html_block':
      marks = frozenset(re.findall(r'<!-- (.+?) -->', token.content))
      continue
    if token.type in ('fence', 'code_block') and token.map:
      fenced = token.type == 'fence'
      code = textwrap.dedent(token.content)
      language = token.info.partition(' ')[0] if fenced else _guess(code)
      start, end = token.map
      lines = (start + fenced, end - fenced)
      blocks.append(Block(language, code, lines, marks))
    marks = frozenset()
  return blocks


def _guess(code: str) -> str:
  known = ('stepwise', 'make', 'pip', 'python', 'curl')
  return 'sh' if code.split(maxsplit=1)[0] in known else ''


def broken_links(path: Path) -> list[str]:
  """Links of a page to files and headings that do not exist."""
  found = []
  for link in _links(path.read_text(encoding='utf-8')):
    if re.match(r'[a-z]+:', link):
      continue
    file, _, anchor = link.partition('#')
    target = (path.parent / file).resolve() if file else path
    if not target.exists():
      found.append(f'{link}: there is no such file')
    elif anchor and anchor not in _anchors(target):
      found.append(f'{link}: there is no such heading')
  return found


def _links(text: str) -> Iterator[str]:
  for token in MarkdownIt('commonmark').enable('table').parse(text):
    for child in token.children or ():
      address = child.attrGet('href') or child.attrGet('src')
      if address:
        yield str(address)


def _anchors(path: Path) -> set[str]:
  tokens = MarkdownIt('commonmark').parse(path.read_text(encoding='utf-8'))
  return {
    re.sub(r'[^\w\- ]', '', tokens[i + 1].content.lower()).replace(' ', '-')
    for i, token in enumerate(tokens)
    if token.type == 'heading_open'
  }


def wrong_commands(code: str) -> list[str]:
  """What a `sh` block asks of this project that the project does not have.

  >>> wrong_commands('stepwise summarize a.txt --wrods 60')
  ['stepwise summarize a.txt --wrods 60: No such option: --wrods']
  >>> wrong_commands('make demo | cat')
  []
  """
  found = []
  for command in _commands(code):
    problem = _problem(command)
    if problem:
      found.append(f'{shlex.join(command)}: {problem}')
  return found


def _commands(code: str) -> Iterator[list[str]]:
  for line in code.replace('\\\n', ' ').splitlines():
    lexer = shlex.shlex(line, posix=True, punctuation_chars='|;&<>()')
    lexer.whitespace_split = True
    words: list[str] = []
    for word in (*lexer, ';'):
      if set(word) <= set('|;&'):
        if words:
          yield words
        words = []
      else:
        words.append(word)


def _problem(words: Sequence[str]) -> str | None:
  words = list(words)
  while words and re.match(r'\w+=', words[0]):
    words.pop(0)
  if not words:
    return None
  missing = [w for w in words if _is_run_file(w) and not (ROOT / w).exists()]
  if missing:
    return f'there is no {missing[0]}'
  checks: dict[str, Callable[[list[str]], str | None]] = {
    'stepwise': _wrong_verb,
    'make': _wrong_target,
    'pip': _wrong_extra,
    'python': _wrong_module,
  }
  check = checks.get(words[0])
  return check(words[1:]) if check else None


def _is_run_file(word: str) -> bool:
  return word.startswith('gin/') and word.endswith('.gin')


def _wrong_verb(words: list[str]) -> str | None:
  from typer.main import get_command

  from stepwise.cli.main import app

  command: Any = get_command(app)
  words = [word for word in words if word not in '<>']
  if '--' in words:  # What follows is Beam's.
    words = words[: words.index('--')]
  while hasattr(command, 'commands') and words and words[0][0] != '-':
    name = words.pop(0)
    if name not in command.commands:
      return f'there is no verb {name}'
    if name == 'bench':
      known = (ROOT / 'benchmarks' / f'{words[0]}.py').exists()
      return None if known else f'there is no benchmark {words[0]}'
    command = command.commands[name]
  try:
    command.make_parser(command.context_class(command)).parse_args(words)
  except Exception as error:
    # The parser is click's, or typer's own copy of it.
    if not hasattr(error, 'format_message'):
      raise
    return str(error).splitlines()[0]
  return None


def _wrong_target(words: list[str]) -> str | None:
  text = (ROOT / 'Makefile').read_text(encoding='utf-8')
  targets = [word for word in words if '=' not in word and word[0] != '-']
  unknown = [w for w in targets if not re.search(rf'^{w}:', text, re.M)]
  return f'there is no target {unknown[0]}' if unknown else None


def _wrong_extra(words: list[str]) -> str | None:
  project = tomllib.loads((ROOT / 'pyproject.toml').read_text(encoding='utf-8'))
  extras = set(project['project']['optional-dependencies'])
  for word in words:
    for names in re.findall(r'^(?:stepwise|\.)\[(.+)\]', word):
      unknown = set(names.split(',')) - extras
      if unknown:
        return f'there is no extra {sorted(unknown)[0]}'
  return None


def _wrong_module(words: list[str]) -> str | None:
  name = words[1] if words[:1] == ['-m'] else ''
  if name.startswith(('docs.', 'benchmarks.', 'tests.', 'stepwise.')):
    path = ROOT / name.replace('.', '/')
    if not path.is_dir() and not path.with_suffix('.py').exists():
      return f'there is no module {name}'
  tests = [w.partition('::')[0] for w in words if w.startswith('tests/')]
  unknown = [test for test in tests if not (ROOT / test).exists()]
  return f'there is no {unknown[0]}' if unknown else None


def read_data(block: Block) -> None:
  """Reads a block of JSON or TOML, or raises what is wrong with it."""
  {'json': json.loads, 'toml': tomllib.loads}[block.language](block.code)


def sessions(code: str) -> Iterator[tuple[str, str]]:
  """Commands of a `console` block, each with what it printed.

  >>> list(sessions('$ stepwise params etcsum_base' + chr(10) + '165825793'))
  [('stepwise params etcsum_base', '165825793')]
  """
  for part in re.split(r'^\$ ', code, flags=re.M)[1:]:
    command, _, output = part.replace('\\\n', ' ').partition('\n')
    yield command, output.rstrip('\n')


def run_command(command: str) -> str:
  """Standard output of a command; verbs run in this process if they can."""
  if command.startswith('stepwise ') and not _SHELL & set(command):
    return _run_verb(shlex.split(command, comments=True)[1:])
  path = f'{Path(sys.executable).parent}{os.pathsep}{os.environ["PATH"]}'
  done = subprocess.run(
    ['bash', '-ec', command],
    env={**os.environ, 'PATH': path},
    capture_output=True,
    text=True,
  )
  if done.returncode:
    raise RuntimeError(f'{command}: {done.stderr}')
  return done.stdout


def _run_verb(arguments: list[str]) -> str:
  from stepwise.cli.main import app

  output = io.StringIO()
  with contextlib.redirect_stdout(output):
    try:
      app(arguments)
    except SystemExit as ended:
      if ended.code:
        raise RuntimeError(f'stepwise {arguments}: {ended.code}') from ended
  return output.getvalue()


def same_output(wanted: str, printed: str) -> bool:
  """Whether a page shows what is printed; lines may be broken elsewhere.

  >>> same_output('a long ... line', 'a long, very long' + chr(10) + 'line')
  True
  """
  parts = [re.escape(' '.join(p.split())) for p in wanted.split('...')]
  return bool(re.fullmatch('.*?'.join(parts), ' '.join(printed.split())))


def prepare_folder(folder: Path) -> None:
  """The files that pages speak of: an article, articles, a table, a game."""
  from stepwise.rotowire import sample_game
  from stepwise.summarization import sample_article

  article = sample_article()
  (folder / 'article.txt').write_text(article, encoding='utf-8')
  rows = [{'id': str(i), 'article': article[100 * i :]} for i in range(2)]
  lines = ''.join(json.dumps(row) + '\n' for row in rows)
  (folder / 'articles.jsonl').write_text(lines, encoding='utf-8')
  game = Path(str(sample_game())).read_bytes()
  (folder / 'game.json').write_bytes(game)
  sales = ROOT / 'examples' / 'tables' / 'sales'
  for name in ('sales.csv', 'templates.toml'):
    (folder / name).write_bytes((sales / name).read_bytes())


def run_python(blocks: Sequence[Block], page: Path) -> None:
  """Runs blocks of Python of a page, and names the one that fails."""
  names: dict[str, object] = {'__name__': '__main__'}
  for block in blocks:
    place = f'{page}:{block.lines[0] + 1}'
    try:
      exec(compile(block.code, place, 'exec'), names)
    except Exception as error:
      raise AssertionError(f'{place}: {traceback.format_exc()}') from error


def update(path: Path, folder: Path) -> None:
  """Writes into the console blocks of a page what their commands print."""
  lines = path.read_text(encoding='utf-8').splitlines()
  for block in reversed(read_blocks('\n'.join(lines))):
    if block.language != 'console':
      continue
    made = []
    for command, shown in sessions(block.code):
      with contextlib.chdir(folder):
        printed = run_command(command)
      kept = same_output(shown, printed)
      made += [
        f'$ {command}',
        *(shown if kept else _wrap(printed)).splitlines(),
      ]
    lines[slice(*block.lines)] = made
  path.write_text('\n'.join(lines) + '\n', encoding='utf-8')


def _wrap(text: str) -> str:
  return '\n'.join(
    '\n'.join(textwrap.wrap(line, _WIDTH, break_on_hyphens=False)) or line
    if len(line) > _WIDTH and '  ' not in line
    else line.rstrip()
    for line in text.rstrip().splitlines()
  )


def main() -> None:
  import tempfile

  with tempfile.TemporaryDirectory() as folder:
    prepare_folder(Path(folder))
    for name in sys.argv[1:]:
      update(Path(name).resolve(), Path(folder))


if __name__ == '__main__':
  main()
