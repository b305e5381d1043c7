"""What players did: in other words the same claims, and `he` is one man."""

import re
from itertools import pairwise

import pytest

from stepwise.extraction import lookup_relations, read_sentences
from stepwise.realization import TemplateRealizer, check_text, fuller_plan
from stepwise.realization import _performances as wordings
from stepwise.rotowire import game_table
from tests.realization.full_games import full_game
from tests.realization.usual_plans import plan_game

SEEDS, SKIPS = range(10), range(12)
TUPLES = {
  name: value
  for name, value in vars(wordings).items()
  if isinstance(value, tuple) and any('{name}' in each for each in value)
}


def reports(seed):
  """A game in all its wordings."""
  game = full_game(seed)
  plan = fuller_plan(plan_game(game), game)
  return game, [
    ' '.join(TemplateRealizer(skip=skip).realize([game], [plan])[0])
    for skip in SKIPS
  ]


@pytest.mark.parametrize('seed', SEEDS)
def test_every_wording_says_the_same(seed):
  game, texts = reports(seed)
  table = set(game_table(game, max_units=None).relations)
  claims = []
  for text in texts:
    found = lookup_relations(read_sentences(text, game), game)
    assert all(each.supported for each in found), text
    assert check_text(text, game) == []
    claims.append({each.relation for each in found})
  assert len(set(texts)) == len(texts)
  assert all(claim == claims[0] for claim in claims)
  assert claims[0] <= table


def test_every_wording_is_used():
  """Else the test above proves nothing of it."""
  texts = ' '.join(text for seed in SEEDS for text in reports(seed)[1])
  for each in (w for value in TUPLES.values() for w in value):
    fixed = max(re.split(r'\{\w+\}', each), key=len).strip()
    assert fixed.lower() in texts.lower(), each


@pytest.mark.parametrize('name', TUPLES)
def test_wordings_name_a_player_before_his_numbers(name):
  for wording in TUPLES[name]:
    assert wording.count('{name}') == 1
    before, after = wording.split('{name}')
    assert not re.search(r'\bhe\b|\{line\}|\{points\}', before)
    assert '{line}' in after or {'{points}', '{rest}'} <= {
      *re.findall(r'\{\w+\}', after)
    }


@pytest.mark.parametrize('seed', SEEDS)
def test_a_pronoun_is_the_only_one_whom_it_can_be(seed):
  """`he` is in a clause after a player's name, `they` follow a subject."""
  game, texts = reports(seed)
  for text in texts:
    for sentence in read_sentences(text, game):
      words = list(sentence.tokens)
      for place in (i for i, word in enumerate(words) if word == 'he'):
        clause = words[:place]
        # `, while` ends what was said of somebody else.
        ends = [i for i, word in enumerate(clause) if word == 'while']
        start = ends[-1] if ends else 0
        named = {
          mention.entity
          for mention in sentence.mentions
          if mention.kind == 'player'
          and not mention.pronoun
          and start <= mention.start < place
        }
        assert len(named) == 1, ' '.join(words)


def test_openings_differ():
  """No two neighbours begin with the same words, players' names aside."""
  game, [text, *_] = reports(3)
  names = [player.entity for player in game.players]
  openings = []
  for sentence in re.split(r'(?<=\.) ', text):
    for name in names:
      sentence = sentence.replace(name, 'X')
    openings.append(' '.join(sentence.split()[:4]))
  assert all(a != b for a, b in pairwise(openings)), openings
