"""HiBERT and Stepwise HiBERT (Narayan et al., 2020, section 4)."""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax.numpy as jnp
from flax import linen as nn

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Float, Int
from stepwise.layers import (
  HierarchicalConfig,
  HierarchicalEncoder,
  HierarchicalMemory,
  TransformerConfig,
)
from stepwise.models._batch import Batch, take, unit_spans
from stepwise.models._config import (
  BatchSizes,
  Limits,
  Loss,
  ModelConfig,
  PretrainedParts,
  check_unit_tokens,
  replace_settings,
)
from stepwise.models._losses import LossSums
from stepwise.models._plan_value import (
  Judgement,
  PlanValue,
  PlanValueConfig,
  Pool,
  judgement_error,
  pool_spans,
  pool_units,
  unit_sets,
)
from stepwise.models._plan_words import pool_text
from stepwise.models._scorer import Scorer, with_begin
from stepwise.models._set_rouge import set_rouge

# Running text sets no limit itself; work and memory do.
_MAX_TOKENS = 8192
# A value that guesses words; few sentences have more pieces.
_WORDS = PlanValueConfig(pool=10, pieces=48)


@dataclasses.dataclass(frozen=True)
class HiBERTConfig(ModelConfig):
  """The encoder, and how a unit becomes a row of its token grid.

  Attributes:
    encoder: sizes; without summary positions the model is not stepwise. With a
      window it reads running text, and the next two do not matter.
    first_token: id of the delimiter that leads every unit (`<s>`, `[CLS]`).
    max_unit_tokens: tokens of a unit that are read, the delimiter included.
    begin_unit: the unit that opens every summary, if the model is stepwise.
    plan_value: sizes of what values whole plans; None = nothing does.
  """

  encoder: HierarchicalConfig
  first_token: int
  max_unit_tokens: int = 32
  begin_unit: int = 1
  plan_value: PlanValueConfig | None = None

  def __post_init__(self) -> None:
    check_unit_tokens(self.max_unit_tokens, self.encoder.sentence.positions)
    if self.guesses_words and not self.encoder.window:
      raise InputError(
        'plan_value.pieces is set, but the model reads unit by unit: words are'
        ' guessed in running text (encoder.window).'
      )

  @property
  def stepwise(self) -> bool:
    return self.encoder.stepwise

  @property
  def values_plans(self) -> PlanValueConfig | None:
    return self.plan_value if self.stepwise else None

  @property
  def guesses_words(self) -> bool:
    return self.values_plans is not None and self.values_plans.pieces > 0

  @property
  def vocab(self) -> int:
    return self.encoder.sentence.vocab

  @property
  def embed(self) -> int:
    return self.encoder.sentence.embed

  @property
  def limits(self) -> Limits:
    window = self.encoder.window
    return Limits(
      tokens=_MAX_TOKENS if window else None,
      units=self.encoder.most_units or None,
      # The delimiter is one, and so is the BEG of a plan.
      unit_tokens=None if window else self.max_unit_tokens - 1,
      plan=self.encoder.summary_positions - 1 if self.stepwise else None,
    )

  @property
  def batch_sizes(self) -> BatchSizes:
    if window := self.encoder.window:
      # Its work is that of its windows; units cost little.
      return BatchSizes(
        least=window, ratio=1.25, multiple=window, least_units=64
      )
    # Its work depends on units alone: more lengths would only be compiled.
    return BatchSizes(one_length=True)

  def build(self) -> 'HiBERT':
    return HiBERT(self)

  def loss(self, module: nn.Module, **settings: Any) -> Loss:
    """With a value, what whole plans are worth is learnt with the steps."""
    loss = super().loss(module, **settings)
    if self.values_plans is None:
      return loss

    def valued(params: Any, batch: Batch, rng: Array | None = None) -> LossSums:
      also = functools.partial(_value_loss, module, batch)
      return loss(params, batch, rng, also=also)

    return valued

  def with_value(self) -> 'HiBERTConfig':
    """The same with a value of whole plans, which knows words if it can."""
    value = _WORDS if self.encoder.window else PlanValueConfig()
    return dataclasses.replace(self, plan_value=value)

  def twin(self) -> 'HiBERTConfig':
    encoder = dataclasses.replace(self.encoder, summary_positions=0)
    return dataclasses.replace(self, encoder=encoder, plan_value=None)

  def with_settings(self, **settings: Any) -> 'HiBERTConfig':
    sentence = replace_settings(self.encoder.sentence, settings)
    encoder = dataclasses.replace(self.encoder, sentence=sentence)
    return dataclasses.replace(self, encoder=encoder)

  def pretrained_parts(self, layers: int) -> PretrainedParts:
    """Bottom layers encode sentences, those above the document.

    Sentence layer i is layer i, document layer i the i-th layer after the
    sentence layers. If the source has too few layers for both, the document
    layers are its last ones, which then serve twice (MiniLM: sentence layers 0
    to 5, document layers 4 and 5).
    """
    sentence, documents = self.encoder.sentence, self.encoder.document_layers
    first = min(sentence.layers, layers - documents)
    fresh = ('norm', 'document_position', 'summary_position')
    return PretrainedParts(
      sentence,
      sentence.positions,
      path='encoder/sentence',
      further={f'encoder/layers_{i}': first + i for i in range(documents)},
      min_layers=max(sentence.layers, documents),
      fresh=('scorer', *(f'encoder/{name}' for name in fresh)),
      first_token=self.first_token,
    )


def _mini_lm() -> TransformerConfig:
  return TransformerConfig(
    vocab=30522,
    embed=384,
    heads=12,
    mlp=1536,
    layers=6,
    token_types=2,
    norm_epsilon=1e-12,
  )


def _small_planner(
  embed: int,
  mlp: int,
  layers: int,
  *,
  heads: int = 4,
  sentence_layers: int = 1,
  max_unit_tokens: int = 24,
  from_end: bool = False,
) -> 'HiBERTConfig':
  """Entries are a few words each: one layer reads them, `layers` the table."""
  return HiBERTConfig(
    HierarchicalConfig(
      TransformerConfig(
        vocab=30522,
        embed=embed,
        heads=heads,
        mlp=mlp,
        layers=sentence_layers,
        positions=32,
        activation='gelu_tanh',
      ),
      document_layers=layers,
      summary_positions=256,
      pooling='mean',
      from_end=from_end,
    ),
    first_token=101,
    max_unit_tokens=max_unit_tokens,
    begin_unit=2,
  )


def _news() -> HiBERTConfig:
  """MiniLM's lower layers read running text, those above read units."""
  return HiBERTConfig(
    HierarchicalConfig(
      dataclasses.replace(_mini_lm(), layers=4),
      document_layers=2,
      document_positions=132,
      summary_positions=132,
      pooling='mean',
      window=256,
    ),
    first_token=101,
  )


HIBERT_CONFIGS: dict[str, HiBERTConfig] = {
  # 133,784,833 parameters: 128 sentences and four more, in both tables.
  'hibert_cnndm': HiBERTConfig(
    HierarchicalConfig(
      TransformerConfig(vocab=50358, layers=8),
      document_layers=4,
      document_positions=132,
      summary_positions=132,
    ),
    first_token=0,
  ),
  # 91,448,065 parameters: the entries of a table have no order.
  'hibert_rotowire': HiBERTConfig(
    HierarchicalConfig(
      TransformerConfig(vocab=50358, layers=2),
      document_layers=4,
      summary_positions=512,
    ),
    first_token=0,
    begin_unit=2,
  ),
  # Planners that a CPU can train, on the short table with roles.
  'hibert_rotowire_mini': _small_planner(embed=128, mlp=256, layers=2),
  'hibert_rotowire_tiny': _small_planner(embed=64, mlp=128, layers=1),
  # The paper's layers, 2 + 4, on its sentences of a shorter table.
  'hibert_rotowire_small': _small_planner(
    embed=64,
    mlp=128,
    layers=4,
    heads=2,
    sentence_layers=2,
    max_unit_tokens=20,
    from_end=True,
  ),
  # A sentence encoder that public MiniLM weights fit.
  'hibert_mini': HiBERTConfig(
    HierarchicalConfig(
      _mini_lm(),
      document_layers=2,
      document_positions=132,
      summary_positions=132,
    ),
    first_token=101,
  ),
  # The default summarizer: layers are shared out as RoBERTa's in the paper.
  'hibert_news': _news(),
  # The same, and what whole summaries are worth.
  'hibert_news_valued': _news().with_value(),
  # For demonstrations and tests.
  'hibert_tiny': HiBERTConfig(
    HierarchicalConfig(
      dataclasses.replace(_mini_lm(), embed=64, heads=4, mlp=128, layers=1),
      document_layers=1,
      document_positions=132,
      summary_positions=132,
    ),
    first_token=101,
  ),
}


def _value_loss(
  module: Any, batch: Batch, params: Any, memory: HierarchicalMemory
) -> Float[Array, '']:
  """Sum over documents of the mean error of what their sets are worth."""
  config = module.config.plan_value
  assert config is not None, 'HiBERTConfig.plan_value'
  if batch.reference is None:
    raise InputError(
      'a batch without references cannot tell what whole plans are worth:'
      ' build records with --reference, and set InputConfig.reference_tokens.'
    )
  run = functools.partial(module.apply, {'params': params})
  pool: Any = run(memory, batch, batch.valid, method='pool_units')
  judged: Any = run(pool, method='judge_sets')
  sets = jnp.asarray(unit_sets(config))
  rouge = set_rouge(
    batch.tokens, batch.unit_ids, batch.reference, pool.units, sets
  )
  known = (pool.real[:, None] | ~sets[None]).all(axis=-1)
  known &= (batch.reference > 0).any(axis=1, keepdims=True)
  return config.weight * judgement_error(
    judged, pool, rouge, known, batch.reference
  )


class UnitGrid(NamedTuple):
  """Tokens by unit; `mask` is True at real ones."""

  tokens: Int[Array, 'batch units tokens']
  mask: Bool[Array, 'batch units tokens']


def unit_grid(batch: Batch, first_token: int, max_unit_tokens: int) -> UnitGrid:
  """One row per unit: `first_token`, then as many of its tokens as fit.

  A unit that is not real has no real token, `first_token` neither.
  """
  shape = (*batch.valid.shape, max_unit_tokens - 1)
  spans = unit_spans(batch.unit_ids, shape[1])
  offset = jnp.arange(shape[2])[None, None]
  index = (spans.start[..., None] + offset).reshape(shape[0], -1)
  valid = batch.valid[..., None]
  real = valid & (offset < spans.length[..., None])
  tokens = jnp.where(real, take(batch.tokens, index).reshape(shape), 0)
  first = jnp.where(valid, first_token, 0).astype(tokens.dtype)
  return UnitGrid(
    jnp.concatenate([first, tokens], axis=-1),
    jnp.concatenate([valid, real], axis=-1),
  )


class HiBERT(nn.Module):
  """Chooses units: `encode` once per document, `score` at every step."""

  config: HiBERTConfig

  def setup(self) -> None:
    self.encoder = HierarchicalEncoder(self.config.encoder)
    self.scorer = Scorer()
    if self.config.plan_value:
      self.plan_value = PlanValue(self.config.plan_value)

  def __call__(self, batch: Batch) -> Float[Array, 'batch units']:
    """All methods at once, for initialisation."""
    plan = batch.plan if self.config.stepwise else None
    memory = self.encode(batch)
    if self.config.plan_value:
      self.judge_sets(self.pool_units(memory, batch, batch.valid))
    return self.score(memory, plan)

  def encode(
    self, batch: Batch, deterministic: bool = True
  ) -> HierarchicalMemory:
    """Everything that does not depend on the plan."""
    config, text = self.config, None
    if config.encoder.window:
      text = self.encoder.read_text(batch.tokens, batch.unit_ids, deterministic)
      units = self.encoder.pool_text(text, batch.unit_ids, batch.valid.shape[1])
    else:
      grid = unit_grid(batch, config.first_token, config.max_unit_tokens)
      units = self.encoder.encode_units(*grid, deterministic)
    memory = self.encoder.prepare(units, batch.valid, deterministic)
    return memory._replace(text=text if config.guesses_words else None)

  def score(
    self,
    memory: HierarchicalMemory,
    plan: Int[Array, 'batch steps'] | None = None,
    deterministic: bool = True,
  ) -> Float[Array, 'batch units']:
    """Logits of all units; those of padding mean nothing.

    A model that is not stepwise takes no plan.
    """
    begin = self.config.begin_unit if self.config.stepwise else None
    summary = with_begin(plan, begin)
    states = self.encoder.score_states(memory, summary, deterministic)
    return self.scorer(states)

  def pool_units(
    self,
    memory: HierarchicalMemory,
    batch: Batch,
    may: Bool[Array, 'batch units'],
  ) -> Pool:
    """The units that sets are made of, among those that may be chosen."""
    assert self.config.plan_value is not None, 'HiBERTConfig.plan_value'
    first = self.config.begin_unit + 1
    nothing = jnp.zeros((len(may), 0), jnp.int32)
    summary = with_begin(nothing, self.config.begin_unit)
    states = self.encoder.score_states(memory, summary, True)
    spans = unit_spans(batch.unit_ids, may.shape[1])
    pool = pool_units(
      self.config.plan_value,
      jnp.concatenate([memory.units, states], axis=-1),
      self.scorer(states),
      spans.length,
      memory.unit_mask,
      may,
      first,
    )
    if memory.text is None:
      return pool
    text = pool_text(
      batch.tokens,
      batch.unit_ids,
      memory.text,
      pool_spans(pool, spans),
      self.config.plan_value.pieces,
      first,
    )
    return pool._replace(text=text)

  def judge_sets(self, pool: Pool) -> Judgement:
    """What each of `unit_sets` is worth as a whole summary, and why."""
    return self.plan_value(pool)
