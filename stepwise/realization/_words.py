"""Words that reports of games share."""

# Amounts below ten are written in letters.
DIGITS = (
  *('zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'),
  'nine',
)
# Written with a capital letter, and nobody's name.
COMMON = frozenset({'FG', '3Pt', 'FT', 'NBA', 'MVP', 'I', 'All', 'Star'})
