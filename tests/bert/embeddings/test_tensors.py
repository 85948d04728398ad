"""A data set as tensors: each equal to what transformers' own tokenizer and model make of it."""

import numpy as np
import torch

from demos.bert.embeddings.tensors import padded_matrix, spread, tensor_steps
from demos.bert.embeddings.vector_cache import Encoded, VectorCache
from demos.bert.model.batches.token_lists import tokenized
from demos.bert.model.generators import drained
from demos.bert.model.models import LoadedModel

TEXTS = [f"{'the bank of the river ' * (number % 4)}was seen {number} times" for number in range(60)]


def test_every_tensor_is_transformers_own(tiny: LoadedModel) -> None:
    tensors = drained(tensor_steps(VectorCache(), tiny, TEXTS))
    inputs = tiny.tokenizer(TEXTS, padding=True, return_tensors="pt")
    with torch.inference_mode():
        last = tiny.model(**inputs).last_hidden_state  # [m, n, d]
    assert np.array_equal(tensors.padded, inputs["input_ids"].numpy())
    assert np.array_equal(tensors.mask, inputs["attention_mask"].numpy())
    assert tensors.shape == tuple(last.shape)
    np.testing.assert_allclose(tensors.features, last[:, 0, :].numpy(), atol=1e-5)
    drawn = last[tensors.rows][:, :, tensors.columns]  # padding too
    assert drawn.shape[0] < len(TEXTS)
    np.testing.assert_allclose(tensors.states, drawn.numpy(), atol=1e-5)
    assert [row.tolist() for row in (tensors.ids.of(np.array([at])) for at in range(60))] == [
        tiny.tokenizer(text)["input_ids"] for text in TEXTS
    ]


def test_progress_is_told_and_long_texts_are_drawn_in_part(tiny: LoadedModel) -> None:
    texts = ["the " * 600, *["a bank"] * 30]
    steps = list(tensor_steps(VectorCache(), tiny, texts))
    assert steps[-1] == Encoded(31, 31)
    tensors = drained(tensor_steps(VectorCache(), tiny, texts))
    assert tensors.shape[:2] == (31, 512)
    assert len(tensors.rows) == 8
    assert tensors.rows[[0, -1]].tolist() == [0, 30]


def test_one_text_is_a_matrix_of_one_row(tiny: LoadedModel) -> None:
    ids = tokenized(tiny.tokenizer, ["a bank"])
    assert padded_matrix(ids, 0).tolist() == [tiny.tokenizer("a bank")["input_ids"]]
    assert spread(1, 5).tolist() == [0]
    assert spread(9, 3).tolist() == [0, 4, 8]
