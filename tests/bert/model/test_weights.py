"""Two models read at once: transformers alone loses the tied weights of all later models, here they take turns."""

import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from transformers import BertConfig, BertForMaskedLM, BertModel, initialization

from demos.bert.model.linear import QuickLinear
from demos.bert.model.weights import read_weights

SMALL = BertConfig(vocab_size=60, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)


def slowed(seconds: float) -> Any:
    """A kind of model whose reading holds transformers' switch for so long."""

    def from_pretrained(folder: Path, **options: Any) -> torch.nn.Module:
        with initialization.no_tie_weights():
            time.sleep(seconds)
        return torch.nn.Identity()

    return SimpleNamespace(from_pretrained=from_pretrained)


def tied() -> bool:
    whole = BertForMaskedLM(SMALL)
    return whole.cls.predictions.decoder.weight is whole.bert.embeddings.word_embeddings.weight


def test_readings_take_turns_and_the_weights_stay_tied(tmp_path: Path) -> None:
    BertModel(SMALL).save_pretrained(tmp_path)
    before = tied()
    jobs = [(slowed(0.2), tmp_path), (slowed(0.4), tmp_path), (BertModel, tmp_path)]
    found: list[Any] = []
    threads = [threading.Thread(target=lambda job=job: found.append(read_weights(*job))) for job in jobs]
    began = time.monotonic()
    for thread in threads:
        thread.start()
        time.sleep(0.05)
    for thread in threads:
        thread.join()
    assert time.monotonic() - began >= 0.6  # one after the other
    assert len(found) == 3
    assert before
    assert tied()


def test_it_is_the_folders_model_in_float32(tmp_path: Path) -> None:
    model = BertModel(SMALL).to(torch.bfloat16)
    model.save_pretrained(tmp_path)
    read = read_weights(BertModel, tmp_path)
    assert read.config._attn_implementation == "eager"
    assert {type(module) for module in read.modules() if isinstance(module, torch.nn.Linear)} == {QuickLinear}
    for name, value in read.state_dict().items():
        assert value.dtype == torch.float32
        assert torch.equal(value, model.state_dict()[name].float()), name
