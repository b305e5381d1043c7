"""Tiny models of every kind learn the oracle plans of eight documents."""

import dataclasses
import functools

import jax
import numpy as np
import optax
import pytest

from stepwise.decoding import DecodeConfig
from stepwise.inference import decode, document_order
from stepwise.models import (
  BEG,
  EOT,
  NEWS_DECODING,
  extractive_loss,
  stepwise_loss,
)
from tests.layers.parameters import draw, quick_jit
from tests.models.documents import make_batch, random_record
from tests.models.tiny_models import CONFIGS, KINDS

UNITS = 5
# Through one layer of these the plan cannot reach the document's units.
DEEPER = ('etcsum', 'robertasum')
# In no order; the last is as long as plans may be, so it needs no stop.
PLANS = [
  (2,), (6, 3), (5,), (3, 6, 4), (4, 2), (2, 5, 3), (6,), (5, 3, 2, 6)
]  # fmt: skip
GREEDY = DecodeConfig(max_units=4, stop_unit=EOT, never=(BEG,))


def learner(kind):
  config = CONFIGS[kind]
  if kind in DEEPER:
    encoder = dataclasses.replace(config.encoder, layers=2)
    config = dataclasses.replace(config, encoder=encoder)
  return config


def documents(targets, special):
  rng = np.random.default_rng(11)
  extra = {} if special else {'special': ()}
  records = [
    random_record(rng, UNITS, max_tokens=3, **extra) | {'targets': target}
    for target in targets
  ]
  return make_batch(records, length=17, units=7 if special else 5, steps=5)


def train(model, loss, batch, steps, rate=4e-3):
  """Variables after some steps of Adam on one batch, all in one program."""
  optimizer = optax.adam(optax.cosine_decay_schedule(rate, steps))

  @quick_jit
  def fit(params):
    def step(carry, _):
      params, state = carry
      gradients = jax.grad(lambda p: loss(model, p, batch).mean)(params)
      updates, state = optimizer.update(gradients, state)
      return (optax.apply_updates(params, updates), state), None

    carry = params, optimizer.init(params)
    (params, _), _ = jax.lax.scan(step, carry, None, length=steps)
    return params, loss(model, params, batch)

  # Initial weights are made for wide layers; in narrow ones nearly nothing
  # of the plan would reach the scores.
  params, sums = fit(draw(model, batch)['params'])
  return {'params': params}, sums


@pytest.mark.parametrize(
  'kind',
  [
    # Slow; that they learn at all, their twins show below.
    pytest.param(kind, marks=[] if kind == 'hibert' else [pytest.mark.slow])
    for kind in KINDS
  ],
)
def test_stepwise_models_learn_plans_in_order(kind):
  batch = documents([(*plan, EOT) for plan in PLANS], special=True)
  model = learner(kind).build()
  loss = functools.partial(stepwise_loss, never=(BEG,))
  variables, sums = train(model, loss, batch, steps=150)
  assert sums.correct == sums.weight == sum(len(p) + 1 for p in PLANS)
  for config in (NEWS_DECODING, GREEDY):
    run = functools.partial(decode, learner(kind), config=config)
    result = quick_jit(run)(variables, batch)
    found = [
      tuple(plan[plan >= 0].tolist()) for plan in np.asarray(result.plans[:, 0])
    ]
    assert found == PLANS
    assert result.stopped[:, 0].tolist() == [len(p) < 4 for p in PLANS]


@pytest.mark.parametrize('kind', KINDS)
def test_twins_learn_the_oracle_set(kind):
  oracles = [(0, 1, 4), (1, 2, 3), (0, 2, 4), (2, 3, 4)] * 2
  batch = documents(oracles, special=False)
  config = CONFIGS[kind].twin()
  variables, sums = train(config.build(), extractive_loss, batch, steps=150)
  assert sums.correct == sums.weight == 8 * UNITS
  best = functools.partial(decode, config, config=DecodeConfig(max_units=3))
  found = document_order(quick_jit(best)(variables, batch).plans[:, 0])
  assert [tuple(row) for row in found.tolist()] == oracles
