"""Next sentence, drawn: every number and label in its place, hostile text escaped, each gist said."""

import re
from dataclasses import replace

import numpy as np
import pytest

from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.next_documents import KINDS, Score
from demos.bert.pretraining.next_sentence import Answers, Drawn
from demos.lessons.pretraining.next_sentence import figure
from demos.lessons.pretraining.next_sentence.figure import Case, Instance, answer_html, cases_html
from tests.one_line import on_one_line

numbers_html, sequence_html, gist_html, trials_html, made_html = map(
    on_one_line, (figure.numbers_html, figure.sequence_html, figure.gist_html, figure.trials_html, figure.made_html)
)
BAD = "Say <script>alert(1)</script> ${x} 🙂"


def plain(found: str) -> str:
    return " ".join(re.sub("<[^>]+>", " ", found).split())


@pytest.fixture
def case(tiny: LoadedModel) -> Case:
    answers = Answers(np.array([[1.2, -0.8]], dtype=np.float32))
    encoding = encode(tiny.tokenizer, BAD, "Unbelievable fog.")
    return Case("a random sentence", 1, encoding, answers.logits[0], answers.probabilities[0], answers.losses[0])


def told(case: Case, *chances: float) -> str:
    return gist_html([replace(case, probabilities=np.array([chance, 1 - chance])) for chance in chances])


def test_the_answer_tells_both_labels(case: Case) -> None:
    said = plain(answer_html(case))  # softmax of (1.2, -0.8): 0.8808, 0.1192; their -log: 0.1269, 2.1269
    assert "IsNext 88% +1.20 0.127" in said
    assert "NotNext 12% −0.80 2.127" in said
    assert 'width:88.08%"' in answer_html(case)


def test_segments_and_positions_are_the_tokenizer_s(case: Case) -> None:
    drawn = sequence_html(case.encoding, 'the "input"', {2})
    items = re.findall(r'<li class="(seg[^"]*)"><b>(.*?)</b><span>(.)</span><span>(\d+)</span></li>', drawn)
    assert len(items) == len(case.encoding)
    assert ["AB".index(segment) for _, _, segment, _ in items] == list(case.encoding.token_type_ids)
    assert [int(position) for *_, position in items] == list(range(len(items)))
    assert ["special" in kinds for kinds, *_ in items] == [bool(one) for one in case.encoding.special_tokens_mask]
    assert [at for at, (kinds, *_) in enumerate(items) if "chosen" in kinds] == [2]
    assert "<script" not in drawn
    assert 'aria-label="the &#34;input&#34;"' in drawn


def test_long_inputs_are_cut(tiny: LoadedModel) -> None:
    encoding = encode(tiny.tokenizer, "fog " * 60, "sea " * 60)
    drawn = sequence_html(encoding, "long")
    assert drawn.count('class="seg') == 64
    assert "59 more tokens" in drawn


def test_cases_and_numbers(case: Case) -> None:
    shown = cases_html([case, replace(case, label=0, name="the next sentence")], 1)
    assert 'class=shown><th scope="row">the next sentence' in shown
    assert "88% NotNext 2.127" in plain(shown)
    assert "88% IsNext 0.127" in plain(shown)
    numbers = numbers_html([case], 0)
    assert "+1.2000 −0.8000 0.88080 0.11920 0.12693 2.12693" in plain(numbers)
    for position, number in enumerate(case.encoding.input_ids):
        segment = case.encoding.token_type_ids[position]
        assert re.search(f'scope="row">{position}</th><td>.*?</td><td>{number}</td><td>{segment}</td>', numbers)
    for found in (shown, numbers):
        assert "<script" not in found


def test_what_the_model_goes_by_is_read_off_four_numbers(case: Case) -> None:
    topic = told(case, 0.92, 0.011, 0.88, 0.99)
    assert "IsNext is 92%; with a random sentence as B, it is 1.1%; with A and B swapped" in topic
    assert "depends on the topic, not" in topic
    assert "(IsNext 99%)" in topic
    assert "both the topic and the order" in told(case, 0.9, 0.1, 0.2, 0.3)
    assert "(IsNext 30%)" in told(case, 0.9, 0.1, 0.2, 0.3)
    assert "depends on the order, not" in told(case, 0.9, 0.7, 0.2, 0.9)
    assert "both changes leave the prediction at IsNext" in told(case, 0.9, 0.7, 0.8, 0.9)
    assert "This B is classified as NotNext (IsNext 40%)" in told(case, 0.4, 0.1, 0.2, 0.9)
    assert "Even the true next sentence is" in told(replace(case, label=0), 0.4, 0.1, 0.2, 0.9)
    assert "not taken from a text" not in told(case, 0.9, 0.1, 0.2, 0.3)
    assert "not taken from a text" in told(replace(case, label=None), 0.9, 0.1, 0.2, 0.3)


def test_two_equal_sentences_say_nothing_of_the_order(case: Case) -> None:
    equal = replace(case, encoding=replace(case.encoding, text="It rains.", text_pair="It rains. "))
    said = told(equal, 0.99, 0.001, 0.99, 0.99)
    assert "A and B are the same sentence, which is classified as IsNext (IsNext 99%)" in said
    assert "depends on the topic, not" not in said


def test_trials_are_counted_row_by_row() -> None:
    scores = [Score(kind, 60, said, 0.5) for kind, said in zip(KINDS, (57, 15, 54, 50), strict=True)]
    found = trials_html(scores)
    said = plain(found)
    assert "102 of 120 pairs, 85% , are classified correctly (95% interval 78% to 90%)" in said
    assert "Of 60 swapped pairs, 54 are classified as IsNext ; of 60 pairs with a later sentence, 50" in said
    assert "does not detect which" in said
    assert "the next sentence IsNext 57 3 95% 86% to 98% 50%" in said
    assert "another document’s sentence NotNext 15 45 75% 63% to 84%" in said
    assert "swapped: the next sentence, then A NotNext 54 6 10% 5% to 20%" in said
    assert found.count('class="hit"') == found.count('class="miss"') == 4
    scores[2] = replace(scores[2], said_next=20)
    assert "the model detects which" in trials_html(scores)


def test_instances_show_where_their_sentences_stood(tiny: LoadedModel) -> None:
    documents = [["One <b>.", "Two.", "Three."], ["Four.", "Five."]]
    pair = Drawn("Two.", "Five.", 1, (0, 1), (1, 1))
    instance = Instance(pair, encode(tiny.tokenizer, "Two.", "Five."), [1])
    found = made_html([instance], documents, ["news", "<i>"], 1_000, 503)
    said = plain(found)
    assert "document 1, news One &lt;b&gt;. A Two. Three. document 2, &lt;i&gt; Four. B Five." in said
    assert "[CLS] two . [SEP] five . [SEP] Label = NotNext Of 1,000 pairs drawn like this, 503 are IsNext" in said
    assert found.count("chosen") == 1
    inside = Instance(replace(pair, label=0, second_at=(0, 2)), encode(tiny.tokenizer, "a"), [])
    assert made_html([inside], documents, "nm", 1_000, 503).count("<figure>") == 1
