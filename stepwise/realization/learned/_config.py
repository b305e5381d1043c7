"""How texts are searched for."""

from dataclasses import dataclass

from stepwise._errors import InputError

# Fills arrays up, and begins what the decoder reads. For the vocabulary of
# RoBERTa it is `<s>`, which no example has either; t5x does the same.
PAD = 0


@dataclass(frozen=True)
class SearchConfig:
  """Beam search over tokens.

  Attributes:
    beam_size: hypotheses kept; 1 = greedy search.
    max_tokens: of a sentence, the end token included.
    length_alpha: scores are totals over lengths to this power.
  """

  beam_size: int = 4
  max_tokens: int = 64
  length_alpha: float = 0.6

  def __post_init__(self) -> None:
    for name in ('beam_size', 'max_tokens'):
      if getattr(self, name) < 1:
        raise InputError(
          f'{name} is {getattr(self, name)}, must be at least 1.'
        )
