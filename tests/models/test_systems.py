"""The registry is the paper's Table 1; systems choose as they say."""

import functools
import json

import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.cli.main import app
from stepwise.decoding import DecodeConfig, trigram_overlap
from stepwise.inference import decode, document_order, no_repeats
from stepwise.models import (
  NEWS_DECODING,
  SYSTEMS,
  BERTSum,
  ETCSum,
  HiBERT,
  LeadChooser,
  OracleChooser,
  find_system,
)
from tests.layers.parameters import quick_jit
from tests.models.documents import make_batch, random_record

# ROUGE-1, -2 and -L of the baselines and of the paper's own models.
TABLE_1 = """
Lead                       | 40.42 | 17.62 | 36.67
Oracle (512)               | 52.59 | 31.24 | 48.87
Oracle (Full)              | 57.82 | 35.05 | 53.99
BERTSum                    | 41.55 | 19.34 | 37.80
BERTSum+TriBlk             | 42.70 | 19.93 | 38.89
RoBERTaSum                 | 42.99 | 20.60 | 39.21
RoBERTaSum+TriBlk          | 43.30 | 20.58 | 39.48
HiBERT                     | 41.43 | 19.23 | 37.73
HiBERT+TriBlk              | 42.37 | 19.68 | 38.63
ETCSum                     | 42.67 | 20.27 | 38.90
ETCSum+TriBlk              | 43.43 | 20.54 | 39.58
Stepwise RoBERTaSum        | 41.99 | 19.78 | 37.76
Stepwise RoBERTaSum+TriBlk | 41.50 | 19.48 | 37.25
Stepwise HiBERT            | 41.98 | 19.53 | 38.32
Stepwise HiBERT+TriBlk     | 42.12 | 19.45 | 38.43
Stepwise ETCSum            | 43.84 | 20.80 | 39.77
Stepwise ETCSum+TriBlk     | 43.23 | 20.30 | 39.15
"""


def test_the_registry_is_table_1():
  published = []
  for line in TABLE_1.strip().splitlines():
    title, *scores = (cell.strip() for cell in line.split('|'))
    published.append((title, tuple(map(float, scores))))
  assert [(s.title, s.published) for s in SYSTEMS.values()] == published


@pytest.mark.parametrize('name', SYSTEMS)
def test_every_system_is_what_its_title_says(name):
  system = SYSTEMS[name]
  kinds = {
    'Lead': LeadChooser,
    'Oracle': OracleChooser,
    'BERTSum': BERTSum,
    'RoBERTaSum': BERTSum,
    'HiBERT': HiBERT,
    'ETCSum': ETCSum,
  }
  title = system.title.removesuffix('+TriBlk')
  stepwise = title.startswith('Stepwise')
  model = system.model.build()
  words = title.removeprefix('Stepwise ').split()
  assert type(model) is kinds[words[0]]
  assert system.name == name
  assert system.trigram_blocking == system.title.endswith('+TriBlk')
  if words[0] in ('Lead', 'Oracle'):
    assert system.config is None
  else:
    assert system.stepwise == stepwise == model.config.stepwise
  reads_512 = words[0] in ('BERTSum', 'RoBERTaSum') or '(512)' in words
  if words[0] != 'Lead' and not (title == 'ETCSum' or 'HiBERT' in title):
    assert (system.model.limits.tokens == 512) == reads_512


def test_bertsum_is_bert_and_robertasum_is_roberta():
  vocabularies = {
    name: SYSTEMS[name].model.vocab
    for name in ('bertsum', 'robertasum', 'stepwise_robertasum')
  }
  assert list(vocabularies.values()) == [30522, 50358, 50358]


def test_an_unknown_system_lists_those_there_are():
  known = ', '.join(SYSTEMS)
  with pytest.raises(InputError, match=f"named 'bart', there are {known}"):
    find_system('bart')


def test_the_command_line_lists_them():
  shown = CliRunner().invoke(app, ['models', '--json'])
  rows = json.loads(shown.stdout)
  assert [row['name'] for row in rows] == list(SYSTEMS)
  assert rows[-2]['published'] == [43.84, 20.8, 39.77]


PROSE = [
  'The harbour master closed the old bridge on Monday.',
  'Ferries now carry everyone across the bay.',
  'Residents said the harbour master closed it too late.',
  'A new bridge will cost nine million crowns.',
  'Nobody knows who will pay for it.',
  'The council says that a new bridge will open in May.',
  'Fishermen prefer the ferries.',
]


class Fixed(nn.Module):
  """The same scores whatever has been chosen."""

  logits: tuple[float, ...]

  def encode(self, batch, deterministic=True):
    return batch.valid

  def score(self, memory, plan=None, deterministic=True):
    return jnp.broadcast_to(jnp.array(self.logits)[None], memory.shape)


def choose(name, module, batch, overlap=None):
  """What a system chooses if its model scored so."""
  model = find_system(name).model
  config = NEWS_DECODING if model.stepwise else DecodeConfig(max_units=3)

  @quick_jit
  def plans(batch, overlap):
    constraints = no_repeats(batch.valid, overlap)
    run = functools.partial(decode, module=module)
    return run(model, {}, batch, config, constraints).plans[:, 0]

  chosen = plans(batch, overlap)
  return chosen if model.stepwise else document_order(chosen)


def string_trigrams(sentence):
  """Words without punctuation: no trigram of the prose needs any."""
  words = sentence.lower().rstrip('.').split()
  return {' '.join(words[i : i + 3]) for i in range(len(words) - 2)}


def blocked_choice(order, limit):
  """Sentences in the order of their scores, as Liu and Lapata block them."""
  chosen = []
  for index in order:
    seen = [string_trigrams(PROSE[other]) for other in chosen]
    if not any(string_trigrams(PROSE[index]) & s for s in seen):
      chosen.append(index)
    if len(chosen) == limit:
      break
  return chosen


# Likely sentences first: each would be blocked or block another.
ORDERS = [(0, 2, 3, 5, 1, 4, 6), (2, 0, 5, 3, 6, 1, 4), (5, 3, 2, 0, 4, 6, 1)]


@pytest.mark.parametrize('order', ORDERS)
def test_trigram_blocking_without_steps(order):
  logits = -np.argsort(order).astype(float)
  records = [random_record(np.random.default_rng(0), len(PROSE), special=())]
  chosen = choose(
    'etcsum_triblk',
    Fixed(tuple(logits.tolist())),
    make_batch(records),
    jnp.asarray(trigram_overlap(PROSE))[None],
  )
  expected = sorted(blocked_choice(order, limit=3))
  assert chosen[0].tolist() == expected
  assert expected != sorted(order[:3])


@pytest.mark.parametrize('order', ORDERS)
def test_trigram_blocking_with_steps(order):
  """Stepwise plans keep the order of choice; EOT is never blocked."""
  logits = [-50.0, 0.0, *(-3.0 * np.argsort(order)).tolist()]
  records = [random_record(np.random.default_rng(0), len(PROSE))]
  chosen = choose(
    'stepwise_etcsum_triblk',
    Fixed(tuple(logits)),
    make_batch(records),
    jnp.asarray(trigram_overlap(['', '', *PROSE]))[None],
  )
  expected = blocked_choice(order, limit=4)
  assert (chosen[0] - 2).tolist() == expected
  assert expected != list(order[:4])


def test_the_stop_is_chosen_where_it_is_most_likely():
  batch = make_batch([random_record(np.random.default_rng(0), 5)])
  model = Fixed((2.0, 9.0, 0.0, 5.0, 0.0, 0.0, 0.0))
  chosen = choose('stepwise_hibert', model, batch)
  assert chosen[0].tolist() == [3, -1, -1, -1]
