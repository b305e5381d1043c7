"""Days by name, in English whatever the locale of the machine."""

import datetime

WEEKDAYS = (
  *('Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'),
  'Sunday',
)


def weekday(date: datetime.date) -> str:
  """
  >>> weekday(datetime.date(2016, 12, 25))
  'Sunday'
  """
  return WEEKDAYS[date.weekday()]
