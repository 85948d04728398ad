"""Labels as people mean them: one class for spellings that look alike, none for a dash, numbers in their order."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

MIN_CLASSES, MAX_CLASSES = 2, 50
MAX_LABEL = 60  # characters
# What people, pandas, databases and spreadsheets write where there is no label.
NOTHING = frozenset({"", "-", "–", "—", "nan", "null", "n/a", "<na>", "#n/a"})
ZERO_WIDTH = "\u200b\u200c\u200e\u200f\u2060\ufeff\u00ad"  # signs without a width that no spelling needs
_WIDTHLESS = str.maketrans("", "", ZERO_WIDTH)
_WHOLE = re.compile(r"([+-]?\d+)[.,]0+")
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")


def is_missing(label: str) -> bool:
    """Whether a label says that there is none."""
    return label.strip().lower() in NOTHING


def clean_label(label: str) -> str:
    """One spelling for all that look the same; "" for none.

    Unicode's composed form (NFC), no signs without a width, single blanks, whole numbers without decimals.
    """
    cleaned = " ".join(unicodedata.normalize("NFC", label.translate(_WIDTHLESS)).split()).strip("\u200d")
    whole = _WHOLE.fullmatch(cleaned)
    return "" if is_missing(cleaned) else whole[1] if whole else cleaned


def merged(labels: Sequence[str]) -> dict[str, str]:
    """One spelling for each label of `labels`, which have been cleaned: the most frequent capitals."""
    counts = Counter(labels)
    alike: dict[str, list[str]] = defaultdict(list)
    for label in counts:
        alike[label.casefold()].append(label)
    return {label: max(spellings, key=counts.__getitem__) for spellings in alike.values() for label in spellings}


def merged_notes(written: Iterable[tuple[str, str]]) -> list[str]:
    """A sentence for each class with several spellings, from (as written, the class) of each row."""
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    for label, name in written:
        spellings[name][label.strip()] += 1
    notes = []
    for name, counts in spellings.items():
        others = {label: count for label, count in counts.items() if label != name}
        if others and len(counts) > 1:
            listed = ", ".join(f"“{visible(label[:60])}”" for label in list(others)[:4])
            rows = sum(others.values())
            notes.append(
                f"{rows:,} label{'s' * (rows > 1)} written {listed} {'are' if rows > 1 else 'is'} the class “{name}”."
            )
    return notes


def visible(text: str) -> str:
    """The text with the Unicode names of signs that can't be seen or that look like other signs."""
    composed = unicodedata.normalize("NFC", text) == text
    return "".join(
        f"[{unicodedata.name(sign, f'U+{ord(sign):04X}')}]"
        if unicodedata.category(sign) in ("Cf", "Cc", "Zl", "Zp")
        or (sign.isspace() and sign != " ")
        or (not composed and unicodedata.combining(sign))
        else sign
        for sign in text
    )


def in_order(labels: Iterable[str]) -> tuple[str, ...]:
    """Different labels: numbers by their size, names by the alphabet."""
    different = set(labels)
    if all(map(_NUMBER.fullmatch, different)):
        return tuple(sorted(different, key=lambda label: (float(label.replace(",", ".")), label)))
    return tuple(sorted(different))
