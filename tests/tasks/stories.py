"""Small documents, written for these tests, and files of them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

STORIES = (
  {
    'id': 'ferry',
    'article': (
      'The ferry left the harbour at dawn. Nobody saw the captain on deck. '
      'A storm was forecast for noon. The crew of nine turned back early. '
      'Tickets will be refunded, the company said.'
    ),
    'highlights': (
      'The crew of nine turned back before a storm.\n'
      'The company will refund tickets.'
    ),
  },
  {
    'id': 'garden',
    'article': [
      'Zoë planted 40 tulips. They bloomed in April, “early”, she said.',
      'Neighbours came to look.',
    ],
    'highlights': ['Tulips bloomed early in April.'],
  },
  {
    'id': 'bridge',
    'article': (
      'The old bridge reopened on Monday. It had been closed for two years. '
      'Engineers replaced all cables. Drivers no longer need the detour.'
    ),
    'highlights': (
      'Old bridge reopened on Monday.\nDrivers no longer need the detour.\n'
      'Engineers replaced cables.'
    ),
  },
  {
    # Shares no word with its summary: an empty oracle.
    'id': 'strange',
    'article': 'Rain fell. Wind blew.',
    'highlights': 'Completely unrelated statement.',
  },
)


def write_stories(
  path: Path, stories: Sequence[Mapping[str, object]] = STORIES
) -> str:
  path.write_text(''.join(f'{json.dumps(story)}\n' for story in stories))
  return str(path)
