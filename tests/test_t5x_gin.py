"""Every file of gin/t5x: its names and includes, and with t5x all of it."""

import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import pytest
from gin import config_parser

from stepwise import models, training
from stepwise.models import SYSTEMS

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / 'gin' / 't5x'
FILES = sorted(str(path.relative_to(ROOT)) for path in FOLDER.rglob('*.gin'))
RUNS = [name for name in FILES if '/runs/' in name]
EXTRACTORS = sorted(f'gin/t5x/{path.name}' for path in FOLDER.glob('*.gin'))
PAPER = [name for name in EXTRACTORS if 'tiny' not in name]
# Modules that can be checked without t5x.
OURS = {'models': models, 'training': training}


class _Names(config_parser.ParserDelegate):
  """References are only read, not looked up."""

  def configurable_reference(self, scoped_name, evaluate):
    return f'@{scoped_name}'

  def macro(self, scoped_name):
    return f'%{scoped_name}'


def statements(name: str) -> list:
  with (ROOT / name).open() as stream:
    return list(config_parser.ConfigParser(stream, _Names()))


def bindings(name: str) -> list:
  """All bindings of a file and of the files of ours that it includes."""
  found = []
  for statement in statements(name):
    if isinstance(statement, config_parser.IncludeStatement):
      if statement.filename.startswith('gin/'):
        found += bindings(statement.filename)
    elif isinstance(statement, config_parser.BindingStatement):
      found.append(statement)
  return found


def macros(name: str) -> dict:
  return {b.selector: b.value for b in bindings(name) if not b.arg_name}


def test_there_are_files_to_check():
  assert len(RUNS) == 3
  assert len(PAPER) == 4


@pytest.mark.parametrize('name', FILES)
def test_included_files_exist(name):
  for statement in statements(name):
    if isinstance(statement, config_parser.IncludeStatement):
      included = statement.filename
      assert included.startswith('t5x/configs/') or (ROOT / included).is_file()


@pytest.mark.parametrize('name', FILES)
def test_our_functions_have_the_parameters_that_are_bound(name):
  for binding in bindings(name):
    module, _, function = binding.selector.partition('.')
    if module in OURS:
      signature = inspect.signature(getattr(OURS[module], function))
      assert binding.arg_name in signature.parameters


@pytest.mark.parametrize('name', EXTRACTORS)
def test_systems_leave_nothing_open(name):
  values = macros(name)
  open_macros = [
    key for key, value in values.items() if value == '%gin.REQUIRED'
  ]
  assert open_macros == []
  used = {
    macro
    for binding in bindings(name)
    for macro in re.findall(r"'%(\w+)'", repr(binding.value))
  }
  assert used <= values.keys()


@pytest.mark.parametrize('name', EXTRACTORS)
def test_sizes_fit_the_model(name):
  values = macros(name)
  config = models.find_config(values['MODEL_NAME'])
  lengths = values['TASK_FEATURE_LENGTHS']
  body = getattr(config.encoder, 'sentence', config.encoder)
  assert values['EMBED'] == body.embed
  assert lengths.keys() == {'tokens', 'unit_ids', 'plan', 'targets'}
  assert lengths['tokens'] == lengths['unit_ids']
  positions = getattr(config.encoder, 'document_positions', 0)
  assert not positions or values['MAX_UNITS'] <= positions


@pytest.mark.parametrize('name', PAPER)
def test_headers_state_the_published_scores(name):
  system = SYSTEMS[Path(name).stem]
  scores = ', '.join(
    f'ROUGE-{kind} {score:.2f}'
    for kind, score in zip('12L', system.published, strict=True)
  )
  text = re.sub(r'\n#', '', (ROOT / name).read_text())
  assert f'Published, test split: {scores}' in text
  assert macros(name)['MODEL_NAME'] == system.config


# --- With t5x -----------------------------------------------------------------


@pytest.fixture(scope='module')
def _t5x():
  with warnings.catch_warnings():
    warnings.simplefilter('ignore')
    if os.environ.get('STEPWISE_REQUIRE_T5X') == '1':
      importlib.import_module('t5x.train')
    else:
      pytest.importorskip('t5x.train', exc_type=ImportError)


def run(*arguments: str, **environment: str) -> str:
  done = subprocess.run(
    [sys.executable, *arguments],
    cwd=ROOT,
    env={**os.environ, 'XLA_FLAGS': '', **environment},
    capture_output=True,
    text=True,
  )
  assert done.returncode == 0, done.stderr[-4000:]
  return done.stdout


# What `__main__` is when t5x parses gin files, once for all three programs.
_BUILD = """
  import json, sys
  import gin
  from t5x.eval import evaluate
  from t5x.infer import infer
  from t5x.train import train
  from t5x import gin_utils
  import stepwise.t5x_adapter

  for function in (train, evaluate, infer):
    gin.external_configurable(function, module='__main__')
  settings = [f'{name} = ""' for name in (
    'MODEL_DIR', 'CHECKPOINT_PATH', 'EVAL_OUTPUT_DIR', 'INFER_OUTPUT_DIR')]
  for run, system, kind in json.loads(sys.argv[1]):
    gin.clear_config()
    more = [f'{name} = ""' for name in (
      'VOCABULARY', 'LOSS_NORMALIZING_FACTOR', 'MIXTURE_OR_TASK_NAME',
      'TASK_FEATURE_LENGTHS')]
    gin_utils.parse_gin_flags(
      ['.', T5X], [run, system], settings + more * (kind == 'Realizer'))
    model = gin.get_configurable(f'stepwise.t5x_adapter.{kind}Model')()
    print(run, system, type(model.module).__name__)
"""


def kind_of(system: str) -> str:
  stepwise = macros(system).get('MIXTURE_OR_TASK_NAME', '').count('_stepwise')
  return 'Stepwise' if stepwise else 'Extractive'


@pytest.mark.usefixtures('_t5x')
def test_every_run_of_every_system_builds_its_model():
  package = Path(importlib.import_module('t5x').__file__).parent.parent
  script = textwrap.dedent(_BUILD).replace('T5X', repr(str(package)))
  wanted = [(r, s, kind_of(s)) for r in RUNS for s in EXTRACTORS]
  wanted.append((RUNS[-1], 'gin/t5x/models/realizer.gin', 'Realizer'))
  lines = run('-c', script, json.dumps(wanted)).splitlines()
  built = [line.split() for line in lines if line.startswith('gin/')]
  assert [tuple(words[:2]) for words in built] == [w[:2] for w in wanted]
  assert built[-1][2] == 'EncoderDecoder'
  for _, system, module in built[:-1]:
    assert module.lower() in system


STORY = (
  'The ferry left at dawn. Nobody saw the captain. A storm was near. '
  'The crew turned back early.'
)


# What people are told to type, in the root of the repository.
COMMANDS = tuple(
  ' '.join(command.split())
  for command in (
    r"""python -m t5x.train --gin_file=gin/t5x/runs/train.gin
      --gin_file=gin/t5x/tiny_etcsum.gin --gin.MODEL_DIR=\"RUN\" """,
    r"""python -m t5x.infer --gin_file=gin/t5x/runs/infer.gin
      --gin_file=gin/t5x/tiny_etcsum.gin
      --gin.CHECKPOINT_PATH=\"$PWD/RUN/checkpoint_20\"
      --gin.INFER_OUTPUT_DIR=\"OUT\" """,
    r"""python -m t5x.eval --gin_file=gin/t5x/runs/eval.gin
      --gin_file=gin/t5x/tiny_etcsum.gin
      --gin.CHECKPOINT_PATH=\"$PWD/RUN/checkpoint_20\"
      --gin.EVAL_OUTPUT_DIR=\"SCORES\" """,
  )
)


def test_pages_have_the_commands_that_are_tested():
  pages = [ROOT / 'README.md', *(ROOT / 'docs').rglob('*.md')]
  text = '\n'.join(page.read_text() for page in pages)
  joined = re.sub(r'\s*\\\n\s*', ' ', text)
  assert set(re.findall(r'^python -m t5x\..*$', joined, re.M)) == set(COMMANDS)


@pytest.mark.slow
@pytest.mark.usefixtures('_t5x')
def test_the_commands_of_the_pages(tmp_path):
  """As they are typed, with a relative folder; then on more devices."""
  folder = tmp_path / 'DATA' / 'cnn_dailymail'
  folder.mkdir(parents=True)
  for split in ('train', 'validation', 'test'):
    rows = [
      {'id': f'{split}{i}', 'article': STORY, 'highlights': 'The crew turned.'}
      for i in range(8)
    ]
    lines = ''.join(f'{json.dumps(row)}\n' for row in rows)
    (folder / f'{split}.jsonl').write_text(lines)
  (tmp_path / 'gin').symlink_to(ROOT / 'gin')

  def shell(command: str, **environment: str) -> None:
    paths = [str(Path(sys.executable).parent), os.environ['PATH']]
    modules = [str(ROOT), os.environ.get('PYTHONPATH', '')]
    more = {
      'PATH': os.pathsep.join(paths),
      'PYTHONPATH': os.pathsep.join(modules),
      'STEPWISE_DATA': 'DATA',
      'JAX_DISABLE_MOST_OPTIMIZATIONS': '1',
      'XLA_FLAGS': '',
    }
    done = subprocess.run(
      ['bash', '-c', command],
      cwd=tmp_path,
      env={**os.environ, **more, **environment},
      capture_output=True,
      text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]

  for command in COMMANDS:
    shell(command)
  [summaries] = (tmp_path / 'OUT').glob('*-00000-of-00001')
  rows = [json.loads(line) for line in summaries.read_text().splitlines()]
  assert [row['id'] for row in rows] == [f'test{i}' for i in range(8)]
  sentences = set(re.findall(r'\w[^.]*\.', STORY))
  assert all(set(row['prediction']) <= sentences for row in rows)
  [scores] = (tmp_path / 'SCORES').rglob('*-metrics.jsonl')
  assert 'rouge1' in scores.read_text()
  # The run goes on, on 4 x 2 devices.
  shell(
    f'{COMMANDS[0]} --gin.TRAIN_STEPS=21 --gin.NUM_PARTITIONS=2',
    XLA_FLAGS='--xla_force_host_platform_device_count=8',
  )
  assert (tmp_path / 'RUN' / 'checkpoint_21').is_dir()
