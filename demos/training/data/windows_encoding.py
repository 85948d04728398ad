"""Which of Excel's two Latin encodings a file's bytes are: Windows-1252 (western) or Windows-1250 (central Europe).

Both are told apart by the languages' alphabets: the byte of "ř" in the one is that of "ø" in the other. An encoding
fits as far as one language has all letters that the bytes then spell.
"""

from __future__ import annotations

import re
from collections import Counter

WESTERN, CENTRAL = "cp1252", "cp1250"
UNSURE = "windows-1252"  # Python's other name of cp1252: read so, though both encodings may be meant
# The letters of each language beyond a to z, foreign words' among them where they are usual.
ALPHABETS = {
    WESTERN: {
        "German": "äöüßé", "French": "àâæçèéêëîïôœùûüÿ", "Spanish": "áéíñóúü", "Portuguese": "ãáàâçéêíóôõúü",
        "Italian": "àèéìíòóùú", "Catalan": "àçèéíïòóúü", "Dutch": "áéèëïíóöüú", "Swedish": "åäöéà",
        "Danish, Norwegian": "æøåéòôóèêü", "Finnish, Estonian": "äöåõüšž", "Icelandic, Faroese": "áðéíóúýþæöø",
        "English": "éèêçïëöôâáñóüàäåø",
    },
    CENTRAL: {
        "Polish": "ąćęłńóśźż", "Czech": "áčďéěíňóřšťúůýž", "Slovak": "áäčďéíĺľňóôŕšťúýž", "Hungarian": "áéíóöőúüű",
        "Slovene": "čšž", "Croatian": "čćđšž", "Romanian": "ăâîşţ", "Albanian": "ëç", "German": "äöüßé",
    },
}  # fmt: skip
MOST_FOREIGN = 0.1  # of the letters beyond a to z, those of names from elsewhere
CLEARLY = 4  # so many times more letters that do not belong tell the other encoding
TOO_FOREIGN = 0.5  # and as many are another encoding's
MOST_ACCENTS = 0.25  # of all letters; a French text has 0.05, a Czech one 0.15
_ASCII = bytes(range(128))
_NO_LETTERS = bytes(set(range(128)) - set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# Signs of Windows-1252 within a word (£ ¥ ³ ¹ ¿) or at its beginning (a macron): Polish letters (Ł Ą ł ą ż Ż).
_IN_WORDS = rb"A-Za-z\x9c\x9f\xa3\xa5\xb3\xb9\xbf\xc0-\xff"
_SIGNS_IN_WORDS = re.compile(
    rb"(?<=[%(word)b])[\xa3\xa5\xb3\xb9\xbf](?=[%(word)b])|\xaf(?=[%(word)b])" % {b"word": _IN_WORDS}
)


def windows_encoding(data: bytes) -> str:
    """cp1252 or cp1250 of bytes that are not UTF-8, UNSURE where it could be either, "" where it is neither.

    Neither: too many letters with accents (another script), bytes that both lack, signs that no text has, UTF-8 with a
    broken byte.
    """
    if _CONTROLS.search(data):
        return ""
    letters = len(data.translate(None, _NO_LETTERS))
    above = Counter(data.translate(None, _ASCII))
    accents = sum(above.values())
    if accents >= MOST_ACCENTS * letters:
        return ""
    valid = data.decode("utf-8", "ignore")
    if len(valid.encode()) - len(valid.encode("ascii", "ignore")) > accents / 2:  # UTF-8, but for a few bytes
        return ""
    foreign = {encoding: _foreign(above, encoding) for encoding in ALPHABETS if _spells(above, encoding)}
    if WESTERN in foreign:
        foreign[WESTERN] += len(_SIGNS_IN_WORDS.findall(data))
    foreign = {encoding: count for encoding, count in foreign.items() if count <= TOO_FOREIGN * accents}
    if len(foreign) < 2:
        encoding, count = next(iter(foreign.items()), ("", 0))
        certain = count <= MOST_FOREIGN * accents
        return encoding if certain else UNSURE if encoding == WESTERN else ""
    if all(bytes([byte]).decode(WESTERN) == bytes([byte]).decode(CENTRAL) for byte in above):
        return WESTERN
    best, other = sorted(foreign, key=foreign.__getitem__)
    alike = foreign[other] <= CLEARLY * foreign[best] or foreign[best] > MOST_FOREIGN * accents
    return UNSURE if alike or (best == CENTRAL and foreign[other] == 1) else best


def _spells(above: Counter[int], encoding: str) -> bool:
    """Whether the encoding has a sign for each of these bytes."""
    try:
        bytes(above).decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _foreign(above: Counter[int], encoding: str) -> int:
    """How many of the letters that these bytes spell are foreign to the language that they fit best."""
    spelled: Counter[str] = Counter()
    for byte, count in above.items():
        if (letter := bytes([byte]).decode(encoding).lower()).isalpha():
            spelled[letter] += count
    return min(
        sum(count for letter, count in spelled.items() if letter not in alphabet)
        for alphabet in ALPHABETS[encoding].values()
    )
