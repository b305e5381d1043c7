import numpy as np

from stepwise.extraction import find_candidates, read_sentences
from stepwise.extraction.learned import (
  Vocabulary,
  featurise,
  frequent_words,
  labels,
)
from stepwise.rotowire import parse_game
from tests.rotowire.games import game_fields


def rows_of(summary, words=('had', 'points')):
  game = parse_game(game_fields(summary))
  sentences = read_sentences(summary, game)
  candidates = find_candidates(sentences, game)
  return candidates, featurise(sentences, candidates, Vocabulary(words))


def test_words_have_placeholders_for_names_and_amounts():
  summary = 'On Friday J.T. Lund had thirty - one points for the Herons .'
  _, features = rows_of(summary)
  # unknown date player player had amount amount amount points unknown ...
  amount, had, points = 15, 21, 22
  assert features.words[0, :13].tolist() == [
    *(1, 4, 3, 3, had, amount, amount, amount, points, 1, 1, 2, 1)
  ]
  assert not features.words[:, 13:].any()


def test_distances_are_counted_from_the_pair():
  candidates, features = rows_of('J.T. Lund had 31 points .')
  assert candidates[0].types == ('PLAYER-PTS',)
  # J.T. Lund had 31 points .
  assert (features.entity[0, :6] - 15).tolist() == [0, 1, 2, 3, 4, 5]
  assert (features.number[0, :6] - 15).tolist() == [-3, -2, -1, 0, 1, 2]


def test_labels_are_those_of_the_table_and_the_kind():
  names = np.array(labels())
  candidates, features = rows_of('J.T. Lund had 11 points , the Herons 99 .')
  wanted = [set(names[row]) for row in features.wanted]
  by_pair = {
    (c.mention.entity, c.number.value): types
    for c, types in zip(candidates, wanted, strict=True)
  }
  # He made 11 shots; nobody has 99 of anything.
  assert by_pair['J.T. Lund', 11] == {'PLAYER-FGM'}
  assert by_pair['Easton Herons', 99] == {'NONE'}
  team = [c.mention.kind for c in candidates].index('team')
  assert all(
    name == 'NONE' or name.startswith('TEAM-')
    for name in names[features.allowed[team]]
  )


def test_a_long_sentence_is_read_around_the_number():
  filler = 'so ' * 60
  candidates, features = rows_of(
    f'J.T. Lund {filler} had 31 points {filler} .', ('had', 'points')
  )
  assert {21, 22, 15} <= {*features.words[0].tolist()}
  assert (features.number[0] == 15).sum() == 1
  assert len(candidates) == 1


def test_frequent_words_know_nobody():
  game = parse_game(game_fields())
  sentences = read_sentences(game.summary, game)
  words = frequent_words([sentences], 1).words
  assert list(words) == sorted(words)
  assert {'points', 'rebounds', 'shot'} <= {*words}
  assert not {'lund', 'Lund', 'four', '31', 'friday', 'thirty'} & {*words}
  assert 'points' not in frequent_words([sentences], 5).words
