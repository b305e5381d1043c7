"""Word lists of the sentence splitter; written as they are printed in text."""

# ruff: noqa: RUF001 (words of many scripts)

from dataclasses import dataclass
from typing import Any


def _words(text: str) -> frozenset[str]:
  """The words of `text`, each also in capitals (`Inc`, `INC`)."""
  words = text.split()
  return frozenset(words) | frozenset(word.upper() for word in words)


# A name follows: never the end of a sentence.
_TITLES = _words("""
  Mr Mrs Ms Mx Messrs Dr Drs Prof Asst Assoc Gen Lt Col Maj Capt Cmdr Cdr Sgt
  Cpl Pvt Spc Pfc Adm Brig Sen Sens Rep Reps Gov Govs Pres Rev Fr Hon Supt
  Insp Det Amb Atty Sra Srta Dra Hr Fa vs Vs v cf viz incl Apt Bldg e.g i.e
  E.g I.e z.B d.h
""")

# A number follows (`No. 5`, `p. 12`); otherwise an ordinary word.
_NUMBERED = _words("""
  No Nos no nos Nr Fig Figs fig figs Eq eq Vol vol vols p pp Sec sec Ch ch Art
  art ca c approx Op op ft para Rte
""")

# May or may not end a sentence: the next word decides.
_ABBREVIATIONS = _words("""
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
_STARTERS = _words("""
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


@dataclass(frozen=True)
class Language:
  """What decides whether a stop ends a sentence.

  Attributes:
    titles: a name or another word follows, never the end of a sentence.
    numbered: a number follows, or else it is an ordinary word.
    abbreviations: may or may not end a sentence: the next word decides.
    starters: words capitalised only because they begin a sentence.
    ordinals: `3.` is `third`, unless a starter follows.
    months: after an ordinal, never the beginning of a sentence.
    elides: a word may be glued to an article: `l'avv.`
    streets: how words end that are abbreviated before a number.
    opening: a mark that opens quotations here and closes them elsewhere.
  """

  titles: frozenset[str]
  numbered: frozenset[str]
  abbreviations: frozenset[str]
  starters: frozenset[str]
  ordinals: bool = False
  months: frozenset[str] = frozenset()
  elides: bool = False
  streets: str = ''
  opening: str = ''


_GERMAN_MONTHS = _words("""
  Januar Jänner Februar März April Mai Juni Juli August September Oktober
  November Dezember
""")

ENGLISH = Language(
  _TITLES, _NUMBERED, _ABBREVIATIONS, _STARTERS, months=_GERMAN_MONTHS
)


def _language(
  titles: str,
  numbered: str,
  abbreviations: str,
  starters: str,
  **marks: Any,
) -> Language:
  # Names of companies and initials of degrees are the same everywhere.
  common = _words('Inc Corp Co Ltd Jr Sr Ph.D St vs al')
  return Language(
    _words(f'{titles} {titles.lower()}'),
    _words(numbered),
    _words(abbreviations) | common,
    _words(starters),
    **marks,
  )


GERMAN = _language(
  """
  Hr Hrn Fr Frl Dr Prof Dipl Ing Fa Mag Med med Abg Gebr hl St Sr Jh z.B z.Hd
  d.h i.d.R u.a sog bzw vgl ca evtl ggf inkl exkl zzgl bspw insb insbes Univ
  Min Mind mind Max max Ministerpräs gest verh geb Geb i.A i.V o.g u.U z.T a.D
  """,
  'Nr Nrn rd Abb Abs Art Bd Kap S Tab Z Ziff Anl Abschn Tel Bl Jg Sp Rn Anm',
  """
  usw etc Mio Mrd Tsd Str Std Sek St Nr Jh Jhd Jahrh Chr v.Chr n.Chr Co Hbf Jan
  Feb Mrz Apr Jun Jul Aug Sep Sept Okt Nov Dez Mo Di Mi Do Fr Sa So EUR Pf Stk
  Bhf Abt Hg Hrsg Aufl Verf Red ff f
  """,
  """
  Der Die Das Den Dem Des Ein Eine Einen Einem Einer Er Sie Es Wir Ihr Ich Man
  Und Aber Oder Doch Denn Dann Danach Dort Hier Da Dabei Damit Daher Deshalb
  Darum Auch Als Wenn Weil Obwohl Während Nachdem Bevor Ob Wer Was Wo Wie Warum
  Welche Welcher Welches Dieser Diese Dieses Diesen Diesem Jener Jene Jeder
  Jede Alle Viele Einige Manche Kein Keine Nicht Nur Noch Schon Nun Jetzt Heute
  Gestern Morgen Später Zuvor Zudem Außerdem Allerdings Jedoch Trotzdem Zwar Im
  In Am An Auf Aus Bei Bis Durch Für Gegen Mit Nach Ohne Seit Um Unter Über Von
  Vor Zu Zum Zur Zwischen Sein Seine Ihre Ihren Unser Mein Ist Sind War Waren
  Hat Haben Wird Werden Kann Können So Sonst Beide Laut Insgesamt Niemand Alles
  Nichts Etwas Weitere Andere Beim Vom
  """,
  ordinals=True,
  months=_GERMAN_MONTHS,
  streets='str',
  opening='»',
)

_FRENCH = _language(
  """
  M MM Mr Mme Mmes Mlle Mlles Dr Drs Pr Me Mgr Ste Sts Sté cf p.ex c.-à-d env
  apr av bd Gal Col Cne Lt Vve
  """,
  'no nos n art p pp chap fig vol tél t éd bd av boul ch env ca al',
  """
  etc M janv févr avr juil sept oct nov déc lun mar mer jeu ven sam dim Cie
  J.-C min max dép hab réf
  """,
  """
  Le La Les L Un Une Des Du De Il Elle Ils Elles On Nous Vous Je Tu Ce Cet
  Cette Ces C Cela Ça Mais Et Ou Donc Or Ni Car Puis Alors Ensuite Enfin Ainsi
  Aussi Pour Par Avec Sans Sous Sur Dans En Au Aux À Après Avant Depuis Pendant
  Quand Lorsque Si Comme Que Qui Quel Quelle Où Pourquoi Comment Selon Son Sa
  Ses Leur Leurs Notre Nos Votre Vos Mon Ma Mes Chaque Plusieurs Certains Tous
  Toutes Tout Aucun Personne Rien Cependant Pourtant Toutefois Hier Demain Est
  Sont Ici Là
  """,
  elides=True,
)
_SPANISH = _language(
  """
  Sr Sra Sres Sras Srta Dr Dra Dres Dras D Dña Lic Ing Arq Prof Profa Gral Cnel
  Cap Mons Fr Pbro Excmo Ilmo Ud Uds Vd Vds Av Avda C p.ej aprox EE
  """,
  'n s núm núms no pág págs art arts cap caps fig figs vol vols tel tomo apdo',
  """
  etc Cía S.A S.L UU EE.UU EEUU ene feb mar abr may jun jul ago sep sept oct
  nov dic a.C d.C máx mín hab
  """,
  """
  El La Los Las Lo Un Una Unos Unas Él Ella Ellos Ellas Yo Tú Nosotros Usted Se
  Su Sus Mi Mis Este Esta Estos Estas Ese Esa Eso Esto Aquel Aquella Pero Y E O
  U Ni Pues Entonces Luego Después Antes Además También Tampoco Así Sin Con Por
  Para De Del Desde Hasta En Entre Sobre Según Bajo Tras Durante A Al Cuando
  Donde Como Si Aunque Porque Que Qué Quién Quienes Cada Todos Todas Todo Nadie
  Nada Algunos Muchos Hoy Ayer Mañana Es Son Fue Era Está Hay No Sí Ya Aquí
  Allí Otro Otra
  """,
)
_ITALIAN = _language(
  """
  Sig Sigg Sig.ra Sig.na Dott Dott.ssa Dr Prof Prof.ssa Avv Ing Arch Geom Rag
  On Gen Col Cap Mons Don S p.es ad.es cfr Egr Gent Spett
  """,
  'n nn p pp pag pagg art artt cap capp fig figg vol voll tel tab c ca circa',
  """
  ecc etc S.p.A S.r.l a.C d.C gen feb mar apr mag giu lug ago set sett ott nov
  dic min max ab
  """,
  """
  Il Lo La I Gli Le L Un Uno Una Egli Lui Lei Loro Essi Io Tu Noi Voi Si Suo
  Sua Questo Questa Questi Queste Quello Quella Ma E Ed O Od Però Quindi Poi
  Allora Dopo Prima Inoltre Anche Così Senza Con Per Di Del Della Dei Da Dal In
  Nel Nella Su Sul Sulla Tra Fra Secondo Durante A Al Alla Quando Dove Come Se
  Anche Perché Che Chi Ogni Tutti Tutte Tutto Nessuno Niente Alcuni Molti Oggi
  Ieri Domani È Era Sono Non Sì Già Qui Ecco Mentre Intanto Infine Infatti
  Tuttavia
  """,
  elides=True,
)
_PORTUGUESE = _language(
  """
  Sr Sra Srs Sras Srta Dr Dra Drs Prof Profa D Eng Arq Exmo Exma V Gen Cel Cap
  Pe Fr p.ex aprox Av
  """,
  'n nº núm pág págs p pp art arts cap caps fig figs vol vols tel tab',
  """
  etc S.A Ltda Cia a.C d.C jan fev mar abr mai jun jul ago set out nov dez máx
  mín hab
  """,
  """
  O A Os As Um Uma Uns Umas Ele Ela Eles Elas Eu Tu Nós Você Vocês Seu Sua Seus
  Este Esta Esse Essa Isso Isto Aquele Aquela Mas E Ou Porém Então Depois Antes
  Também Além Assim Sem Com Por Para De Do Da Dos Das Desde Até Em No Na Nos
  Nas Entre Sobre Segundo Sob Durante Ao À Quando Onde Como Se Embora Porque
  Que Quem Cada Todos Todas Tudo Ninguém Nada Alguns Muitos Hoje Ontem Amanhã É
  São Foi Era Está Há Não Sim Já Aqui Ali Outro Outra Enquanto Contudo
  """,
)
_DUTCH = _language(
  """
  dhr Dhr mevr Mevr mw Mw dr Dr drs Drs ir Ir ing Ing mr Mr prof Prof ds Ds St
  bijv bv d.w.z d.m.v o.a t.o.v t.g.v i.p.v m.b.t n.a.v zgn ca resp incl excl
  vgl cf jhr
  """,
  'nr nrs blz p art hfst fig tab deel tel ca afd',
  """
  enz etc e.d jan feb mrt apr jun jul aug sep sept okt nov dec ma di wo do vr
  za zo a.u.b v.Chr n.Chr min max mln mld
  """,
  """
  De Het Een Hij Zij Ze We Wij Ik Jij Je U Jullie Zijn Haar Hun Ons Onze Dit
  Dat Deze Die En Maar Of Want Dus Toen Dan Daarna Daarom Daar Hier Er Ook Als
  Wanneer Omdat Hoewel Terwijl Nadat Voordat Wie Wat Waar Hoe Waarom Welke Elke
  Alle Veel Sommige Geen Niet Nog Nu Vandaag Gisteren Morgen Later Bovendien
  Echter Toch In Op Aan Bij Met Naar Om Onder Over Uit Van Voor Tegen Tot
  Tijdens Volgens Sinds Is Was Waren Heeft Hebben Wordt Kan Zo Niemand Niets
  Iedereen Na Door
  """,
)
_RUSSIAN = _language(
  """
  г-н г-жа гр тов проф акад доц им ул пр пл пер просп д кв корп стр обл р-н
  напр т.н т.е т.к т.д.т св инж ген полк кап о-в оз р с дер пос
  """,
  '№ рис табл гл с стр п пп ст ч т вып см ок разд',
  """
  г гг в вв тыс млн млрд трлн руб коп др пр т.д т.п т.ч н.э чел кг км м см мин
  сек час янв февр апр авг сент окт нояб дек
  """,
  """
  Он Она Они Оно Мы Вы Я Ты Это Эта Этот Эти Тот Та Те То Но И А Или Да Однако
  Потом Затем Поэтому Также Так Как Когда Если Хотя Потому Где Кто Что Почему
  Зачем Какой Какая Каждый Все Всё Никто Ничто Некоторые Многие Сегодня Вчера
  Завтра В Во На По С Со К Ко Из От До За Для Без При Через После Перед Между
  Под Над О Об У Его Её Их Наш Мой Не Уже Ещё Там Здесь Теперь Сейчас Был Была
  Были Есть Нет Кроме Вместо Согласно
  """,
)

_ARABIC = _language('د م أ ا أ.د د.م ت ص', 'ص رقم ج ط', 'إلخ الخ هـ م', '')

_LANGUAGES = {
  'ar': _ARABIC,
  'de': GERMAN,
  'fr': _FRENCH,
  'es': _SPANISH,
  'it': _ITALIAN,
  'pt': _PORTUGUESE,
  'nl': _DUTCH,
  'ru': _RUSSIAN,
}


def language_rules(code: str) -> Language:
  """Rules of a language, or those of English, which do for many others."""
  return _LANGUAGES.get(code, ENGLISH)
