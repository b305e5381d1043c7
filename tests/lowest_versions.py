"""Constraints that give requirements of users their lowest allowed versions.

What only developers need (extras `dev` and `docs`) may be newer.

  python tests/lowest_versions.py > lowest.txt    # `make test-lowest`
"""

import re
import tomllib
from pathlib import Path

DEVELOPERS = ('dev', 'docs')
PROJECT = Path(__file__).parents[1] / 'pyproject.toml'


def lowest_versions(project: str) -> dict[str, str]:
  """Names and lowest versions of all requirements, those of extras included.

  A requirement that several extras have counts with its highest bound.
  """
  table = tomllib.loads(project)['project']
  extras = table.get('optional-dependencies', {})
  lines = [
    *table['dependencies'],
    *(
      x for job, asked in extras.items() if job not in DEVELOPERS for x in asked
    ),
  ]
  found: dict[str, str] = {}
  for line in lines:
    name, bound = re.match(
      r'([\w.-]+)(?:\[.*\])?(?:>=([\w.]+))?', line
    ).groups()
    if bound:
      found[name] = max(found.get(name, bound), bound, key=_parts)
  return found


def _parts(version: str) -> list[int]:
  return [int(part) for part in re.findall(r'\d+', version)]


if __name__ == '__main__':
  found = lowest_versions(PROJECT.read_text(encoding='utf-8'))
  print('\n'.join(f'{name}=={version}' for name, version in found.items()))
