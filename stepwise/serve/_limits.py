"""How much the server takes on."""

from dataclasses import dataclass

from stepwise._errors import InputError


@dataclass(frozen=True)
class Limits:
  """What is refused, with the status that says so.

  Attributes:
    body: bytes of a request (413).
    sentences: of a text, and entries of a table (413).
    seconds: that a text or table may take, waiting included (504).
    queue: texts and tables that are waited for at a time (429).
    batch: that are decoded together.
  """

  body: int = 16 * 2**20
  sentences: int = 5000
  seconds: float = 120.0
  queue: int = 64
  batch: int = 8

  def __post_init__(self) -> None:
    for name, value in vars(self).items():
      if not value > 0:
        raise InputError(f'{name} is {value}, must be above 0.')
