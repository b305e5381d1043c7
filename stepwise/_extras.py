"""Libraries that only some jobs need: the extras of `pip install`."""

import contextlib
from collections.abc import Iterator

from stepwise._errors import InputError

# Modules of every extra that code asks for with `needs`.
EXTRAS: dict[str, tuple[str, ...]] = {
  'train': ('gin', 'grain', 'optax', 'orbax'),
  'metrics': ('rapidfuzz', 'rouge_score', 'sacrebleu', 'scipy'),
  'tables': ('pyarrow',),
  'files': ('pypdf', 'trafilatura', 'zstandard'),
  'serve': ('jsonschema', 'prometheus_client', 'starlette', 'uvicorn'),
  'plots': ('matplotlib',),
  'tensorboard': ('tensorboardX',),
  'gcs': ('gcsfs', 'google'),
  'beam': ('apache_beam',),
  'dask': ('apache_beam', 'dask', 'distributed'),
  'tasks': ('seqio', 'tensorflow', 'tensorflow_text', 'apache_beam'),
}


class MissingLibrary(InputError, ImportError):
  """A library of an extra is not installed."""


@contextlib.contextmanager
def needs(extra: str, job: str) -> Iterator[None]:
  """Around imports: a missing library is one sentence that says what to do."""
  try:
    yield
  except ModuleNotFoundError as error:
    library = (error.name or '').partition('.')[0]
    if library not in EXTRAS[extra]:
      raise
    raise MissingLibrary(
      f"{job} needs {library}: pip install 'stepwise[{extra}]'."
    ) from None
