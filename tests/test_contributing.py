"""What CONTRIBUTING.md says of the code is so."""

import ast
import re
from pathlib import Path

import pytest

import stepwise
from tests.test_imports import ARROWS, SHARED

ROOT = Path(stepwise.__file__).parent
TEXT = (ROOT.parent / 'CONTRIBUTING.md').read_text(encoding='utf-8')
STATIONS = re.findall(r'`([\w/]+\.py)` `(\w+)`', TEXT)


@pytest.mark.parametrize(('file', 'name'), STATIONS)
def test_stations_of_the_walks_exist(file, name):
  tree = ast.parse((ROOT / file).read_text(encoding='utf-8'))
  kinds = ast.FunctionDef | ast.ClassDef
  assert name in {node.name for node in tree.body if isinstance(node, kinds)}


def test_there_are_four_walks():
  assert len(STATIONS) > 30


def test_every_package_has_its_room():
  names = {name for name in ARROWS if name} | SHARED - {'_tpu_compiler'}
  missing = {name for name in names if not re.search(rf'\b{name}\b', TEXT)}
  assert missing == set()
