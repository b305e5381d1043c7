"""Training: the table labels the pairs of its text, or another extractor."""

import functools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from stepwise._errors import InputError
from stepwise._typing import Array, Float
from stepwise.extraction._candidates import find_candidates
from stepwise.extraction._mentions import read_sentences
from stepwise.extraction.learned._features import (
  Features,
  Vocabulary,
  featurise,
  frequent_words,
  join,
  labels,
)
from stepwise.extraction.learned._models import (
  Classifier,
  ClassifierConfig,
  log_probabilities,
)
from stepwise.rotowire import Game
from stepwise.tables import Relation

# An LSTM is several times as slow.
_HIDDEN = {'conv': 96, 'lstm': 48}


@dataclass(frozen=True)
class ExtractorTraining:
  """How classifiers are trained.

  Attributes:
    models: their kinds, one after another; the first is `conv` alone.
    epochs: over all pairs.
    batch_size: pairs of an update.
    learning_rate: the peak; it falls linearly to 0.
    least_count: of a word in the vocabulary.
    seed: of initial values and the order of pairs.
  """

  models: tuple[str, ...] = ('conv',) * 3 + ('lstm',) * 3
  epochs: int = 2
  batch_size: int = 256
  learning_rate: float = 3e-3
  least_count: int = 20
  seed: int = 0


@dataclass(frozen=True)
class Trained:
  """A vocabulary, and classifiers with their parameters."""

  vocabulary: Vocabulary
  models: tuple[tuple[ClassifierConfig, Any], ...]


def train_extractor(
  games: Sequence[Game],
  config: ExtractorTraining = ExtractorTraining(),
  *,
  stated: Sequence[Collection[Relation]] | None = None,
  on_update: Callable[[str, int, int, float], object] = lambda *_: None,
) -> Trained:
  """Trains classifiers on the summaries of games.

  Args:
    games: with summaries.
    config: the run.
    stated: what the summaries state, by an extractor to learn from; without
      them the tables of the games are the labels.
    on_update: called with the model's name, the update, how many there are,
      and the loss.
  """
  texts = [read_sentences(game.summary, game) for game in games]
  vocabulary = frequent_words(texts, config.least_count)
  pairs = [
    featurise(sentences, find_candidates(sentences, game, said), vocabulary)
    for sentences, game, said in zip(
      texts, games, stated or [None] * len(games), strict=True
    )
  ]
  features = join(pairs) if pairs else None
  if features is None or not len(features.words):
    raise InputError('the games have no pair of an entity and a number.')
  models = []
  for index, kind in enumerate(config.models):
    sizes = ClassifierConfig(
      kind, vocabulary.size, len(labels()), hidden=_HIDDEN[kind]
    )
    report = functools.partial(on_update, f'{kind} {index}')
    models.append((sizes, _fit(sizes, features, config, index, report)))
  return Trained(vocabulary, tuple(models))


def marginal_loss(
  log_probs: Float[Array, 'rows labels'], wanted: Array
) -> Float[Array, '']:
  """Mean of -log of the probability of any wanted label."""
  return -jax.nn.logsumexp(log_probs, axis=-1, where=wanted).mean()


def _fit(
  sizes: ClassifierConfig,
  features: Features,
  config: ExtractorTraining,
  index: int,
  report: Callable[[int, int, float], object],
) -> Any:
  total = len(features.words)
  batch = min(config.batch_size, total)
  per_epoch = total // batch
  updates = config.epochs * per_epoch
  schedule = optax.linear_schedule(config.learning_rate, 0.0, updates)
  optimizer = optax.adam(schedule)
  key = jax.random.fold_in(jax.random.key(config.seed), index)
  first = map(jnp.asarray, features.rows(slice(0, 1))[:3])
  params = Classifier(sizes).init(key, *first)['params']
  state = optimizer.init(params)

  @functools.partial(jax.jit, donate_argnums=(0, 1))
  def update(params: Any, state: Any, rows: Features) -> Any:
    def loss(params: Any) -> Array:
      return marginal_loss(
        log_probabilities(sizes, params, rows), jnp.asarray(rows.wanted)
      )

    value, gradient = jax.value_and_grad(loss)(params)
    change, state = optimizer.update(gradient, state)
    return optax.apply_updates(params, change), state, value

  rng = np.random.default_rng((config.seed, index))
  done = 0
  for _ in range(config.epochs):
    order = rng.permutation(total)
    for start in range(0, per_epoch * batch, batch):
      rows = features.rows(order[start : start + batch])
      params, state, value = update(params, state, rows)
      done += 1
      if done % 50 == 0 or done == updates:
        report(done, updates, float(value))
  return jax.device_get(params)
