"""The grammar's pairs: true, linked word by word, always the same."""

import pytest

from demos.bert.translation.alignment import small_words
from demos.bert.translation.grammar import PRONOUNS, Pair, example, held_out, lexicon, sentences, student

PAIRS = sentences(6_000, 0)


def test_all_are_different_and_the_same_again() -> None:
    assert len({pair.source for pair in PAIRS}) == len(PAIRS)
    assert sentences(300, 0) == PAIRS[:300]
    assert sentences(50, 1)[1:] != PAIRS[1:50]
    assert held_out() == tuple(PAIRS[: len(held_out())])


def test_what_is_held_out_is_new_and_yet_of_a_kind_that_is_trained_on() -> None:
    """No held-out sentence is trained on, in either language; each of its words is, and each pronoun's professions."""
    unseen, trained_on = held_out(), PAIRS[len(held_out()) :]
    assert unseen[:2] == (example(), student())
    assert not {pair.source for pair in unseen} & {pair.source for pair in trained_on}
    for side in ("source", "target"):
        seen = {word for pair in trained_on for word in getattr(pair, side)}
        assert {word for pair in unseen for word in getattr(pair, side)} <= seen
    professions = {name for one, many, *_ in lexicon()["professions"] for name in (one, many)}
    for pronoun in PRONOUNS:
        told = [pair for pair in trained_on if pair.source[0] == pronoun and pair.source[1] in ("am", "is", "are")]
        assert len({pair.source[-2] for pair in told if "not" not in pair.source} & professions) >= 3, pronoun


def test_an_article_goes_by_the_sound() -> None:
    for pair in PAIRS:
        for word, following in zip(pair.source, pair.source[1:], strict=False):
            if word in ("a", "an"):
                assert (word == "an") == (following[0] in "aeiou" and following != "european"), pair


def test_every_word_is_linked_within_its_sentence() -> None:
    for pair in PAIRS:
        assert len(pair.links) == len(pair.target)
        assert all(link and max(link) < len(pair.source) for link in pair.links)
        assert {"not"} & set(pair.source) == ({"not"} if "pas" in pair.target else set())


def test_content_words_are_linked_to_their_own_dictionary_entry() -> None:
    """Read from the lexicon alone: what each French content word may be in English."""
    words = lexicon()
    entries: dict[str, set[str]] = {}
    for group in ("animals", "people", "things", "papers", "topics"):
        for one, many, un, plusieurs, _ in words[group]:
            entries.setdefault(un, set()).add(one)
            entries.setdefault(plusieurs, set()).add(many)
    for one, many, *forms in words["professions"]:
        for place, form in enumerate(forms):
            entries.setdefault(form, set()).add(one if place < 2 else many)
    for group in ("before_noun", "colours", "origins", "kinds", "states", "done"):
        for name, forms in words[group].items():
            for form in forms:
                entries.setdefault(form, set()).add(name)
    for group in ("acts", "trades", "rests"):
        for third, other, *forms in words[group]:
            for form in forms:
                entries.setdefault(form, set()).update({third, other})
    for month, mois in words["months"].items():
        entries.setdefault(mois, set()).add(month)
    for year in map(str, words["years"]):
        entries.setdefault(year, set()).add(year)
    entries["suis"].add("am")
    checked = 0
    for pair in PAIRS:
        for word, link in zip(pair.target, pair.links, strict=True):
            if word not in small_words():
                assert " ".join(pair.source[place] for place in link) in entries[word], (word, pair)
                checked += 1
    assert checked > 20_000


@pytest.mark.parametrize(
    ("english", "french"),
    [  # translated by hand
        ("the cook does not look for the girl .", "le cuisinier ne cherche pas la fille ."),
        (
            "i do not sing under the small red trees of the women .",
            "je ne chante pas sous les petits arbres rouges des femmes .",
        ),
        ("a european girl laughs in the school .", "une fille européenne rit dans l' école ."),
        ("my horse is happy .", "mon cheval est heureux ."),
        ("these european men were not tired .", "ces hommes européens n' étaient pas fatigués ."),
        ("i was not a cook .", "je n' étais pas cuisinier ."),
        ("the women are not cooks .", "les femmes ne sont pas cuisinières ."),
        ("the american law was read .", "la loi américaine a été lue ."),
        ("i am a student .", "je suis étudiant ."),
        ("she is a teacher .", "elle est enseignante ."),
        ("we are students .", "nous sommes étudiants ."),
        ("they are bakers .", "ils sont boulangers ."),
    ],
)
def test_what_is_known(english: str, french: str) -> None:
    (pair,) = [pair for pair in PAIRS if " ".join(pair.source) == english]
    assert " ".join(pair.target) == french


def test_the_example_of_the_paper() -> None:
    pair = example()
    assert " ".join(pair.source) == "the agreement on the european economic area was signed in august 1992 ."
    assert " ".join(pair.target) == "l' accord sur la zone économique européenne a été signé en août 1992 ."
    assert [(pair.target[at], [pair.source[place] for place in pair.links[at]]) for at in (4, 5, 6)] == [
        ("zone", ["area"]),
        ("économique", ["economic"]),
        ("européenne", ["european"]),
    ]


def test_small_words_agree() -> None:
    """Elision, contraction, articles: what may follow what."""
    nouns = [noun for group in ("animals", "people", "things", "papers", "topics") for noun in lexicon()[group]]
    gender = {noun[2]: noun[4] for noun in nouns}
    vowels = tuple("aeiouéêh")
    for pair in PAIRS:
        for word, following in zip(pair.target, pair.target[1:], strict=False):
            if word in ("l'", "j'", "n'", "cet"):
                assert following.startswith(vowels), pair
            if word in ("le", "la", "ne", "je", "ce", "ma"):
                assert not following.startswith(vowels), pair
            if following in gender and word in ("le", "ce", "un", "du"):
                assert gender[following] == "m", pair
            if following in gender and word in ("la", "cette", "une", "ma"):
                assert gender[following] == "f", pair
        assert not any(two in " ".join(pair.target) for two in (" de le ", " de les ", " pas un ", " pas une "))


def test_a_third_and_more_change_the_order() -> None:
    def crossed(pair: Pair) -> bool:
        firsts = [link[0] for link in pair.links]
        return firsts != sorted(firsts)

    assert sum(map(crossed, PAIRS)) / len(PAIRS) > 0.3
