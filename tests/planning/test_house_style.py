"""A planner learns from texts what a house says of its tables."""

import jax
import numpy as np
import optax
import pytest

from stepwise.checkpoints import Bundle
from stepwise.data import pad_batch, stepwise_examples, wordpiece
from stepwise.layers import TransformerConfig
from stepwise.models import Batch, PointerConfig, prefix_loss
from stepwise.planning import Planner, PlannerOptions
from stepwise.tables import (
  PlanRecordReport,
  TableForm,
  TableItem,
  draft_templates,
  make_sheets,
  pair_records,
)
from tests.layers.parameters import draw, quick_jit

CONFIG = PointerConfig(
  TransformerConfig(
    vocab=30522, embed=32, heads=4, mlp=48, layers=1, positions=32
  ),
  plan_layers=1,
  plan_positions=16,
  max_unit_tokens=28,
)
NAMES = ('Quay', 'Mill', 'Pier', 'Wharf')
STEPS = 400


def draw_rows(seed):
  rng = np.random.default_rng(seed)
  sales = rng.choice(np.arange(100, 999), len(NAMES), replace=False)
  return [
    {'shop': name, 'sales': int(number)}
    for name, number in zip(NAMES, sales, strict=True)
  ]


def by_sales(rows):
  return sorted(rows, key=lambda row: row['sales'])


def text_of(rows):
  """What this house says: who sold least, then who was second."""
  least, *_, second, _ = by_sales(rows)
  return (
    f'{least["shop"]} had the lowest sales, {least["sales"]}. '
    f'{second["shop"]} was second with sales of {second["sales"]}.'
  )


@pytest.mark.slow
def test_tables_that_were_not_seen_are_planned_in_the_style_of_the_texts():
  rows = [draw_rows(seed) for seed in range(96)]
  form = TableForm('shops', draft_templates(make_sheets(rows[0])))
  items = [
    TableItem(i, str(i), tuple(make_sheets(each)), text_of(each))
    for i, each in enumerate(rows)
  ]
  report = PlanRecordReport()
  records = list(pair_records(items, form, wordpiece(), report))
  assert report.records == len(rows)
  examples = [stepwise_examples(*labelled)[0] for labelled in records]
  sizes = {'length': 512, 'units': 24, 'steps': 5, 'batch': len(examples)}
  batch = Batch.of(pad_batch(examples, **sizes))
  batch = batch._replace(plan=batch.plan[:, :1])
  model = CONFIG.build()
  optimizer = optax.adam(optax.cosine_decay_schedule(5e-3, STEPS))

  @quick_jit
  def fit(params):
    def step(carry, _):
      params, state = carry
      gradients = jax.grad(
        lambda p: prefix_loss(model, p, batch, never=(2,)).mean
      )(params)
      updates, state = optimizer.update(gradients, state)
      return (optax.apply_updates(params, updates), state), None

    carry = params, optimizer.init(params)
    return jax.lax.scan(step, carry, None, length=STEPS)[0][0]

  params = jax.device_get(fit(draw(model, batch)['params']))
  bundle = Bundle(CONFIG, model, {'params': params}, wordpiece())
  planner = Planner(bundle, PlannerOptions('shops', max_steps=5), report.form)
  unseen = [draw_rows(seed) for seed in range(1000, 1032)]
  plans = planner.plan_tables([planner.open(each) for each in unseen])
  right = 0
  for each, plan in zip(unseen, plans, strict=True):
    least, *_, second, _ = by_sales(each)
    wanted = [[(least['shop'], 'sales')], [(second['shop'], 'sales')]]
    right += [[(r.entity, r.type) for r in s] for s in plan] == wanted
  assert right > 0.9 * len(unseen)
