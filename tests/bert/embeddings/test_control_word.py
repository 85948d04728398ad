"""The control of a word's uses: which word it is, and its averages by transformers alone."""

import numpy as np
import pytest
import torch

from demos.bert.embeddings.control_word import control_of, control_uses, control_word
from demos.bert.embeddings.word_occurrences import Use, read_uses, use_cosines, word_states
from demos.bert.model.generators import drained
from demos.bert.model.models import LoadedModel

LINES = "The bank lent the money.\nA bank pays the clerk.\n\nThe muddy bank.\nOn the bank grew the reeds."


def test_the_control_is_the_word_in_the_most_sentences() -> None:
    uses = read_uses("bank", LINES)
    assert control_word("bank", uses) == "the"
    assert control_word("the", read_uses("the", LINES)) == "bank"
    placed = control_uses("the", uses)
    assert [(use.start, use.sense) for use in placed] == [(0, 0), (12, 0), (0, 1), (3, 1)]  # the first in each sentence


@pytest.mark.parametrize(
    "lines",
    [
        "Its bank.\nHer bank.\n\nMy bank.\nOur bank.",  # no word twice
        "The bank.\nThat bank.\n\nThe bank is muddy.",  # no two of one sense
        "The bank.\nThe bank is old.",  # one sense
    ],
)
def test_without_enough_sentences_there_is_no_control(lines: str) -> None:
    assert control_word("bank", read_uses("bank", lines)) == ""


def test_uses_of_unknown_sense_are_left_out() -> None:
    bar = Use("The bank of the bar.", 4, 8, None)
    uses = [*read_uses("bank", LINES), bar]
    assert bar.sentence not in {use.sentence for use in control_uses("the", uses)}


@pytest.mark.parametrize("name", ["tiny", "bundled"])
def test_both_gaps_by_transformers_alone(request: pytest.FixtureRequest, name: str) -> None:
    loaded: LoadedModel = request.getfixturevalue(name)
    uses = read_uses("bank", LINES)
    cosines = use_cosines(drained(word_states(loaded, uses)))
    control = drained(control_of(loaded, "bank", uses, cosines))
    assert (control.word, control.sentences) == ("the", 4)
    for word, found in (("the", control.other.gaps), ("bank", control.own.gaps)):
        rows = []
        for line in LINES.replace("\n\n", "\n").split("\n"):
            inputs = loaded.tokenizer(line, return_tensors="pt", return_offsets_mapping=True)
            offsets = inputs.pop("offset_mapping")[0].tolist()
            start = line.lower().index(word)
            pieces = [k for k, (a, b) in enumerate(offsets) if a < start + len(word) and b > start]
            with torch.inference_mode():
                states = loaded.model(**inputs, output_hidden_states=True).hidden_states
            rows.append(torch.stack([state[0, pieces].mean(dim=0) for state in states]))
        units = torch.nn.functional.normalize(torch.stack(rows), dim=-1)
        all_pairs = torch.einsum("ild,jld->lij", units, units)
        same = (all_pairs[:, 0, 1] + all_pairs[:, 2, 3]) / 2
        different = all_pairs[:, :2, 2:].mean(dim=(1, 2))
        np.testing.assert_allclose(found, (same - different).numpy(), atol=1e-5)


def test_a_control_beyond_what_is_read_is_none(bundled: LoadedModel) -> None:
    far = "bank " + "reeds " * 600
    uses = [Use(f"{far}the {number}", 0, 4, number // 2) for number in range(4)]
    known = np.ones((7, 4, 4))
    assert control_word("bank", uses) == "reeds"
    late = [Use(use.sentence.replace("reeds", str(number), 599), 0, 4, use.sense) for number, use in enumerate(uses)]
    assert drained(control_of(bundled, "bank", late, known)) is None
