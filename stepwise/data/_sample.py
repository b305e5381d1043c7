"""Random parts of a file that share no line."""

import os
import random
from collections.abc import Mapping
from pathlib import Path

from stepwise._errors import InputError
from stepwise._files import open_for_reading, replace_when_done


def sample_lines(
  source: str | os.PathLike[str], sizes: Mapping[Path, int], *, seed: int
) -> None:
  """Draws lines of `source` into files of the given sizes, without overlap.

  The draw depends on the seed and the number of lines alone; every file keeps
  the order of the source and is complete when it appears.
  """
  with open_for_reading(Path(source)) as stream:
    lines = [line for line in stream if line.strip()]
  needed = sum(sizes.values())
  if needed > len(lines):
    raise InputError(
      f'{source} has {len(lines)} lines, but {needed} are asked for.'
    )
  drawn = random.Random(seed).sample(range(len(lines)), needed)
  start = 0
  for path, size in sizes.items():
    with replace_when_done(Path(path)) as stream:
      for index in sorted(drawn[start : start + size]):
        stream.write(lines[index].rstrip(b'\n') + b'\n')
    start += size
