"""A small grammar of English and French: true sentence pairs, and for each French word the English ones it renders.

French agrees in gender and number, puts most adjectives behind the noun, puts its verb between "ne" and "pas", and has
one word for "of the": so the words are not in the same order, and some translate two.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from demos.files import Json

VOWELS = "aeiouyéèêàâîôh"  # each h of the lexicon's nouns is silent
PRONOUNS = {"i": ("je", 0), "he": ("il", 1), "she": ("elle", 1), "we": ("nous", 2), "they": ("ils", 3)}
BE = (("am", "suis"), ("is", "est"), ("are", "sommes"), ("are", "sont"))  # by person, as a verb's forms
WAS = (("was", "étais"), ("was", "était"), ("were", "étions"), ("were", "étaient"))

HELD_OUT, SEED = 500, 0  # the first pairs are never trained on
Words = list[tuple[str, tuple[int, ...]]]  # French words, each with the places of its English ones


@dataclass(frozen=True)
class Pair:
    """A sentence and its translation. `links[m]` are the places in `source` of what `target[m]` renders."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Noun:
    """A noun phrase in the making: what its verb must agree with, and its words."""

    person: int  # 0 I, 1 he/she/it, 2 we, 3 they
    feminine: bool
    english: list[str]
    french: Words  # places counted from the phrase's first word

    @property
    def form(self) -> int:
        """The one of an adjective's four forms that agrees with it: one or several, masculine or feminine."""
        return 2 * (self.person >= 2) + self.feminine


@cache
def lexicon() -> Json:
    """The words, as lexicon.yaml lists them; `workers` are the professions as masculine nouns."""
    words: Json = yaml.safe_load(Path(__file__).with_name("lexicon.yaml").read_text(encoding="utf-8"))
    words["workers"] = [
        [singular, plural, un, plusieurs, "m"] for singular, plural, un, _, plusieurs, _ in words["professions"]
    ]
    return words


def sentences(count: int, seed: int) -> list[Pair]:
    """So many different pairs, the same for the same seed; `example()` and `student()` come first."""
    return distinct((example(), student()), _sentence, count, seed)


def distinct(first: Sequence[Pair], make: Callable[[random.Random], Pair], count: int, seed: int) -> list[Pair]:
    """The first pairs, and those that `make` draws, until there are so many with different sources."""
    draw = random.Random(seed)
    pairs = {pair.source: pair for pair in first}
    while len(pairs) < count:
        pair = make(draw)
        pairs.setdefault(pair.source, pair)
    return list(pairs.values())


def example() -> Pair:
    """The phrase of Bahdanau et al. 2015, figure 3: three words that come in the opposite order in French."""
    words = lexicon()
    paper, topic = words["papers"][0], words["topics"][0]
    adjectives = [("european", words["origins"]["european"]), ("economic", words["kinds"]["economic"])]
    phrases = _phrase(paper, "the", False, [], []), _phrase(topic, "the", False, [], adjectives)
    return _pair(*_done(*phrases, "signed", ("august", "1992")))


def student() -> Pair:
    """i am a student: je suis étudiant, a word less, since French names a profession without an article."""
    subject = _pronoun("i")
    return _pair(*_with_predicate(subject, BE, False, *_profession(lexicon()["professions"][0], subject)))


@cache
def held_out() -> tuple[Pair, ...]:
    """The pairs that no translator of this program is trained on."""
    return tuple(sentences(HELD_OUT, SEED))


def _sentence(draw: random.Random) -> Pair:
    make = draw.choices([_acts, _rests, _is_someone, _is_like, _was_done], [5, 3, 2, 2, 3])[0]
    return _pair(*make(draw))


def _pair(english: list[str], french: Words) -> Pair:
    """With the full stop."""
    return Pair((*english, "."), (*(word for word, _ in french), "."), (*(to for _, to in french), (len(english),)))


def _acts(draw: random.Random) -> tuple[list[str], Words]:
    """the black cat does not see my house"""
    verbs, groups = draw.choice([("acts", ("animals", "people", "workers", "things"))] * 3 + [("trades", ("things",))])
    denied = draw.random() < 0.25  # "pas un" would be "pas de": no indefinite object
    rest = _noun(draw, groups, full=draw.random() < 0.5, indefinite=not denied)
    return _with_verb(draw, draw.choice(lexicon()[verbs]), denied, rest)


def _rests(draw: random.Random) -> tuple[list[str], Words]:
    """my cats sleep under the big table"""
    preposition, french, names = draw.choice(lexicon()["places"])
    place = _noun(draw, ("things",), only=names)
    where = Noun(1, False, [preposition, *place.english], [(french, (0,)), *_moved(place.french, 1)])
    return _with_verb(draw, draw.choice(lexicon()["rests"]), draw.random() < 0.25, where)


def _with_verb(draw: random.Random, verb: Sequence[str], denied: bool, rest: Noun) -> tuple[list[str], Words]:
    """A subject, its verb, perhaps denied, and what follows."""
    if draw.random() < 0.35:
        subject = _pronoun(draw.choice(list(PRONOUNS)))
    else:
        subject = _noun(draw, ("animals", "people", "workers"))
    form, at = verb[2 + subject.person], len(subject.english)
    if denied:
        english = [*subject.english, "does" if subject.person == 1 else "do", "not", *verb[1].split()]
        french = _conjugated(subject.french, form, tuple(range(at + 2, len(english))), at + 1)
    else:
        english = [*subject.english, *verb[0 if subject.person == 1 else 1].split()]
        french = _conjugated(subject.french, form, tuple(range(at, len(english))))
    return [*english, *rest.english], [*french, *_moved(rest.french, len(english))]


def _is_someone(draw: random.Random) -> tuple[list[str], Words]:
    """i am a student: je suis étudiant; my queens were not tired: mes reines n'étaient pas fatiguées"""
    words = lexicon()
    if draw.random() < 0.5:
        subject = _pronoun(draw.choice(list(PRONOUNS)))
    else:
        subject = _noun(draw, ("people",), full=draw.random() < 0.3, indefinite=False)
    if draw.random() < 0.7:
        predicate = _profession(draw.choice(words["professions"]), subject)
    else:
        name, forms = draw.choice(list({**words["states"], **words["origins"], **words["before_noun"]}.items()))
        predicate = [name], forms[subject.form]
    return _with_predicate(subject, *_tense(draw), *predicate)


def _pronoun(who: str) -> Noun:
    """she: elle"""
    french, person = PRONOUNS[who]
    return Noun(person, who == "she", [who], [(french, (0,))])


def _profession(forms: Sequence[str], of: Noun) -> tuple[list[str], str]:
    """(a student, étudiant) or (students, étudiantes): English has an article, French none."""
    singular, plural, *french = forms
    return [plural] if of.person >= 2 else ["a", singular], french[of.form]


def _tense(draw: random.Random) -> tuple[Sequence[tuple[str, str]], bool]:
    """Present or past; denied or not."""
    return draw.choice([BE, BE, WAS]), draw.random() < 0.3


def _with_predicate(
    subject: Noun, tense: Sequence[tuple[str, str]], denied: bool, predicate: list[str], word: str
) -> tuple[list[str], Words]:
    """The subject, to be, perhaps denied, and its predicate; its last English word is what `word` renders."""
    (is_, est), at = tense[subject.person], len(subject.english)
    english = [*subject.english, is_, *["not"] * denied, *predicate]
    french = _conjugated(subject.french, est, (at,), at + 1 if denied else None)
    return english, [*french, (word, (len(english) - 1,))]


def _conjugated(subject: Words, form: str, places: tuple[int, ...], denied_at: int | None = None) -> Words:
    """The subject and its verb, which renders the words at `places`; "ne … pas" round it where "not" is `denied_at`."""
    if denied_at is not None:
        return [*subject, ("n'" if form[0] in VOWELS else "ne", (denied_at,)), (form, places), ("pas", (denied_at,))]
    if subject[0][0] == "je" and form[0] in VOWELS:
        subject = [("j'", (0,))]
    return [*subject, (form, places)]


def _is_like(draw: random.Random) -> tuple[list[str], Words]:
    """these doors are green: ces portes sont vertes"""
    words, group = lexicon(), draw.choice(["animals", "people", "workers", "things"])
    phrase = _noun(draw, (group,), full=False)
    states = {} if group == "things" else words["states"]
    name, forms = draw.choice(list({**words["before_noun"], **words[_behind(group)], **states}.items()))
    return _with_predicate(phrase, *_tense(draw), [name], forms[phrase.form])


def _was_done(draw: random.Random) -> tuple[list[str], Words]:
    """the agreement on the european economic area was signed in august 1992"""
    phrase = _institution(draw, "papers")
    topic = _institution(draw, "topics") if draw.random() < 0.5 else None
    act = draw.choice(list(lexicon()["done"]))
    dated = draw.random() < 0.7
    date = (draw.choice(list(lexicon()["months"])), str(draw.choice(lexicon()["years"]))) if dated else None
    return _done(phrase, topic, act, date)


def _done(phrase: Noun, topic: Noun | None, act: str, date: tuple[str, str] | None) -> tuple[list[str], Words]:
    english, french = list(phrase.english), list(phrase.french)
    if topic is not None:
        at = len(english)
        english += ["on", *topic.english]
        french += [("sur", (at,)), *_moved(topic.french, at + 1)]
    many, at = phrase.person == 3, len(english)
    done = lexicon()["done"][act][phrase.form]
    english += ["were" if many else "was", act]
    french += [("ont" if many else "a", (at,)), ("été", (at,)), (done, (at + 1,))]
    if date is not None:
        (month, year), at = date, len(english)
        english += ["in", month, year]
        french += [("en", (at,)), (lexicon()["months"][month], (at + 1,)), (year, (at + 2,))]
    return english, french


def _institution(draw: random.Random, group: str) -> Noun:
    """the european economic area: la zone économique européenne"""
    words = lexicon()
    adjectives = [draw.choice(list(words[kind].items())) for kind in ("origins", "kinds") if draw.random() < 0.6]
    return _phrase(draw.choice(words[group]), "the", draw.random() < 0.2, [], adjectives)


def _noun(
    draw: random.Random, groups: Sequence[str], full: bool = True, indefinite: bool = True, only: Sequence[str] = ()
) -> Noun:
    """A determiner, perhaps adjectives, a noun of these groups, perhaps "of the ..."."""
    words = lexicon()
    group, noun = draw.choice(
        [(group, noun) for group in groups for noun in words[group] if not only or noun[0] in only]
    )
    before = [draw.choice(list(words["before_noun"].items()))] if full and draw.random() < 0.3 else []
    after = [draw.choice(list(words[_behind(group)].items()))] if full and draw.random() < 0.4 else []
    determiner = draw.choice(["the", "the", "the", "this", "my", *["a"] * indefinite])
    phrase = _phrase(noun, determiner, determiner != "a" and draw.random() < 0.35, before, after)
    if full and group == "things" and draw.random() < 0.3:
        phrase = _of(phrase, _phrase(draw.choice(words["people"]), "the", draw.random() < 0.3, [], []))
    return phrase


def _behind(group: str) -> str:
    """The adjectives that follow a French noun of this group."""
    return "origins" if group in ("people", "workers") else "colours"


def _phrase(
    noun: Sequence[str],
    determiner: str,
    many: bool,
    before: Sequence[tuple[str, Sequence[str]]],
    after: Sequence[tuple[str, Sequence[str]]],
) -> Noun:
    """English: determiner, `before`, `after`, noun. French: determiner, `before`, noun, `after` from last to first."""
    feminine = noun[4] == "f"
    form = 2 * many + feminine
    english = [name for name, _ in (*before, *after)] + [noun[1] if many else noun[0]]
    english.insert(0, _english_determiner(determiner, many, english[0]))
    last = len(english) - 1
    french: Words = [(forms[form], (1 + place,)) for place, (_, forms) in enumerate(before)]
    french += [(noun[3] if many else noun[2], (last,))]
    french += [(after[place][1][form], (1 + len(before) + place,)) for place in reversed(range(len(after)))]
    article = _determiner(lexicon()["determiners"][determiner], form, french[0][0])
    return Noun(3 if many else 1, feminine, english, [(article, (0,)), *french])


def _english_determiner(determiner: str, many: bool, following: str) -> str:
    if many:
        return "these" if determiner == "this" else determiner
    heard = following[0] in "aeiou" and not following.startswith("eu")  # an apple, a european girl
    return "an" if determiner == "a" and heard else determiner


def _determiner(forms: Sequence[str], form: int, following: str) -> str:
    """The form for gender and number; the singular ones before a vowel come last in the list."""
    if form < 2 and following[0] in VOWELS:
        before_vowel = forms[4:]
        return before_vowel[min(form, len(before_vowel) - 1)]
    return forms[form]


def _of(phrase: Noun, owner: Noun) -> Noun:
    """the door of the garden: la porte du jardin"""
    at = len(phrase.english)
    (article, _), *rest = _moved(owner.french, at + 1)
    if contracted := {"le": "du", "les": "des"}.get(article):
        linked: Words = [(contracted, (at, at + 1))]
    else:
        linked = [("de", (at,)), (article, (at + 1,))]
    return Noun(
        phrase.person, phrase.feminine, [*phrase.english, "of", *owner.english], [*phrase.french, *linked, *rest]
    )


def _moved(words: Words, by: int) -> Words:
    return [(word, tuple(place + by for place in places)) for word, places in words]
