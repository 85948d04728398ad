"""One letter for one thing in all formulas and texts; the page lists the letters at /glossary."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from demos.page.glossary.glossary import letters

ROOT = Path(__file__).parents[2]
FORMULAS = sorted(ROOT.glob("demos/lessons/**/formula.md"))
TEXTS = sorted(
    path
    for pattern in ("demos/**/*.html", "demos/**/*.md", "demos/**/*.txt", "demos/**/*.py", "assets/tours/*.md")
    for path in ROOT.glob(pattern)
)
MATHS = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$", re.DOTALL)
ABOVE_BELOW = r"(?:_\w|_\{[^}]*\}|\^\w|\^\{[^}]*\})*"
ACCENT = r"(?:\\(?:tilde|hat|bar|overrightarrow|overleftarrow)\s*\{?)?"

# What each rule says, an example of its fault, and the pattern that finds it in the mathematics of a formula.md.
IN_FORMULAS = {
    "a layer is l": (r"h^{(\ell)}", r"\\ell\b"),
    "the small constant is \\varepsilon": (r"\sigma^2 + \epsilon", r"\\epsilon\b"),
    "logarithms are natural, \\ln": (r"-\log p", r"\\log\b"),
    "the matrices are W_Q, W_K, W_V and W_O": (r"W^O_h z, b^O", r"[Wb]\^\{?[OQKV](?![a-z])|W_[qkv]\b|b_q\b"),
    "vectors are rows: x W, not W x": (
        r"W_Q\, x_i + b_Q",
        rf"(?<![A-Za-z])[WU]{ABOVE_BELOW}\s*(?:\\[,;!])?\s*{ACCENT}(?:[xhzvsmc](?![a-z])|T_|\[)",
    ),
    "the embedding matrix is transposed on the right: h E^\\top": (
        r"E\,\operatorname{LayerNorm}(h)",
        r"(?<![A-Za-z\\])E\s*(?:\\[,;!])?\s*(?:\\operatorname|\\text|[ht][_(])",
    ),
    "E is the embedding matrix": (r"\frac{a - E}{b - E}", r"-\s*E(?![A-Za-z_^])|(?<![A-Za-z\\])E\s*="),
    "an attention weight is \\alpha": (r"\sum_j a_{ij}", r"(?<![A-Za-z\\])a(?:\^\{[^}]*\})?_\{?(?:ij|im|ti|tj|lh|uv)"),
    "\\alpha is an attention weight": (r"m^{\alpha}", r"\^\{?\\alpha|\\alpha\s*(?:\\cos|=\s*\d)"),
    "a state is h^{(l)}": (r"x_i^{(l)}", r"(?<![A-Za-z])[xya](?:_\w|_\{[^}]*\})?\^\{\((?:l|L|\d)"),
    "a state's layer stands above, in brackets": (r"h^{0}_i + h_{k,j}", r"(?<![A-Za-z])h\}?(?:\^\{?[\dlL]|_\{\w,)"),
    "the loss is \\mathcal{L}": (
        r"L = -\frac{1}{B}",
        r"(?<![A-Za-z{\\])L(?:_\{[^}]*\}\}?)?\s*(?:\\[;,])?\s*=|\\partial L\b|\\mathcal L",
    ),
    "T is a step of a block, or an output of BERT": (r"z / T", r"(?<![A-Za-z\\^{])T(?!_[1-5i])(?![A-Za-z])"),
    "the width is d": (r"d_k = H / A", r"H\s*/|\\times H\b|d\s*/\s*H"),
    "heads are counted by A": (r"A = \frac{1}{|P|}", r"(?<![A-Za-z])A\s*="),
    "examples are counted by N": (r"-\frac{1}{B}\sum_{b=1}^{B}", r"R\}\^\{m\b|\\frac\{1\}\{[mB]\}"),
    "sets are script letters": (r"\frac{1}{|P|}\sum_{(x,y)\in P}", r"\|[A-Z]\||\\in\s*[A-Z](?![A-Za-z_^])"),
}  # fmt: skip

# The same for what stands around them, and in pictures and programs.
IN_TEXTS = {
    "the matrices are W_Q, W_K, W_V and W_O": ("z times W<sup>O</sup>", r"W\^O|W<sup>[OQKV]|Wᴼ"),
    "vectors are rows: x W, not W x": (
        "q = W<sub>Q</sub> x + b",
        r"\bW(?:<sub>\w</sub>|_[A-Z1-2]|[₁₂1-2]) \(?(?:x\b|T[₁₃]|T[13]\b|\{\{ t\()|\bW [xzh] \+ b",
    ),
    "an attention weight is \\alpha": ("|a_ij f(x_j)|", r"\ba_ij\b"),
    "the width is d": ("L layers, width H, A heads", r"\bwidth H\b|\bH / A\b|\b4H\b|\bL, H and A\b|\"H\", \"A\""),
    "heads are counted by A": ("weights [L, H, n, n]", r"\[L, H\b|\[H, (?:n|m|d|side)\b|\bH heads\b"),
    "entropies are in nats": ("at most 14.9 bits", r"(?i:entropy|log_?2|at most).*\bbits\b(?!\))|\bbits, 0"),
}  # fmt: skip

# Where the page says on purpose how others write it.
ON_PURPOSE = {
    ("encoder/self_attention/formula.md", "q = W x"),
    ("encoder/self_attention/text.html", "With x as a column, it is q = W<sub>Q</sub> x"),
    ("training/learning/trainable.py", "W x becomes W x + 2 B A x"),
}


def faults(said: str, rules: dict[str, tuple[str, str]], file: str = "") -> list[str]:
    """The rules that this text breaks."""
    for place, words in ON_PURPOSE:
        if file.endswith(place):
            said = said.replace(words, "")
    return [rule for rule, (_, pattern) in rules.items() if re.search(pattern, said)]


def found(paths: list[Path], rules: dict[str, tuple[str, str]], *, maths: bool) -> Iterator[tuple[str, str, str]]:
    """(file, rule, what is written) of each fault."""
    for path in paths:
        text, file = path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()
        for said in ("".join(pair) for pair in MATHS.findall(text)) if maths else text.splitlines():
            yield from ((file, rule, said.strip()) for rule in faults(said.strip(), rules, file))


@pytest.mark.parametrize(("rules", "rule"), [(rules, rule) for rules in (IN_FORMULAS, IN_TEXTS) for rule in rules])
def test_a_rule_finds_its_fault(rules: dict[str, tuple[str, str]], rule: str) -> None:
    assert rule in faults(rules[rule][0], rules)


def test_formulas_have_one_letter_for_one_thing() -> None:
    assert len(FORMULAS) > 45
    assert list(found(FORMULAS, IN_FORMULAS, maths=True)) == []


def test_texts_pictures_and_programs_have_the_formulas_letters() -> None:
    assert list(found(TEXTS, IN_TEXTS, maths=False)) == []


def test_what_is_said_on_purpose_is_still_said() -> None:
    for place, words in ON_PURPOSE:
        assert any(path.as_posix().endswith(place) and words in path.read_text(encoding="utf-8") for path in TEXTS)


def test_what_a_letter_means_twice_is_said_where_both_stand() -> None:
    said = {path.parent.name: " ".join(path.read_text(encoding="utf-8").split()) for path in FORMULAS}
    for part, words in {
        "block": "on this page, $H$ is always a block's output and $d$ the width.",
        "size": "width $d$ (called $H$ in BERT's paper)",
        "overview": "These two letters are those of BERT's paper; $T_3^{(l)}$ above is a step inside layer $l$",
        "position": "Here, $n$ is the base of the angles",
        "ready": "$A$ is not a number of heads here",
        "matrices": "PyTorch's `nn.Linear` stores every such matrix transposed",
    }.items():
        assert words in said[part], part


def test_the_page_lists_the_letters() -> None:
    named = [re.sub(r"<[^>]*>| \[.*", "", letter) for letter, _ in letters()]
    assert len(set(named)) == len(named)
    assert {"L, l", "A, h", "d", "dk", "V", "E", "αij", "hi(l), H", "WO"} <= set(named)
