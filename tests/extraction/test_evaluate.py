"""All metrics of texts and plans about the invented game."""

import pytest

from stepwise._errors import InputError
from stepwise.extraction import Outputs, evaluate_outputs, oracle_plan
from stepwise.rotowire import parse_game
from tests.rotowire.games import SUMMARY, game_fields


@pytest.fixture(scope='module')
def game():
  return parse_game(game_fields())


def test_gold_against_gold(game):
  scores = evaluate_outputs(Outputs('text', texts=(SUMMARY,)), [game])
  assert (scores.cs.precision, scores.cs.recall, scores.co) == (100, 100, 100)
  assert scores.rg and (scores.rg.count, scores.rg.precision) == (15, 100)
  assert scores.bleu and scores.bleu.score == pytest.approx(100)
  assert scores.extractor == scores.reference_extractor == 'lookup'


def test_a_text_with_known_scores(game):
  text = 'Quist had 26 points . Lund had 31 points , 9 rebounds .'
  scores = evaluate_outputs(Outputs('text', texts=(text,)), [game])
  # Two of three are in the table (RG) and in the summary (CS), which has 15.
  assert scores.rg and scores.rg.count == 2
  assert scores.rg.precision == pytest.approx(100 * 2 / 3)
  assert scores.cs.precision == pytest.approx(100 * 2 / 3)
  assert scores.cs.recall == pytest.approx(100 * 2 / 15)
  assert scores.cs.f1 == pytest.approx(100 * 4 / 18)
  # Only one of the two can keep its place: distance 14 of 15.
  assert scores.co == pytest.approx(100 * 1 / 15)


def test_untokenised_text_is_tokenised(game):
  text = SUMMARY.replace(' .', '.').replace('( ', '(').replace(' )', ')')
  scores = evaluate_outputs(Outputs('text', texts=(text,)), [game])
  assert scores.bleu and scores.bleu.score == pytest.approx(100)
  assert scores.cs.f1 == 100


def test_plans_are_scored_without_names(game):
  plan = oracle_plan(game)
  scores = evaluate_outputs(Outputs('plan', plans=(plan,)), [game])
  assert (scores.cs.f1, scores.co) == (100, 100)
  assert scores.rg is None and scores.bleu is None
  assert scores.extractor == 'none: a plan'
  names_only = tuple(s[:1] for s in plan)
  empty = evaluate_outputs(Outputs('plan', plans=(names_only,)), [game])
  assert (empty.cs.f1, empty.co) == (0, 0)


def test_other_references(game):
  predictions = Outputs('text', texts=('Quist had 26 points .',))
  references = Outputs('text', texts=('Quist led with 26 .',))
  scores = evaluate_outputs(predictions, [game], references=references)
  assert scores.cs.f1 == 100
  assert scores.bleu and scores.bleu.score < 100


def test_plain_numbers_for_json(game):
  plan = Outputs('plan', plans=(oracle_plan(game),))
  content = evaluate_outputs(plan, [game]).to_dict()
  assert content['cs'] == {'precision': 100, 'recall': 100, 'f1': 100}
  assert content['rg'] is None


def test_mistakes(game):
  with pytest.raises(InputError, match=r"extractor is 'x'; known .*'lookup'"):
    evaluate_outputs(Outputs('text', texts=('',)), [game], extractor='x')
  silent = parse_game(game_fields(summary=''), id='g:7')
  with pytest.raises(InputError, match="game 'g:7' has no summary"):
    evaluate_outputs(Outputs('text', texts=('',)), [silent])
