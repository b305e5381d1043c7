"""ETCSum on the device equals an independent numpy assembly of its input."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepwise._errors import InputError
from stepwise.layers import (
  AttentionPattern,
  ETCConfig,
  ETCEncoder,
  PairStructure,
  full_labels,
  member_label,
  outside_label,
)
from stepwise.models import ETCSum, ETCSumConfig
from stepwise.models._etcsum import ETCSumMemory, assemble
from tests.layers.parameters import draw, quick_jit
from tests.models.documents import (
  make_batch,
  plans,
  random_record,
)

RADIUS = 5
CONFIG = ETCSumConfig(
  encoder=ETCConfig(
    vocab=110,
    embed=12,
    heads=3,
    mlp=20,
    layers=2,
    labels=16,
    pattern=AttentionPattern(radius=RADIUS, max_distance=3, hard_g2l=True),
  ),
  document_tokens=60,
  summary_tokens=20,
  max_global=40,
)


def with_positions(rows):
  encoder = dataclasses.replace(CONFIG.encoder, long_positions=rows)
  return dataclasses.replace(CONFIG, encoder=encoder)


def numpy_input(record, plan, config):
  """`[CLS] document [SEP] summary [SEP]`, one document, plain Python.

  The fixed layout of the paper: document and summary are padded to slots
  longer than they are by at least the radius.
  """
  stepwise = config.begin_unit is not None
  units = [
    list(record['tokens'][record['unit_ids'] == unit])
    for unit in range(record['unit_ids'].max() + 1)
  ]
  kept, used = [], 0
  for unit in units:
    if used + len(unit) > config.document_tokens:
      break
    kept.append(unit)
    used += len(unit)
  summary, used = [], 0
  for unit in [config.begin_unit, *plan] if stepwise else []:
    if used + len(units[unit]) > config.summary_tokens:
      break
    summary.append(units[unit])
    used += len(units[unit])
  extras = (5 if stepwise else 3) - (
    0 if config.segment_globals else 1 + stepwise
  )
  room = config.max_global - extras
  summary_globals = min(len(summary), room)
  document_globals = min(len(kept), room - summary_globals)

  long, members, global_tokens = [], [], []
  gap = [(0, set(), False)] * (RADIUS + 1)

  def add_global(token):
    global_tokens.append(token)
    return len(global_tokens) - 1

  def add_segment(units, count):
    segment = set()
    if config.segment_globals:
      segment = {add_global(config.segment_token)}
    if units is kept:
      add_delimiter(config.cls)
    owners = [add_global(config.unit_token) for _ in units[:count]]
    for index, unit in enumerate(units):
      owner = {owners[index]} if index < count else set()
      long.extend((token, owner | segment, True) for token in unit)
    long.extend(gap)

  def add_delimiter(token):
    long.append((token, {add_global(token)}, True))

  add_segment(kept, document_globals)
  add_delimiter(config.sep)
  if stepwise:
    add_segment(summary, summary_globals)
    add_delimiter(config.sep)
  tokens, members, real = zip(*long, strict=True)
  starts = np.cumsum([1] + [len(unit) for unit in kept])[:-1]
  return tokens, members, np.array(real), global_tokens, starts, len(kept)


def numpy_structure(members, real, num_globals, pattern):
  """Masks and labels of every pair, spelled out with loops."""
  length, radius, k = len(real), pattern.radius, pattern.max_distance
  member = np.array([[g in m for g in range(num_globals)] for m in members])
  l2l = np.zeros((length, 2 * radius + 1), bool)
  slots = np.zeros((length, 2 * radius + 1), int)
  for i in range(length):
    for w in range(2 * radius + 1):
      j = i - radius + w
      distance = min(abs(j - i), k)
      slots[i, w] = distance if j >= i else k + distance
      l2l[i, w] = 0 <= j < length and real[i] and real[j]
  labels = np.where(member, member_label(k), outside_label(k))
  pairs = PairStructure(
    l2l_mask=l2l,
    l2g_mask=np.broadcast_to(real[:, None], member.shape),
    g2g_mask=np.ones((num_globals, num_globals), bool),
    g2l_mask=member.T & real[None],
    l2l_labels=slots,
    l2g_labels=labels,
    g2g_labels=full_labels(num_globals, k),
    g2l_labels=labels.T,
  )
  return jax.tree.map(lambda a: jnp.asarray(a)[None], pairs)


def numpy_logits(record, plan, config, params):
  """Scores of one document; units that were cut away are left out."""
  tokens, members, real, global_tokens, starts, num_kept = numpy_input(
    record, plan, config
  )
  structure = numpy_structure(
    members, real, len(global_tokens), config.encoder.pattern
  )
  encoder = dataclasses.replace(config.encoder, implementation='dense')
  long, _ = quick_jit(ETCEncoder(encoder).apply)(
    {'params': params['encoder']},
    jnp.array([tokens]),
    jnp.array([global_tokens]),
    structure,
    segments=numpy_segments(tokens, config),
    positions=numpy_positions(tokens, config),
  )
  long = np.asarray(long[0])
  if config.pooling == 'first':
    states = long[starts]
  else:
    units = record['unit_ids'][record['unit_ids'] < num_kept]
    document = long[1 : 1 + len(units)]
    states = np.stack(
      [document[units == unit].mean(axis=0) for unit in range(num_kept)]
    )
  dense = params['scorer']['dense']
  return states @ np.asarray(dense['kernel'])[:, 0] + np.asarray(dense['bias'])


def numpy_segments(tokens, config):
  if config.summary_segment == 1:
    return None
  separators = [i for i, token in enumerate(tokens) if token == config.sep]
  segments = np.ones(len(tokens), int)
  segments[separators[0] : separators[1]] = config.summary_segment
  return jnp.asarray(segments)[None]


def numpy_positions(tokens, config):
  rows = config.encoder.long_positions
  if not rows:
    return None
  positions, since = [], 0
  for index, token in enumerate(tokens):
    since = index if token == config.sep else since
    positions.append((index - since) % rows)
  return jnp.asarray(positions)[None]


def init(config, batch):
  model = ETCSum(config)
  return model, draw(model, batch)


def scores(model, variables, batch, plan):
  @quick_jit
  def run(variables, batch, plan):
    memory = model.apply(variables, batch, method='encode')
    return model.apply(variables, memory, plan, method='score')

  return np.asarray(run(variables, batch, plan))


@st.composite
def cases(draw):
  rng = np.random.default_rng(draw(st.integers(0, 2**31)))
  record = random_record(rng, draw(st.integers(1, 12)))
  num_units = int(record['unit_ids'].max()) + 1
  plan = draw(st.lists(st.integers(0, num_units - 1), max_size=4))
  positions = draw(st.sampled_from([0, 9]))
  changes = {
    # Often too short for the document, the summary or the units.
    'document_tokens': draw(st.integers(12, 60)),
    'summary_tokens': draw(st.integers(1, 20)),
    'max_global': draw(st.integers(6, 24)),
    'pooling': draw(st.sampled_from(['first', 'mean'])),
    'segment_globals': draw(st.booleans()),
    'summary_segment': draw(st.sampled_from([1, 2])),
  }
  ends = np.cumsum(np.bincount(record['unit_ids']))
  kept = ends <= changes['document_tokens']
  plan = [unit for unit in plan if kept[unit]]
  return record, plan, positions, changes


@settings(max_examples=5, deadline=None, derandomize=True)
@given(cases())
def test_device_assembly_equals_numpy_assembly(case):
  # Checks of the configuration's types draw, which a strategy may not.
  record, plan, positions, changes = case
  config = dataclasses.replace(with_positions(positions), **changes)
  batch = make_batch([record], length=70, units=16)
  model, variables = init(config, batch._replace(plan=plans(plan)))
  ours = scores(model, variables, batch, plans(plan))[0]
  theirs = numpy_logits(record, plan, config, variables['params'])
  np.testing.assert_allclose(ours[: len(theirs)], theirs, atol=2e-5)
  assert (ours[len(theirs) :] == -np.inf).all()


RNG = np.random.default_rng(0)
RECORDS = [random_record(RNG, count) for count in (1, 7, 4)]
PLANS = plans([2], [3, 5, 2], [])


LAST_KNOWN = dataclasses.replace(
  CONFIG,
  encoder=dataclasses.replace(
    CONFIG.encoder, global_positions=4, global_means=True
  ),
  pooling='global',
  from_end=True,
)


@pytest.fixture(scope='module')
def trained():
  batch = make_batch(RECORDS)
  return init(with_positions(9), batch._replace(plan=PLANS))


@pytest.fixture(scope='module')
def last_known():
  return init(LAST_KNOWN, make_batch(RECORDS)._replace(plan=PLANS))


@pytest.mark.parametrize(
  'sizes', [{'length': 61}, {'units': 13}, {'batch': 5}, {'steps': 6}]
)
@pytest.mark.parametrize('which', ['trained', 'last_known'])
def test_padding_never_changes_a_score(request, which, sizes):
  model, variables = request.getfixturevalue(which)
  plain = scores(model, variables, make_batch(RECORDS), PLANS)
  steps = sizes.get('steps', 4)
  rows = sizes.get('batch', 3) - 3
  plan = jnp.pad(PLANS, ((0, rows), (0, steps - 4)), constant_values=-1)
  padded = scores(model, variables, make_batch(RECORDS, **sizes), plan)
  units = plain.shape[1]
  np.testing.assert_allclose(padded[:3, :units], plain, atol=1e-5)


@pytest.mark.parametrize('which', ['trained', 'last_known'])
def test_batched_equals_one_by_one(request, which):
  model, variables = request.getfixturevalue(which)
  together = scores(model, variables, make_batch(RECORDS), PLANS)
  for row, record in enumerate(RECORDS):
    alone = scores(
      model, variables, make_batch([record]), PLANS[row : row + 1]
    )[0]
    np.testing.assert_allclose(together[row, : len(alone)], alone, atol=1e-5)


def test_the_plan_matters(trained):
  model, variables = trained
  batch = make_batch(RECORDS[1:2])
  first, second = (
    scores(model, variables, batch, plans(plan)) for plan in ([], [3, 4])
  )
  assert np.abs(first - second).max() > 1e-4


@pytest.mark.parametrize('pooling', ['first', 'mean', 'global'])
def test_twin_reads_the_document_only(pooling):
  config = dataclasses.replace(CONFIG, begin_unit=None, pooling=pooling)
  record = random_record(RNG, 5, special=())
  batch = make_batch([record])._replace(plan=None)
  model, variables = init(config, batch)
  ours = scores(model, variables, batch, None)[0]
  if pooling != 'global':
    theirs = numpy_logits(record, [], config, variables['params'])
    np.testing.assert_allclose(ours, theirs, atol=2e-5)
  assert np.isfinite(ours).all()


def test_units_without_a_global_token_cannot_be_pooled_from_one():
  config = dataclasses.replace(CONFIG, max_global=8, pooling='global')
  batch = make_batch([random_record(RNG, 5)])
  model, variables = init(config, batch._replace(plan=plans([])))
  logits = scores(model, variables, batch, plans([]))[0]
  # Five delimiters and segments and BEG leave two of the eight.
  assert np.isfinite(logits).tolist() == [True] * 2 + [False] * 5


def test_errors_name_what_is_wrong(trained):
  model, variables = trained
  batch = make_batch(RECORDS)
  with pytest.raises(InputError, match='plan is missing but begin_unit is 1'):
    scores(model, variables, batch, None)
  with pytest.raises(InputError, match="pooling is 'last', must be 'first'"):
    dataclasses.replace(CONFIG, pooling='last')
  with pytest.raises(InputError, match='max_global is 5, must be at least 6'):
    dataclasses.replace(CONFIG, max_global=5)
  for rows in (0, 1):
    few = dataclasses.replace(CONFIG.encoder, global_positions=rows)
    with pytest.raises(
      InputError, match=f'encoder is {rows}, must be at least'
    ):
      dataclasses.replace(CONFIG, encoder=few, from_end=True)


def global_rows(document, plan, config):
  """Rows of global positions: BEG and the plan from their end, the rest 0."""
  before = document + 2 + 2 * config.segment_globals
  count = 1 + len(plan)
  most = config.encoder.global_positions - 1
  places = [min(count - index, most) for index in range(count)]
  return [0] * before + places + [0]


def read(record, plan, config, padding=0):
  """What the model reads of one document, more or less padded."""
  batch = make_batch([record], length=30 + padding, units=7 + padding)
  memory = ETCSumMemory(batch.tokens, batch.unit_ids, batch.valid)
  return assemble(memory, plans(plan, steps=6 + padding), config)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(
  st.lists(st.integers(0, 6), max_size=6), st.booleans(), st.integers(0, 3)
)
def test_places_from_end_equal_a_numpy_twin(plan, segments, padding):
  config = dataclasses.replace(LAST_KNOWN, segment_globals=segments)
  record = random_record(np.random.default_rng(0), 5, max_tokens=2)
  inputs = read(record, plan, config, padding)
  rows = np.asarray(inputs.global_positions)[0]
  wanted = global_rows(7, plan, config)
  assert rows[: len(wanted)].tolist() == wanted
  assert not rows[len(wanted) :].any()
  # Row 1 is the global token of what was chosen last, or of BEG.
  owners = np.asarray(inputs.structure.unit_ids)[0]
  last = ([config.begin_unit, *plan])[-1]
  tokens = np.asarray(inputs.tokens)[0][owners == rows.tolist().index(1)]
  assert (
    tokens.tolist() == record['tokens'][record['unit_ids'] == last].tolist()
  )


def test_places_from_end_of_a_summary_that_is_cut():
  """What was lost has no place: the last unit that fits has row 1."""
  record = random_record(np.random.default_rng(0), 5, max_tokens=1)
  config = dataclasses.replace(LAST_KNOWN, summary_tokens=3)
  rows = np.asarray(read(record, [2, 3, 4, 5], config).global_positions)[0]
  assert rows[rows > 0].tolist() == [3, 2, 1]


def test_places_from_end_are_an_option():
  assert read(RECORDS[2], [2], CONFIG).global_positions is None
  twin = LAST_KNOWN.twin()
  batch = make_batch(RECORDS)
  memory = ETCSumMemory(batch.tokens, batch.unit_ids, batch.valid)
  assert not np.any(assemble(memory, None, twin).global_positions)
