"""Excel's two Latin encodings told apart: whole files rightly, a sentence or two rightly or with a word of warning."""

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

ENGLISH = "".join(f"{sentence},{k % 2}\n" for k, sentence in enumerate((
    "The film was dull and far too long.", "I liked the music but the sound was bad.", "Is it worth the money?",
    "A warm and funny book about a small town.", "The waiter was rude and the soup was cold!", "Great actors.",
) * 3))  # fmt: skip
PLAIN, GUESS, REFUSED, OTHER = "plain", "guess", "refused", "read as Windows-1250"
# (language, the file's true encoding, what is said of each sentence alone among English ones): the sentences; below
# the empty one those that the rules were not made with.
ROWS = {
    ("French", WESTERN, PLAIN): (
        "Café numéro 1 très bon", "Ma mère a préféré le père.", "Le succès de cette pièce est mérité.",
        "Il a reçu l’élève à l’hôtel.", "« Génial », dit-elle… à revoir !", "C’était déjà là, voilà.", "Un cœur noir.",
        "La scène finale est réussie, le décor aussi.",
        "",
        "Où est le théâtre ? Près de la forêt.", "Très déçu !",
        "Garçon désagréable, 20 € pour ça.", "Mon frère l’a trouvé léger et drôle.", "Rien à ajouter après ça.",
    ),
    ("Spanish", WESTERN, PLAIN): (
        "¿Qué más quieres?", "El niño comió.", "Una película genial, ¡de verdad!", "Mañana será otro día.",
        "",
        "Está en la 2ª planta, nº 5.", "¡Qué canción tan bonita!", "El año pasado volvió mi tía.", "Señor, aquí no.",
    ),
    ("German", WESTERN, PLAIN): (
        "Schöne Größe, 20 m² für 5 €.", "„Ärgerlich“, sagte sie – und ging.", "Üble Straße, 35 °C.",
        "Das Mädchen heißt Zoë.",
        "",
        "»Natürlich«, rief er.", "Wir müssen früher gehen.", "Ein süßer Kläffer.",
    ),
    ("Portuguese", WESTERN, PLAIN): (
        "Não gostei, é muito longo.", "As ações e os pães são bons.", "A comida estava fria, você não acha? Ótima não!",
        "",
        "Coração valente é demais.", "Amanhã não haverá sessão.", "O irmão dele não veio à festa.",
    ),
    ("Italian", WESTERN, PLAIN): (
        "La città è bella.", "Però è lungo.", "Un caffè e un tè.", "Perché no? Così è.", "Il più bello è già là.",
        "",
        "Non è vero, c’è di meglio.", "Lunedì sarà chiuso, è un peccato.", "È un’attrice di qualità.",
    ),
    ("Dutch", WESTERN, PLAIN): (
        "Eén café in België.", "Geïnteresseerd was ik niet.", "De coördinatie was slecht, de scène te lang.",
        "",
        "Een naïeve ruïne, hè?", "Drie ideeën, één officiële.",
    ),
    ("Danish", WESTERN, PLAIN): (
        "Jeg vil gerne på ø-tur.", "Bogen var kedelig på mange måder.", "Rødgrød med fløde.",
        "Ærgerligt, det går ikke.",
        "",
        "Skuespillerne gør det så godt.", "Lyden i biografen var så lav.", "Hun læser få bøger på engelsk.",
    ),
    ("Swedish", WESTERN, PLAIN): (
        "Den är alldeles för lång.", "Vi väntade på maten i två timmar.", "Ljudet var dåligt, så är det.",
        "",
        "Boken är bra men tråkig på slutet.", "”Åh nej”, sa hon.", "Skådespelarna är på topp.",
    ),
    ("English", WESTERN, PLAIN): (
        "A naïve little café – “lovely”.", "It costs £20 or 25€, the crème brûlée too.", "Windows® and 30 m³ of sand.",
        "wait…what—no", "Sections §5 and §b; • first, ½ a day, 3×4.",
        "",
        "Beyoncé’s fiancé was there.", "It’s 20°C, isn’t it?", "A cliché à la carte.", "Brontë in Zürich cost 5 ¥.",
    ),
    ("Czech", CENTRAL, GUESS): ("Teď ne.", "", "Počkej!"),
    ("Czech", CENTRAL, OTHER): (
        "Příliš žluťoučký kůň.", "Číšník nepřišel, nevím proč.", "", "Paní Nováčková šla.",
        "Dvořák složil několik děl.",
    ),
    ("Polish", CENTRAL, GUESS): ("Nie lubię.", "", "Będę tu."),
    ("Polish", CENTRAL, OTHER): ("Łatwe życie? Źle!", "Zażółć gęślą jaźń.", "", "Wciąż myślę, że był słaby."),
    ("French", "cp850", GUESS): (
        "le café était bon", "très réussi", "à côté de l’hôtel".replace("’", "'"),
        "", "une pièce de théâtre", "ça a été fêté",
    ),
    ("Spanish", "cp437", GUESS): ("el niño comió", "mañana", "aquí está", "", "¿Qué canción?", "la señora llegó tarde"),
    ("German", "cp850", GUESS): ("Das Mädchen sagte nein.", "schön und heiß", "Straße", "", "drei Größen"),
    ("German", "cp850", REFUSED): ("Das ist für dich.", "", "zurück"),
    ("Italian", "cp850", GUESS): ("non è bello", "però è lungo", "", "c'è tempo, perché no"),
    ("Danish", "cp850", GUESS): ("på en ø", "rødgrød", "", "det gør de også"),
    ("Polish", "iso8859-2", GUESS): ("Łódź", "Krzyś", "szkoła", "że był", "", "Źródło światła", "Książka jest długa."),
    ("Czech", "iso8859-2", GUESS): ("škola", "Jiří je můj přítel, že ano", "myš", "", "Když přišel, už šli spát."),
    ("Turkish", "cp1254", GUESS): (
        "Çok güzel ışık", "ağlattı", "Şarkılar iyiydi", "İstanbul", "güneşli", "", "kız kardeşim", "değil mi", "boş",
    ),
    ("Greek", "cp1253", GUESS): ("καλη", "το βιβλίο", "", "μια ταινία", "πολύ ωραίο"),
    ("Russian", "cp1251", GUESS): ("привет", "", "да, очень плохо"),
    ("French", "iso8859-15", GUESS): ("un cœur", "20 €", "", "la sœur"),
    ("French", "mac_roman", GUESS): ("le café", "d’accord", "", "l’été déjà"),
}  # fmt: skip


def said_of(data: bytes, truth: str) -> str:
    found = windows_encoding(data)
    if found == CENTRAL and data.decode(found) == truth:
        return OTHER
    if found in ("", UNSURE):
        return GUESS if found else REFUSED
    return PLAIN if data.decode(found) == truth else "wrong letters in silence"


@pytest.mark.parametrize("case", ROWS, ids="-".join)
def test_a_row_among_english_ones_is_read_plainly_or_told_as_a_guess(case: tuple[str, str, str]) -> None:
    _, encoding, said = case
    for sentence in filter(None, ROWS[case]):
        truth = f"text,label\n{ENGLISH}{sentence},1\n"
        assert (sentence, said_of(truth.encode(encoding), truth)) == (sentence, said)
    truth = f"text,label\n{ENGLISH}" + "".join(f"{sentence},1\n" for sentence in filter(None, ROWS[case]))
    assert said_of(truth.encode(encoding), truth) == said  # all together


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
        read = reader_of("sentence").read(table.encode(encoding), "a.csv")
        assert [row.text for row in read.rows] == list(sentences)
        assert read.read_as.note == f"Read as CSV with ; between the columns, {told}"
    unsure = reader_of("sentence").read("text,label\nBardzo się cieszę,1\nNie,0\n".encode(CENTRAL), "a.csv")
    assert unsure.read_as.note == (
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
