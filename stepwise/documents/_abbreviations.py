"""Word lists of the sentence splitter; written as they are printed in text."""


def _words(text: str) -> frozenset[str]:
  """The words of `text`, each also in capitals (`Inc`, `INC`)."""
  words = text.split()
  return frozenset(words) | frozenset(word.upper() for word in words)


# A name follows: never the end of a sentence.
TITLES = _words("""
  Mr Mrs Ms Mx Messrs Dr Drs Prof Asst Assoc Gen Lt Col Maj Capt Cmdr Cdr Sgt
  Cpl Pvt Spc Pfc Adm Brig Sen Sens Rep Reps Gov Govs Pres Rev Fr Hon Supt
  Insp Det Amb Atty Sra Srta Dra Hr Fa vs Vs v cf viz incl Apt Bldg e.g i.e
  E.g I.e z.B d.h
""")

# A number follows (`No. 5`, `p. 12`); otherwise an ordinary word.
NUMBERED = _words("""
  No Nos no nos Nr Fig Figs fig figs Eq eq Vol vol vols p pp Sec sec Ch ch Art
  art ca c approx Op op ft para Rte
""")

# May or may not end a sentence: the next word decides.
ABBREVIATIONS = _words("""
  Inc Corp Co Cos Ltd Bros Jr Sr Esq Ph.D Ed.D St Mt Ft Pt Ave Blvd Rd Hwy Sq
  Dept Univ Assn Est est al dept deg max ext resp usw bzw ggf evtl EE
  Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec
  Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun
  Ala Ariz Ark Calif Colo Conn Del Fla Ga Ill Ind Kan Ky La Mass Md Mich Minn
  Miss Mo Mont Neb Nev Okla Ore Pa Tenn Tex Va Vt Wash Wis Wyo
  Lab Con Dem Ont Que
""")

# What may follow `8 p.m.` within a sentence, besides time zones in capitals.
CLOCK = _words('a.m p.m am pm')
AFTER_CLOCK = _words("""
  Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mon Tue Tues Wed Thu
  Thur Thurs Fri Sat Sun January February March April May June July August
  September October November December Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct
  Nov Dec Eastern Central Mountain Pacific Greenwich British
""")

# Words that are capitalised only because they begin a sentence. Words that
# also begin names (Will, May, Mark) are left out on purpose.
STARTERS = _words("""
  A An The This That These Those There Here He She It We They You I His Her
  Its Our Their My Your Who What When Where Why How Which While If As Although
  Though Because But And Or So Yet Nor Not Then Now However Meanwhile Also
  Still Even Just Only Many Most Some Any All Both Each Every Several Few
  Other Others Another One Two Three In On At By For From With Without Within
  After Before During Since Until To Of Is Are Was Were Do Does Did Has Have
  Had Can Could Would Should Might Must Let Please No Nobody Nothing Everyone
  Everybody Someone Something Once Under Over Between Among Above According
  Despite Like Unlike Instead Perhaps Maybe Later Earlier Today Yesterday
  Tomorrow Yes Again Through Throughout Besides Moreover
  Therefore Thus Whether Such Asked Speaking Never Next Last Out Up More
  Less Fewer Whatever Whenever About Around Against Across Along
""")

# Names that end in a mark of their own.
MARKED_NAMES = _words('Yahoo Jeopardy Oklahoma Mamma Guess E')

# `am 5. Mai`: an ordinal, not the end of a sentence.
GERMAN_MONTHS = _words("""
  Januar Jänner Februar März April Mai Juni Juli August September Oktober
  November Dezember
""")
