"""What a model tells of itself: all that the rest of the library knows of it.

A model is a frozen dataclass of its sizes that inherits from `ModelConfig`, and
the Flax module that it builds. `register_model` makes the pair known: then it
can be trained, searched, stored in a bundle and sharded like any other.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp
from flax import linen as nn

from stepwise._errors import InputError
from stepwise.models._batch import Batch
from stepwise.models._losses import LossSums, extractive_loss, stepwise_loss
from stepwise.models._plan_value import PlanValueConfig

# `(params, batch, rng) -> LossSums`; no rng means no dropout.
Loss = Callable[..., LossSums]


class Limits(NamedTuple):
  """What a model can read; None = it sets no limit of its own.

  Attributes:
    tokens: of a record, those of special units counted.
    units: of a record, special ones counted.
    unit_tokens: of one unit.
    plan: units of a plan, BEG not counted.
  """

  tokens: int | None = None
  units: int | None = None
  unit_tokens: int | None = None
  plan: int | None = None


class BatchSizes(NamedTuple):
  """Which lengths of batches are worth a program of their own.

  Attributes:
    least: tokens of the shortest.
    ratio: of one length to the next shorter one.
    multiple: lengths are multiples of it.
    one_length: the work does not depend on the length: the longest serves all.
    least_units: units of the smallest batch.
  """

  least: int = 32
  ratio: float = 2.0
  multiple: int = 1
  one_length: bool = False
  least_units: int = 32


class PretrainedParts(NamedTuple):
  """Where the parts of a pretrained BERT or RoBERTa go in a model.

  Attributes:
    sizes: of the encoder that takes the embeddings and the bottom layers; those
      of the source must fit.
    positions: that the source must have at least.
    path: of that encoder among the parameters; '' = they are all its own.
    global_local: its layers are those of ETC, not of BERT.
    further: path of a layer that is not of the encoder, and its number in the
      source.
    min_layers: that the source must have; None = exactly those of `sizes`.
    fresh: beginnings of paths that no pretrained model has.
    first_token: the delimiter that the model begins a text with; None = none.
  """

  sizes: Any
  positions: int
  path: str = 'encoder'
  global_local: bool = False
  further: Mapping[str, int] = {}
  min_layers: int | None = None
  fresh: tuple[str, ...] = ('scorer',)
  first_token: int | None = None


class ModelConfig:
  """The sizes of a model, and everything about it that others ask.

  A subclass is a frozen dataclass. It has at least `vocab`, `embed`, `build`
  and, if it is stepwise, `begin_unit`.

  Attributes:
    chooses_units: of records; otherwise the model writes text, or pretrains.
    pretrains: it is an encoder that learns from masked documents, for others.
    needs_weights: False for baselines.
    needs_targets: it looks at what it should choose, as an oracle does.
    gives_probabilities: its scores mean some.
    incremental: the module can read a plan unit by unit too: it has
      `begin_plan(memory, steps) -> state` and `extend_plan(memory, state, unit,
      position) -> (logits, state)`.
    rereads: it reads the document anew with every plan, as text.
    begin_unit: the unit that opens every plan; None = it is not stepwise.
    vocab: rows of the token table.
    embed: width of the states.
  """

  chooses_units = True
  pretrains = False
  needs_weights = True
  needs_targets = False
  gives_probabilities = True
  incremental = False
  rereads = False
  begin_unit: int | None = None
  # Fields or properties of subclasses.
  vocab: int
  embed: int

  def build(self) -> nn.Module:
    """The module: `encode(batch)` and `score(memory, plan)`."""
    raise NotImplementedError

  def build_for(self, unit_tokens: int) -> nn.Module:
    """The module for documents without units longer than this.

    It may leave out work that longer ones would need; scores are the same.
    """
    del unit_tokens
    return self.build()

  @property
  def stepwise(self) -> bool:
    """Whether it chooses one unit after another, reading its plan."""
    return self.begin_unit is not None

  @property
  def values_plans(self) -> PlanValueConfig | None:
    """Of a model that can tell what whole plans are worth: of which sets."""
    return None

  @property
  def special_units(self) -> tuple[str, ...]:
    """Names of the special units that its records begin with."""
    if not self.stepwise:
      return ()
    # Of news and of tables, whose plans have sentence breaks.
    return ('eot', 'beg') if self.begin_unit == 1 else ('eos', 'eot', 'beg')

  def late_stop(self, odds: float) -> tuple[int, float] | None:
    """The unit that ends a plan and its odds, for `late_stop` of losses."""
    return None if odds == 1 else (self.special_units.index('eot'), odds)

  @property
  def limits(self) -> Limits:
    return Limits()

  @property
  def batch_sizes(self) -> BatchSizes:
    return BatchSizes()

  def smallest_inputs(self) -> tuple[Any, ...]:
    """To initialise the module with: parameters depend on no sizes of these."""
    tokens = jnp.zeros((1, 1), jnp.int32)
    mask = jnp.ones((1, 1), bool)
    return (Batch(tokens, tokens, mask, plan=tokens, targets=tokens),)

  def loss(
    self,
    module: nn.Module,
    *,
    positive_weight: float = 1.0,
    sample: int = 0,
    stages: int = 1,
    rest_share: float = 0.0,
    stop_odds: float = 1.0,
  ) -> Loss:
    """What training minimises.

    Args:
      module: built from this configuration.
      positive_weight: of units of the oracle, if the model is not stepwise.
      sample: learn so many steps of every document, drawn at random, if it
        is; 0 = all.
      stages: parts of plans that these steps are drawn from.
      rest_share: of a step's probability, what later units share, if it is.
      stop_odds: of the end of a plan, see `late_stop`, if it is.
    """
    if not self.stepwise or self.begin_unit is None:
      return functools.partial(
        extractive_loss, module, positive_weight=positive_weight
      )
    never = (self.begin_unit,)
    return functools.partial(
      stepwise_loss,
      module,
      never=never,
      sample=sample,
      stages=stages,
      rest_share=rest_share,
      stop=self.late_stop(stop_odds),
    )

  def twin(self) -> 'ModelConfig':
    """The non-stepwise twin: the same body, without a plan."""
    raise InputError(f'{type(self).__name__} has no non-stepwise twin.')

  def with_settings(self, **settings: Any) -> 'ModelConfig':
    """The same sizes with other settings of the encoder that reads tokens.

    Such are `dropout`, `dtype` (of activations), `remat`, `scan_layers`,
    `activation` and `norm_epsilon`; a model may have others or lack some.
    """
    return replace_settings(self, settings)

  def spread_length(self) -> 'ModelConfig':
    """The same model, its long axis on the axis `sequence` of a mesh."""
    raise InputError(
      f'{type(self).__name__} cannot spread the tokens of a document over'
      ' devices, ETCSum can.'
    )

  @property
  def numerics(self) -> dict[str, Any]:
    """The settings that trained weights depend on."""
    encoder = _find_part(self, 'activation')
    if encoder is None:
      return {}
    epsilon = getattr(encoder, 'norm_epsilon', None)
    return {
      'activation': encoder.activation,
      'norm_epsilon': encoder.epsilon if epsilon is None else epsilon,
    }

  def pretrained_parts(self, layers: int) -> PretrainedParts:
    """How the model starts from a BERT or RoBERTa of that many layers."""
    raise InputError(f'{type(self).__name__} has no pretrained source.')


def replace_settings(sizes: Any, settings: Mapping[str, Any]) -> Any:
  """A dataclass with other values of some fields; refuses those it lacks."""
  known = {field.name for field in dataclasses.fields(sizes)}
  if lacking := sorted(settings.keys() - known):
    raise InputError(
      f'{type(sizes).__name__} has no setting {", ".join(lacking)}.'
    )
  return dataclasses.replace(sizes, **settings)


def _find_part(sizes: Any, field: str) -> Any:
  """The outermost dataclass that has a field; None if none has."""
  if not dataclasses.is_dataclass(sizes):
    return None
  names = [field.name for field in dataclasses.fields(sizes)]
  if field in names:
    return sizes
  parts = (_find_part(getattr(sizes, name), field) for name in names)
  return next((part for part in parts if part is not None), None)


def check_unit_tokens(unit_tokens: int, positions: int) -> None:
  """Refuses units of more tokens than there are positions."""
  if not 1 < unit_tokens <= positions:
    raise InputError(
      f'max_unit_tokens is {unit_tokens}; 2 to {positions} '
      '(the token positions) are possible.'
    )


# Kinds of configurations by the name that bundles store, and named sizes.
_KINDS: dict[str, type[ModelConfig]] = {}
CONFIGS: dict[str, ModelConfig] = {}


def register_model(
  kind: type[ModelConfig],
  configs: Mapping[str, ModelConfig] = {},
  *,
  stored_as: str | None = None,
) -> None:
  """Makes a kind of model known.

  Args:
    kind: its configuration, a frozen dataclass.
    configs: named sizes, for `stepwise train --model NAME` and `find_config`.
    stored_as: its name in bundles; None = that of the class.
  """
  name = stored_as or kind.__name__
  if _KINDS.get(name, kind) is not kind:
    raise InputError(f'another model is registered as {name}.')
  if taken := sorted(CONFIGS.keys() & configs.keys()):
    raise InputError(f'configurations are named {", ".join(taken)} already.')
  _KINDS[name] = kind
  CONFIGS.update(configs)


def find_config(name: str) -> ModelConfig:
  """The configuration of that name."""
  if name not in CONFIGS:
    raise InputError(
      f'no configuration is named {name!r}, there are {", ".join(CONFIGS)}.'
    )
  return CONFIGS[name]


def stored_name(config: ModelConfig) -> str:
  """The name under which bundles store configurations of this kind."""
  for name, kind in _KINDS.items():
    if kind is type(config):
      return name
  raise InputError(
    f'{type(config).__name__} is not a model; see register_model.'
  )


def find_kind(name: str) -> type[ModelConfig]:
  """The kind of configurations that bundles store under this name."""
  if name not in _KINDS:
    raise InputError(
      f'no configuration is of type {name!r}, there are {", ".join(_KINDS)}.'
    )
  return _KINDS[name]
