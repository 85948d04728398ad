"""The packed file of heads: how much a number changes by being stored in few bits."""

from pathlib import Path

import pytest
import torch

from demos.bert.pretraining.heads import OUR_HEADS
from demos.bert.pretraining.heads_file import LOW_LEFT, LOW_RIGHT, WORDS, read_heads, unpack
from demos.training.pretraining.offline.writing import pack, write_heads


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("columns", [64, 384])
def test_a_number_moves_by_half_a_step_at_most(bits: int, columns: int) -> None:
    matrix = torch.randn(20, columns, generator=torch.Generator().manual_seed(bits)) * 0.01
    matrix[3] = 0.0
    packed = pack(matrix, bits)
    assert packed.values.numel() == matrix.numel() * bits // 8
    back = unpack(packed, bits)
    steps = packed.scales.float().repeat_interleave(columns // packed.scales.shape[1], dim=1)
    assert ((back - matrix).abs() <= steps * 0.502).all()  # float16 rounds the step itself
    assert back[3].abs().max() < 1e-6
    assert torch.equal(back.sign()[matrix.abs() > steps], matrix.sign()[matrix.abs() > steps])


@pytest.mark.parametrize(("columns", "bits"), [(384, 5), (7, 4)])
def test_what_does_not_fit_is_refused(columns: int, bits: int) -> None:
    with pytest.raises(ValueError, match="can't be packed"):
        pack(torch.zeros(2, columns), bits)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Differences of the encoder, new matrices and vectors, and the low-rank change of the word embeddings."""
    generator = torch.Generator().manual_seed(1)
    random = lambda *shape: torch.randn(*shape, generator=generator)  # noqa: E731
    bundled = {
        "embeddings.word_embeddings.weight": random(50, 32),
        "encoder.layer.0.attention.self.query.weight": random(32, 32),
        "encoder.layer.0.attention.self.query.bias": random(32),
        "pooler.dense.weight": random(32, 32),
    }
    query = "bert.encoder.layer.0.attention.self.query"
    trained = {
        f"{query}.weight": bundled["encoder.layer.0.attention.self.query.weight"] + 0.01 * random(32, 32),
        f"{query}.bias": bundled["encoder.layer.0.attention.self.query.bias"] + 0.01 * random(32),
        "bert.pooler.dense.weight": random(32, 32),
        "cls.predictions.bias": random(50),
        "cls.seq_relationship.weight": random(2, 32),
    }
    left, right = 0.1 * random(50, 16), 0.1 * random(16, 32)
    write_heads(tmp_path / "heads.safetensors", trained, bundled, {LOW_LEFT: left, LOW_RIGHT: right}, {"steps": "3"})
    state, about = read_heads(tmp_path / "heads.safetensors", bundled)
    assert about == {"steps": "3"}
    assert set(state) == {*trained, WORDS}
    torch.testing.assert_close(state[f"{query}.weight"], trained[f"{query}.weight"], atol=0.004, rtol=0)
    torch.testing.assert_close(state[f"{query}.bias"], trained[f"{query}.bias"], atol=2e-5, rtol=0)
    torch.testing.assert_close(
        state["bert.pooler.dense.weight"], trained["bert.pooler.dense.weight"], atol=0.02, rtol=0
    )
    torch.testing.assert_close(state["cls.predictions.bias"], trained["cls.predictions.bias"], atol=2e-3, rtol=1e-3)
    words = bundled["embeddings.word_embeddings.weight"] + left @ right
    torch.testing.assert_close(state[WORDS], words, atol=0.01, rtol=0)
    assert not torch.equal(state[WORDS], bundled["embeddings.word_embeddings.weight"])


def test_the_file_is_small() -> None:
    assert OUR_HEADS.stat().st_size <= 9_000_000
