"""`stepwise oracle` in processes of its own, killed and run again."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [sys.executable, '-m', 'stepwise.cli.main', 'oracle']
WORDS = ['rain', 'wind', 'snow', 'fog', 'sun', 'hail', 'frost']


def write_source(path, count):
  with path.open('w') as stream:
    for index in range(count):
      units = [
        f'There was {word} near the {place} on day {index}.'
        for word in WORDS
        for place in ('hills', 'coast', 'lakes')
      ]
      summary = units[index % 5 :: 7]
      row = {'id': f'd{index}', 'article': units, 'highlights': summary}
      stream.write(f'{json.dumps(row)}\n')
  return path


def run(*arguments):
  return subprocess.run(
    [*COMMAND, *map(str, arguments)], capture_output=True, text=True
  )


def wait_for(condition, process):
  deadline = time.monotonic() + 60
  while not condition():
    assert process.poll() is None, 'the run ended before it could be killed'
    assert time.monotonic() < deadline, 'nothing was written in a minute'
    time.sleep(0.005)


def children_of(pid):
  return [
    int(c) for c in Path(f'/proc/{pid}/task/{pid}/children').read_text().split()
  ]


def is_running(pid):
  try:
    return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2][1] != 'Z'
  except FileNotFoundError:
    return False


@pytest.mark.parametrize('processes', [1, 2])
def test_a_killed_run_continues_without_losing_or_repeating(
  tmp_path, processes
):
  source, target = write_source(tmp_path / 'in.jsonl', 800), tmp_path / 'out'
  arguments = [source, target, '--processes', str(processes)]
  partial = tmp_path / 'out.partial'
  with subprocess.Popen([*COMMAND, *map(str, arguments)]) as process:
    wait_for(lambda: partial.exists() and partial.stat().st_size, process)
    workers = children_of(process.pid)
    assert processes == 1 or len(workers) >= processes
    os.kill(process.pid, signal.SIGKILL)
  assert process.returncode == -signal.SIGKILL
  assert not target.exists()
  written = partial.read_bytes()
  assert 0 < written.count(b'\n') < 800

  # As if the kill had come in the middle of a write.
  partial.write_bytes(written + b'{"id": "torn')
  finished = run(*arguments)
  assert (finished.returncode, finished.stdout, finished.stderr) == (0, '', '')
  lines = [json.loads(line) for line in target.read_text().splitlines()]
  assert [line['line'] for line in lines] == list(range(1, 801))
  assert target.read_bytes().startswith(written)
  assert [line['id'] for line in lines] == [f'd{i}' for i in range(800)]
  assert {p.name for p in tmp_path.iterdir()} == {'in.jsonl', 'out'}
  # The workers of the killed run went with it.
  assert not any(map(is_running, workers))


def test_options_and_bad_lines(tmp_path):
  source, target = write_source(tmp_path / 'in.jsonl', 3), tmp_path / 'out'
  lines = source.read_text().splitlines()
  lines.insert(1, '{"article": ')
  source.write_text('\n'.join(lines))
  result = run(
    *(source, target, '--method', 'combination', '--order', 'selection'),
    *('--max-tokens', '40', '--processes', '1'),
  )
  assert result.returncode == 1
  assert '1 lines skipped (2)' in result.stderr
  assert 'in.jsonl:2: not JSON' in result.stderr
  assert result.stdout == ''
  lines = [json.loads(line) for line in target.read_text().splitlines()]
  assert [line['line'] for line in lines] == [1, 3, 4]
  # 40 word pieces hold the first three sentences of 11 or so.
  assert max(index for line in lines for index in line['oracle']) < 4
  [error] = (tmp_path / 'out.errors.jsonl').read_text().splitlines()
  assert json.loads(error)['line'] == 2


def test_other_options_do_not_continue_a_run(tmp_path):
  source, target = write_source(tmp_path / 'in.jsonl', 1), tmp_path / 'out'
  (tmp_path / 'out.partial').write_text('{"line": 1}\n')
  (tmp_path / 'out.partial.json').write_text('{"options": "others"}')
  result = run(source, target)
  assert result.returncode == 2
  assert 'begun with another input and options and version' in result.stderr


def test_a_missing_file_is_one_sentence(tmp_path):
  result = run(tmp_path / 'none.jsonl', tmp_path / 'out')
  assert result.returncode == 2
  assert result.stderr.startswith('stepwise: ')
  assert result.stderr.count('\n') == 1
  assert not list(tmp_path.iterdir())
