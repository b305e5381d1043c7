"""`stepwise gin`: where the run files are."""

from pathlib import Path

import stepwise
from stepwise._errors import InputError


def gin() -> None:
  """Print the folder of the run files, for --gin FOLDER/FILE.

  requirements-t5x.txt is beside it; t5x finds the files with
  --gin_search_paths=$(dirname $(stepwise gin)).
  """
  package = Path(stepwise.__file__).parent
  # In a wheel, and in a checkout.
  for root in (package / 'run_files', package.parent):
    if (root / 'gin' / 'runs').is_dir():
      print(root / 'gin')
      return
  raise InputError('the run files are not installed: reinstall stepwise.')
