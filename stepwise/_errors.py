"""The one exception a user's mistake raises."""


class InputError(ValueError):
  """Bad input: one sentence saying what was given and what is needed.

  The command line prints the sentence and exits with code 2; every other
  exception is a bug of ours and keeps its traceback.
  """
