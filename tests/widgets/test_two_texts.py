"""bertviz's frame where rows and columns are of two texts: what it is sent, and only once."""

import numpy as np

from demos.bert.attention.matrix_labels import Labels
from demos.figures.palette import SPECIAL, word_colour
from demos.widgets.bertviz.messages import BrowserCache
from demos.widgets.bertviz.two_texts import two_texts_message
from demos.widgets.bertviz.views import VIEWS
from tests.widgets.unpacking import unpack_weights

ROWS = Labels(("<s>", "le", "chat"), (True, False, False), words=(None, 0, 1))
COLUMNS = Labels(("the", "cat"), (False, False), words=(0, 1))
WEIGHTS = np.random.default_rng(3).dirichlet(np.ones(2), (2, 4, 3)).astype(np.float32)  # 2 layers, 4 heads, 3 x 2


def test_both_sides_and_the_weights_of_one_layer() -> None:
    message, held = two_texts_message(WEIGHTS, ROWS, COLUMNS, VIEWS["head"], 1, 2, BrowserCache(), model="M")
    assert message["tokens"] == ["<s>", "le", "chat"]
    assert message["hues"] == [SPECIAL, word_colour(0), word_colour(1)]
    assert message["columns"]["tokens"] == ["the", "cat"]
    assert (message["layer"], message["head"], message["num_layers"], message["num_heads"]) == (1, 2, 2, 4)
    assert message["model"] == "M"
    assert list(message["weights"]) == ["1"]
    np.testing.assert_allclose(unpack_weights(message["weights"]["1"], (4, 3, 2)), WEIGHTS[1], atol=0.003)
    assert held.weights == {1}


def test_nothing_is_sent_twice_and_other_weights_are_another_picture() -> None:
    _, held = two_texts_message(WEIGHTS, ROWS, COLUMNS, VIEWS["head"], 1, 0, BrowserCache())
    message, held = two_texts_message(WEIGHTS, ROWS, COLUMNS, VIEWS["model"], 1, 0, BrowserCache.read(held.say()))
    assert list(message["weights"]) == ["0"]
    message, held = two_texts_message(WEIGHTS[:, ::-1], ROWS, COLUMNS, VIEWS["head"], 0, 0, held)
    assert list(message["weights"]) == ["0"]
    square = np.full((1, 1, 2, 2), 0.5, np.float32)
    assert "columns" not in two_texts_message(square, COLUMNS, COLUMNS, VIEWS["head"], 0, 0, held)[0]
