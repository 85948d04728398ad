"""Dates written out in words, and as ISO 8601 writes them: a second task, in which the year comes first."""

import datetime
import random
from functools import cache

from demos.bert.translation.grammar import HELD_OUT, SEED, Pair, distinct

FIRST, LAST = datetime.date(1900, 1, 1), datetime.date(2049, 12, 31)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
ORDINALS = (
    "", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth",
)  # fmt: skip
Spoken = list[tuple[str, str]]  # words, each with the digits that it means


def two_digits(number: int) -> Spoken:
    """10 to 99 in words: [("ninety", "9"), ("eight", "8")], [("fourteen", "14")]."""
    if number < len(NUMBERS):
        return [(NUMBERS[number], str(number))]
    tens, units = divmod(number, 10)
    return [(TENS[tens], str(tens)), (NUMBERS[units], str(units))] if units else [(TENS[tens], str(number))]


def year_in_words(year: int) -> Spoken:
    """1900 to 2049, as English says it: nineteen hundred, nineteen oh five, two thousand nine, twenty fourteen."""
    century, rest = divmod(year, 100)
    if century == 20 and rest < 10:
        return [("two", "2"), ("thousand", "00" if rest else "000"), *([(NUMBERS[rest], str(rest))] if rest else [])]
    if not rest:
        return [*two_digits(century), ("hundred", "00")]
    return [*two_digits(century), *([("oh", "0"), (NUMBERS[rest], str(rest))] if rest < 10 else two_digits(rest))]


def day_in_words(day: int) -> Spoken:
    """1 to 31: third, twentieth, twenty third."""
    if day < len(ORDINALS):
        return [(ORDINALS[day], f"{day:02}")]
    if day == 30:
        return [("thirtieth", "30")]
    return [(TENS[day // 10], str(day // 10)), (ORDINALS[day % 10], str(day % 10))]


def pair_of(date: datetime.date, form: int, weekday: bool) -> Pair:
    """The date in one of three forms: the third of may; may the third; may third. Each digit's word is its link."""
    day, month = day_in_words(date.day), [(MONTHS[date.month - 1], f"{date.month:02}")]
    middle = ([("the", ""), *day, ("of", ""), *month], [*month, ("the", ""), *day], [*month, *day])[form]
    spoken = [(WEEKDAYS[date.weekday()], ""), (",", "")] if weekday else []
    spoken = [*spoken, *middle, (",", ""), *year_in_words(date.year)]
    places = {id(entry): place for place, entry in enumerate(spoken)}
    digits: list[tuple[str, tuple[int, ...]]] = []
    for number, part in enumerate((spoken[-len(year_in_words(date.year)) :], month, day)):
        digits += [("-", ())] if number else []
        digits += [(digit, (places[id(entry)],)) for entry in part for digit in entry[1]]
    return Pair(tuple(word for word, _ in spoken), tuple(d for d, _ in digits), tuple(link for _, link in digits))


def sentences(count: int, seed: int) -> list[Pair]:
    """So many different pairs, the same for the same seed; `example()` is the first."""
    return distinct((example(),), _date, count, seed)


def _date(draw: random.Random) -> Pair:
    """Any day of the years, in any form, three in ten with its weekday."""
    days = (LAST - FIRST).days + 1
    date = FIRST + datetime.timedelta(draw.randrange(days))
    return pair_of(date, draw.randrange(3), draw.random() < 0.3)


def example() -> Pair:
    """The day of the first steps on the Moon."""
    return pair_of(datetime.date(1969, 7, 20), form=0, weekday=True)


@cache
def held_out() -> tuple[Pair, ...]:
    """The dates, as written, that no translator is trained on."""
    return tuple(sentences(HELD_OUT, SEED))
