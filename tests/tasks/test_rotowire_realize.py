"""The realizer's task: games in, ids out."""

import json

import pytest
import seqio

from stepwise.data import wordpiece
from stepwise.realization import make_examples
from stepwise.rotowire import parse_game
from stepwise.tasks import rotowire_realize
from tests.rotowire.games import game_fields


def test_examples_of_files(tmp_path, monkeypatch):
  monkeypatch.setenv('STEPWISE_DATA', str(tmp_path))
  (tmp_path / 'rotowire').mkdir()
  path = tmp_path / 'rotowire' / 'validation.json'
  path.write_text(json.dumps([game_fields()]))
  task = seqio.get_mixture_or_task('rotowire_realize')
  dataset = task.get_dataset(
    {'inputs': 512, 'targets': 64}, 'validation', shuffle=False
  )
  found = list(dataset.as_numpy_iterator())
  game = parse_game(game_fields(), id='validation.json:0')
  expected, _ = make_examples([game], wordpiece())
  assert len(found) == len(expected) == 5
  for row, example in zip(found, expected, strict=True):
    assert row['inputs'].tolist() == example.inputs.tolist()
    assert row['targets'].tolist() == example.targets.tolist()
  features = task.output_features
  assert features['targets'].vocabulary.eos_id == wordpiece().sep
  text = task.postprocess_fn(found[4]['targets'])
  assert text == 'quist finished with 26 .'


def test_bleu_of_sentences():
  same = rotowire_realize.bleu_metric(['a b c d e'], ['a b c d e'])
  assert same == {'bleu': pytest.approx(100)}
