"""Extractors that learn invented reports, and what they are stored as."""

import dataclasses
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.extraction import (
  EXTRACTORS,
  evaluate_extractor,
  find_extractor,
  lookup_relations,
  oracle_plan,
  read_sentences,
  stated_relations,
)
from stepwise.extraction.learned import (
  Classifier,
  ClassifierConfig,
  ExtractorTraining,
  LearnedExtractor,
  Trained,
  check_target,
  load_extractor,
  marginal_loss,
  save_extractor,
  train_extractor,
)
from stepwise.tables import Relation
from tests.rotowire.season import season_game

GAMES = [season_game(seed) for seed in range(60)]
HELD_OUT = [season_game(seed) for seed in range(100, 110)]


@pytest.fixture(scope='module')
def trained():
  config = ExtractorTraining(
    ('conv', 'lstm'), epochs=6, batch_size=64, learning_rate=1e-2, least_count=3
  )
  return train_extractor(GAMES, config)


@pytest.mark.parametrize('model', [0, 1])
def test_each_model_learns_what_the_reports_state(trained, model):
  alone = Trained(trained.vocabulary, trained.models[model : model + 1])
  found = evaluate_extractor(LearnedExtractor(alone), HELD_OUT)
  assert found.games == len(HELD_OUT)
  assert found.precision > 85
  assert found.recall > 60


def test_the_ensemble_finds_plans(trained):
  extractor = LearnedExtractor(trained)
  found = evaluate_extractor(extractor, HELD_OUT)
  assert found.precision > 85
  game = HELD_OUT[0]
  truth = {*stated_relations(game.summary, game, lookup_relations)}
  stated = {*stated_relations(game.summary, game, extractor)}
  assert len(truth & stated) > len(truth) / 2
  plan = oracle_plan(game, extractor)
  assert all(isinstance(r, Relation) for sentence in plan for r in sentence)


def test_an_entity_named_twice_states_a_number_once(trained):
  game = HELD_OUT[0]
  name, points = 'J.T. Lund', game.values['J.T. Lund']['PLAYER-PTS']
  text = f'{name} had {points} points , and Lund sat down .'
  sentences = read_sentences(text, game)
  assert len(sentences[0].mentions) == 2
  found = LearnedExtractor(trained)(sentences, game)
  assert len({(f.number, f.relation.entity) for f in found}) == len(found)
  assert LearnedExtractor(trained)(read_sentences('Nobody .', game), game) == []


def test_the_same_seed_trains_the_same():
  config = ExtractorTraining(('conv',), batch_size=32, least_count=3, seed=3)
  first, second, other = (
    train_extractor(GAMES[:8], dataclasses.replace(config, seed=seed))
    for seed in (3, 3, 4)
  )
  leaves = [jax.tree.leaves(t.models[0][1]) for t in (first, second, other)]
  assert all(map(np.array_equal, leaves[0], leaves[1]))
  assert not all(map(np.array_equal, leaves[0], leaves[2]))


@pytest.mark.parametrize('kind', ['conv', 'lstm'])
def test_how_many_words_are_padded_does_not_matter(kind):
  config = ClassifierConfig(kind, 19, 5, embed=6, position=4, hidden=7)
  rng = np.random.default_rng(0)
  inputs = [
    jnp.asarray(rng.integers(1, 19, (3, 11), np.int32)) for _ in range(3)
  ]
  variables = Classifier(config).init(jax.random.key(0), *inputs)
  # As many as a filter reaches beyond the end, and more.
  few, many = (
    Classifier(config).apply(
      variables, *(jnp.pad(array, ((0, 0), (0, count))) for array in inputs)
    )
    for count in (2, 9)
  )
  np.testing.assert_allclose(few, many, atol=1e-6)


def test_any_wanted_label_is_right():
  probabilities = jnp.log(jnp.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]))
  wanted = jnp.array([[True, False, True], [False, True, False]])
  expected = -np.mean(np.log([0.5, 0.1]))
  np.testing.assert_allclose(
    marginal_loss(probabilities, wanted), expected, rtol=1e-6
  )


def test_a_folder_keeps_what_was_learned(trained, tmp_path):
  save_extractor(tmp_path / 'extractor', trained, '# A card\n')
  loaded = load_extractor(tmp_path / 'extractor')
  assert loaded.vocabulary == trained.vocabulary
  game = HELD_OUT[1]
  sentences = read_sentences(game.summary, game)
  before, after = (
    LearnedExtractor(t)(sentences, game) for t in (trained, loaded)
  )
  assert before == after
  assert (tmp_path / 'extractor' / 'README.md').read_text() == '# A card\n'
  # Again: an older extractor is replaced, anything else is not.
  save_extractor(tmp_path / 'extractor', trained, '# Another\n')
  (tmp_path / 'extractor' / 'mine.txt').write_text('')
  with pytest.raises(InputError, match='is not an extractor: it will not'):
    check_target(tmp_path / 'extractor')


def test_folders_that_are_no_extractor(trained, tmp_path):
  with pytest.raises(InputError, match='not the folder of an extractor'):
    load_extractor(tmp_path)
  with pytest.raises(InputError, match='no such folder'):
    check_target(tmp_path / 'a' / 'b')
  folder = tmp_path / 'extractor'
  save_extractor(folder, trained, '')
  content = json.loads((folder / 'config.json').read_text())
  content['models'][0]['hidden'] = 5
  (folder / 'config.json').write_text(json.dumps(content))
  with pytest.raises(InputError, match='weights of model 0 do not fit'):
    load_extractor(folder)
  content['labels'] = ['NONE']
  (folder / 'config.json').write_text(json.dumps(content))
  with pytest.raises(InputError, match='made for other entry types'):
    load_extractor(folder)
  (folder / 'config.json').write_text('{')
  with pytest.raises(InputError, match='the extractor cannot be read'):
    load_extractor(folder)


def test_games_without_pairs_teach_nothing():
  with pytest.raises(InputError, match='no pair of an entity and a number'):
    train_extractor([dataclasses.replace(GAMES[0], summary='Rain .')])
  with pytest.raises(InputError, match="kind is 'rnn'"):
    ClassifierConfig('rnn', 3, 3)


@pytest.mark.parametrize('name', EXTRACTORS)
def test_extractors_are_found_by_name(name):
  game = GAMES[0]
  found = find_extractor(name)(read_sentences(game.summary, game), game)
  assert any(extraction.supported for extraction in found)


def test_an_unknown_extractor_is_named():
  with pytest.raises(InputError, match="extractor is 'x'; known ones are"):
    find_extractor('x')
