"""`stepwise params` and `stepwise models`."""

import json

import pytest
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.cli.main import app
from stepwise.models import SYSTEMS


def invoke(*args):
  return CliRunner().invoke(app, list(args))


@pytest.mark.parametrize(
  ('name', 'count'),
  [
    ('etcsum_base', 165825793),
    ('hibert_cnndm', 133784833),
    ('hibert_rotowire', 91448065),
    ('realizer', 152491008),
  ],
)
def test_params_prints_the_exact_count(name, count):
  assert invoke('params', name).stdout == f'{count}\n'


def test_an_unknown_configuration_is_an_error():
  result = invoke('params', 'etcsum_huge')
  assert isinstance(result.exception, InputError)
  assert "no configuration is named 'etcsum_huge'" in str(result.exception)


def test_models_lists_every_system():
  table = invoke('models').stdout
  assert all(name in table for name in SYSTEMS)
  listed = json.loads(invoke('models', '--json').stdout)
  assert [row['name'] for row in listed] == list(SYSTEMS)
