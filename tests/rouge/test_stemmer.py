"""Stems of ROUGE-1.5.5: irregular forms first, then Porter's algorithm."""

import pytest

from stepwise._rouge._stemmer import irregular_forms, porter_stem, stem_word

# The examples of Porter (1980), step by step, through the whole algorithm.
PAPER = {
  'caresses': 'caress',
  'ponies': 'poni',
  'ties': 'ti',
  'cats': 'cat',
  'feed': 'feed',
  'agreed': 'agre',
  'plastered': 'plaster',
  'bled': 'bled',
  'motoring': 'motor',
  'sing': 'sing',
  'conflated': 'conflat',
  'troubled': 'troubl',
  'sized': 'size',
  'hopping': 'hop',
  'tanned': 'tan',
  'falling': 'fall',
  'hissing': 'hiss',
  'fizzed': 'fizz',
  'failing': 'fail',
  'filing': 'file',
  'happy': 'happi',
  'sky': 'sky',
  'relational': 'relat',
  'conditional': 'condit',
  'rational': 'ration',
  'vietnamization': 'vietnam',
  'operator': 'oper',
  'hopefulness': 'hope',
  'sensibiliti': 'sensibl',
  'triplicate': 'triplic',
  'formative': 'form',
  'electrical': 'electr',
  'goodness': 'good',
  'revival': 'reviv',
  'adjustable': 'adjust',
  'replacement': 'replac',
  'adoption': 'adopt',
  'effective': 'effect',
  'probate': 'probat',
  'rate': 'rate',
  'cease': 'ceas',
  'controll': 'control',
  'roll': 'roll',
}


@pytest.mark.parametrize(('word', 'stem'), PAPER.items())
def test_examples_of_the_paper(word, stem):
  assert porter_stem(word) == stem


def test_endings_of_the_fourth_step_that_the_script_tries_one_by_one():
  # Porter stops at -ement, which is the longest ending of "element".
  assert porter_stem('element') == 'elem'
  assert porter_stem('cement') == 'cement'


def test_y_is_a_consonant_only_where_a_word_begins():
  assert porter_stem('yields') == 'yield'
  assert porter_stem('says') == 'sai'
  assert porter_stem('yyed') == 'yy'


@pytest.mark.parametrize(
  ('form', 'base'),
  [('children', 'child'), ('said', 'say'), ('better', 'good')],
)
def test_irregular_forms_become_their_base(form, base):
  assert stem_word(form) == stem_word(base) == base


def test_bases_are_not_stemmed():
  assert stem_word('mice') == 'mouse'
  assert stem_word('mouse') == 'mous'


@pytest.mark.parametrize('word', ['men', 'was', 'has', 'is', '1s'])
def test_words_of_up_to_three_letters_stay(word):
  assert stem_word(word) == word


def test_the_list_of_forms_has_only_words_that_are_looked_up():
  forms = irregular_forms()
  assert all(len(form) > 3 and form.isalnum() for form in forms)
  assert not any(base.startswith('#') for base in forms.values())
