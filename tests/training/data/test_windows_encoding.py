"""Excel's two Latin encodings told apart: whole files rightly, a sentence or two rightly or with a word of warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from demos.errors import UserError
from demos.training.data.text_encoding import decode_text
from demos.training.data.windows_encoding import CENTRAL, UNSURE, WESTERN, windows_encoding
from demos.training.sources import reader_of

# Sentences of our own.
LANGUAGES = {
    "Polish": (CENTRAL, (
        "Ten film był naprawdę świetny, a zakończenie mnie wzruszyło.", "Nie lubię tej książki, jest za długa.",
        "Obsługa była miła i szybka, na pewno wrócimy.", "Bardzo się cieszę, że tu jestem.", "Łatwe życie? Źle!",
        "To najgorszy dzień w moim życiu.", "Dobra gra aktorów, słaby scenariusz.",
    )),
    "Czech": (CENTRAL, (
        "Ten film byl opravdu skvělý a závěr mě dojal.", "Ta kniha je příliš dlouhá a nudná.", "Dobří herci.",
        "Jídlo bylo studené a číšník nepříjemný.", "Hudba krásná, ale zvuk v kině špatný.",
        "Čekal jsem hodinu a nikdo nepřišel.",
    )),
    "Hungarian": (CENTRAL, (
        "Ez a film tényleg nagyszerű volt, a vége meghatott.", "Túl hosszú ez a könyv, és unalmas.",
        "A kiszolgálás kedves és gyors volt, biztosan visszajövünk.", "Örülök, hogy itt vagyok, és jó az idő.",
        "Életem legrosszabb napja, dühös vagyok.", "Jó színészek, gyenge forgatókönyv, erős zene, új ötletek.",
    )),
    "Slovak": (CENTRAL, (
        "Ten film bol naozaj skvelý a záver ma dojal.", "Jedlo bolo studené a čašník nepríjemný.",
        "Čakal som hodinu a nikto neprišiel.", "Najhorší deň môjho života.",
    )),
    "Croatian": (CENTRAL, (
        "Knjiga je preduga i dosadna, ne sviđa mi se.", "Čekao sam sat vremena i nitko nije došao.",
        "Bit ću ovdje sutra, još uvijek čekamo.",
    )),
    "German": (WESTERN, (
        "Der Film war wirklich großartig und das Ende hat mich gerührt.", "Das Essen war kalt, der Kellner unhöflich.",
        "Schöne Musik, aber der Ton war schlecht.", "„Ärgerlich“, sagte sie – und ging.",
    )),
    "French": (WESTERN, (
        "Ce film était vraiment génial et la fin m’a touché.", "Ce livre est trop long, et très ennuyeux.",
        "Où est passé l’acteur ? Peut-être à l’hôtel.", "C’est une œuvre à voir même si elle a vieilli.",
        "Élève modèle, mère sévère, père très fier.", "Ça va ? Oui, ça m’a plu.",
    )),
    "Spanish": (WESTERN, (
        "La película fue realmente genial y el final me emocionó.", "El año que viene volveremos, ¡seguro!",
        "Este libro es demasiado largo, ¿no?", "Mañana será otro día.",
    )),
    "Portuguese": (WESTERN, (
        "O filme foi ótimo e o final me emocionou.", "A comida estava fria e o garçom não foi simpático.",
        "Vocês têm razão, três vezes não.",
    )),
    "Italian": (WESTERN, (
        "Il film era davvero bello, però è lungo.", "Questo libro è troppo lungo, così noioso.",
        "La città è più bella di lunedì.", "Può darsi, ma non lo farò più.",
    )),
    "Danish": (WESTERN, (
        "Filmen var virkelig god, og slutningen rørte mig.", "Bogen er for lang og kedelig på mange måder.",
        "Jeg ventede i en time, og ingen kom. Ærgerligt!",
    )),
    "English": (WESTERN, (
        "A charming little café, naïve but lovely.", "It costs £20, and the crème brûlée is worth it.",
        "Beyoncé gave a tour de force; what a cliché.", "About 20 m³ of sand, 35 °C, ½ a day.",
    )),
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_sentences_of_a_language_are_read_rightly_or_with_a_warning(language: str) -> None:
    encoding, sentences = LANGUAGES[language]
    table = "text,label\n" + "".join(f'"{sentence}",{k % 2}\n' for k, sentence in enumerate(sentences))
    assert decode_text(table.encode(encoding)) == (table, encoding)  # together
    found = [windows_encoding(sentence.encode(encoding)) for sentence in sentences if not sentence.isascii()]
    for one, sentence in zip(found, sentences, strict=True):
        # never wrong in silence: read rightly, or with a warning, or refused
        assert one in (UNSURE, "") or sentence.encode(encoding).decode(one) == sentence


@pytest.mark.parametrize("language", [name for name, (encoding, _) in LANGUAGES.items() if encoding == CENTRAL])
def test_foreign_names_do_not_turn_the_encoding(language: str) -> None:
    """In a few sentences they may make it a guess; these letters are in both encodings."""
    encoding, sentences = LANGUAGES[language]
    text = " ".join(sentences) + " Zoë Müller"
    assert windows_encoding(text.encode(encoding)) in (encoding, UNSURE)
    assert windows_encoding(f"{' '.join(sentences * 9)} Zoë Müller".encode(encoding)) == encoding


def test_the_page_says_which_it_was(tmp_path: Path) -> None:
    for name, encoding, told in (("Polish", CENTRAL, "Windows-1250."), ("German", WESTERN, "Windows-1252.")):
        _, sentences = LANGUAGES[name]
        table = "text;label\n" + "".join(f"{sentence};{k % 2}\n" for k, sentence in enumerate(sentences))
        rows, read_as = reader_of("sentence").read(table.encode(encoding), "a.csv")
        assert [row.text for row in rows] == list(sentences)
        assert read_as.note == f"Read as CSV with ; between the columns, {told}"
    _, unsure = reader_of("sentence").read("text,label\nBardzo się cieszę,1\nNie,0\n".encode(CENTRAL), "a.csv")
    assert unsure.note == (
        "Read as CSV with commas between the columns, Windows-1252. This encoding is a guess; if letters are wrong, "
        "save the file as UTF-8."
    )


def test_other_scripts_and_broken_utf_8_are_neither() -> None:
    cyrillic = "text,label\n" + "Это очень хороший фильм,да\nА это плохой,нет\n" * 4
    greek = "text,label\n" + "Η ταινία ήταν πολύ καλή,1\nΤο βιβλίο όχι,0\n" * 4
    for data in (cyrillic.encode("cp1251"), greek.encode("cp1253"), "schöne Größe für Äpfel".encode()[:-3] + b"\xe4"):
        assert windows_encoding(data) == ""
        with pytest.raises(UserError, match="save the file as UTF-8"):
            decode_text(data)
    turkish = "Bu film gerçekten çok güzeldi, sonu beni ağlattı. Şarkılar da iyiydi; ışık kötüydü."
    assert windows_encoding(turkish.encode("cp1254")) in ("", UNSURE)  # a third encoding is never certain
