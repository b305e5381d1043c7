from stepwise.rotowire import rotowire_schema


def test_rotowire_has_the_entries_of_the_paper():
  kinds = rotowire_schema().kinds
  # Rows of the paper's table of templates: 1, 16 and 23.
  counts = {name: len(kind.templates) for name, kind in kinds.items()}
  assert counts == {'match': 1, 'team': 16, 'player': 23}
  assert kinds['team'].repeatable == {'TEAM-NAME', 'TEAM-CITY'}
  assert not kinds['player'].repeatable
  assert kinds['player'].drop_zeros and not kinds['team'].drop_zeros
