"""The choice between Excel's two Latin encodings for a file's bytes:

Windows-1252 (western) or Windows-1250 (central Europe).

The languages' alphabets distinguish them: the byte of "ř" in one is that of "ø" in the other. An encoding fits as far
as one language has all letters that the bytes then spell, each beside letters that it can be beside.
Signs in odd places ("caf‚", "£ód¼") are the letters of a third encoding.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

WESTERN, CENTRAL = "cp1252", "cp1250"
UNSURE = "windows-1252"  # Python's other name of cp1252: read so, though another encoding may be meant
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
# Where no such language writes a letter. V and C are a vowel and a consonant, H a letter beyond a to z, L any letter,
# ^ and $ a word's beginning and end.
ODD_LETTERS = {
    WESTERN: (
        "è(?!$|C{1,3}[aeéiou]|[ns]$)|[ìù](?!$)|ñ(?!V)|œ(?![eéiu]|so|no|cu|d[eéè]|t[au])|(?<=V)[åø](?=V)|(?<=V)[æø]$|"
        "(?<=L)þ(?![jrvyý]|V)|^ð|^š$|(?<=V)á(?=e)|(?!ååå)HHH|^(?!þ|åå)HH$"
    ),
    CENTRAL: (
        r"^[čďĺľłňŕřşšź]$(?!\.)|(?<=C)(?<![lr])[čň]$|(?<=C)(?<![ptlr])[ďř]$|(?<=C)[ćň](?=C)|(?<=C)(?<!r)ď(?=C)|"
        "(?<=C)ř(?=C)(?!(?<=[pt]ř)[mn])|(?<=C)(?<!š)č(?=C)(?!(?<=[jlnpr]č)n|(?<=[lr]č)[kt]|(?<=zč)[lr]|(?<=dč)r)|"
        "ď(?=[fnqrv])|[ĺŕ](?!C)|(?<!C)[ĺŕ]|[ńśź](?=V)|(?<=C)(?<![dr])ź|(?<![bdfmnptv])ě|(?<!C)ů|(?<=V)ű|ă(?=[eo])|^[ąę]|"
        "ą(?=V)|(?<=[aeou])ą|ľ(?=[eéií])|(?<=m)ł$"
    ),
}
# Letters that no text has twice as often as the others that go with them.
COMPANY = {
    WESTERN: (("ðþý", "áíóúæ"), ("šž", "äöõü")),  # Icelandic ones, which are Turkish in Windows-1254; Finnish ones
    CENTRAL: (("đ", "čćšž"), ("şţ", "ăâî"), ("ľ", "šťž")),  # Croatian, Romanian, Slovak
}
VOWELS = "aeiouàáâãäåæèéêëìíîïòóôõöøùúûüœăąęěőůű"
# Signs that may be beside letters, before them, after them; and the partners that some signs need.
ANYWHERE, BEFORE, AFTER = "’–—…·´°×\xad", "„“”‚‘«»‹›¿¡•§\xa0", "“”‘«»‹›™®€ªº²³\xa0"
PARTNERS = {"„": "“”", "‚": "‘’", "«": "»", "»": "«", "‹": "›", "›": "‹", "¿": "?", "¡": "!"}
MOST_FOREIGN = 0.1  # of the letters beyond a to z, those of names from elsewhere
MOST_ODD = 0.02  # and signs in odd places, slips
CLEARLY = 4  # so many times more foreign letters decide for the other encoding
TOO_FOREIGN = 0.5  # and as many are another encoding's
MOST_ACCENTS = 0.25  # of all letters; a French text has 0.05, a Czech one 0.15
_ASCII = bytes(range(128))
_NO_LETTERS = bytes(set(range(128)) - set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
_FAR = re.compile(rb"([\x00-\x7f]{5})[\x00-\x7f]+([\x00-\x7f]{4})")  # from letters beyond a to z
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class _Fit:
    """The fit of an encoding to a file's bytes."""

    encoding: str
    letters: int  # beyond a to z, and signs in odd places
    foreign: int  # letters that the language that fits best has not
    odd: int  # letters and signs in odd places

    @property
    def strange(self) -> int:
        return self.foreign + self.odd

    @property
    def certain(self) -> bool:
        return self.odd <= MOST_ODD * self.letters and self.strange <= MOST_FOREIGN * self.letters


def windows_encoding(data: bytes) -> str:
    """cp1252 or cp1250 of bytes that are not UTF-8, UNSURE where it could be another one, "" where it is neither.

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
    fits = [_fit(data, above, encoding) for encoding in ALPHABETS if _spells(above, encoding)]
    fits = sorted((fit for fit in fits if fit.foreign <= TOO_FOREIGN * accents), key=lambda fit: fit.strange)
    if not fits:
        return ""
    best = fits[0]
    if len(fits) == 1:
        return best.encoding if best.certain else UNSURE if best.encoding == WESTERN else ""
    other = fits[1]
    if not {*bytes(above).decode(CENTRAL)} & {*_places(CENTRAL).letters} - {*bytes(above).decode(WESTERN)}:
        western = best if best.encoding == WESTERN else other  # all letters are the same in both
        return WESTERN if western.odd <= MOST_ODD * western.letters else UNSURE
    alike = other.strange <= CLEARLY * best.strange
    return UNSURE if alike or not best.certain or (best.encoding == CENTRAL and other.strange == 1) else best.encoding


def _spells(above: Counter[int], encoding: str) -> bool:
    """Whether the encoding has a sign for each of these bytes."""
    try:
        bytes(above).decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _fit(data: bytes, above: Counter[int], encoding: str) -> _Fit:
    """The fit of an encoding that has a sign for each byte."""
    places, whole = _places(encoding), data.decode(encoding)
    text = _FAR.sub(rb"\1 \2", data).decode(encoding)  # signs next to such letters, of which there are few
    spelled: Counter[str] = Counter()
    for byte, count in above.items():
        if (sign := bytes([byte]).decode(encoding)) in places.letters:
            spelled[sign.lower()] += count
    foreign = min(
        sum(count for letter, count in spelled.items() if letter not in alphabet)
        for alphabet in ALPHABETS[encoding].values()
    )
    odd = len(places.odd_letters.findall(text.lower())) + len(places.odd_signs.findall(text))
    if alone := "".join(sign for sign, others in PARTNERS.items() if not any(map(whole.count, others))):
        odd += len(re.findall(f"[{alone}](?=[{places.every}])|(?<=[{places.every}])[{alone}]", text))
    for few, many in COMPANY[encoding]:
        odd += max(0, sum(spelled[letter] for letter in few) - 2 * sum(spelled[letter] for letter in many))
    return _Fit(encoding, sum(spelled.values()) + odd, foreign, odd)


@dataclass(frozen=True)
class _Places:
    """An encoding's letters beyond a to z, all its letters, and the signs in odd places."""

    letters: str
    every: str
    odd_letters: re.Pattern[str]  # in small letters
    odd_signs: re.Pattern[str]


@cache
def _places(encoding: str) -> _Places:
    high = bytes(range(0x80, 0x100)).decode(encoding, "ignore")
    letters = "".join(sign for sign in high if sign.lower() != sign.upper() and sign not in "µƒ")
    signs = "".join(sign for sign in high if sign not in letters + ANYWHERE)
    small = "".join(sorted({*letters.lower()}))
    vowels = "".join(sign for sign in VOWELS if sign.isascii() or sign in small)
    classes = {
        "V": f"[{vowels}]",
        "C": f"[bcdfghjklmnpqrstvwxz{''.join(set(small) - set(VOWELS) - set('ýÿ'))}]",
        "H": f"[{small}]",
        "^": f"(?<![a-z{small}])",
        "$": f"(?![a-z{small}])",
        "L": f"[a-z{small}]",
    }
    some, capitals = f"A-Za-z{letters}", "".join(filter(str.isupper, letters))
    odd_signs = (
        f"(?<=[{some}])[{signs}](?=[{some}])|(?<=[{some}])[{_without(signs, AFTER)}](?![{some}0-9])|"
        f"(?<![{some}0-9])[{_without(signs, BEFORE)}](?=[{some}])|[¤¯ˇ˘˙˛˝]|(?<=[{some}]{{3}})[ªº]|"
        f"(?<=[{some}]{{2}})(?<!km|cm|mm|dm|ft|in|yd|mi|mc|CO)[²³]|"
        f"(?<=[a-z{small}])[{capitals}]"  # a capital within a word
    )
    odd_letters = re.sub("[VCHL^$]", lambda kind: classes[kind[0]], ODD_LETTERS[encoding])
    return _Places(letters, some, *(re.compile(f"(?=[^\\0-\\x7f])(?:{odd})") for odd in (odd_letters, odd_signs)))


def _without(signs: str, others: str) -> str:
    return "".join(sign for sign in signs if sign not in others)
