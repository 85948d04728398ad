"""Each question's right answer, for sentences of no example, against transformers, scikit-learn, scipy and by hand."""

from __future__ import annotations

import csv
import json
import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.metrics.pairwise import cosine_similarity
from transformers import AutoTokenizer, BertModel

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import LoadedModel, ModelStore
from demos.errors import UserError
from demos.files import DATA
from demos.page.questions import Answer, questions
from demos.page.services import Sentence, Services

SENTENCES = [
    ("Seven purple kettles whistled in the abandoned lighthouse.", ""),
    ("Nobody expected the accordionist to win the chess tournament.", ""),
    ("My aunt's hovercraft is full of eels, isn't it?", ""),
    ("In 1887, Zamenhof published a grammar of sixteen rules.", ""),
    ("Rain.", ""),
    ("The trophy does not fit into the suitcase because it is too big.", "What is too big?"),
    ("¿Dónde está la biblioteca más cercana?", ""),
    ("She sold her bike 🚲 for 120 euros and bought a cello.", ""),
    ("Photosynthesis converts carbon dioxide and water into glucose.", "It takes place in chloroplasts."),
    ("to be or not to be, that is the question", ""),
]
TOKEN, LAYER, HEAD = 3, 2, 5
QUESTION = DATA.parents[1] / "demos/lessons/finetune/results/question.md"  # that of the piano


@dataclass
class Reference:
    """What transformers itself says of an input."""

    tokens: list[str]
    ids: list[int]
    states: np.ndarray  # [L + 1, n, d]
    attentions: np.ndarray  # [L, H, n, n]


@pytest.fixture(scope="module")
def services(store: ModelStore, bundled: LoadedModel) -> Services:
    return Services(store, BUNDLED)


@pytest.fixture(scope="module")
def model(store: ModelStore, bundled: LoadedModel) -> Any:
    return BertModel.from_pretrained(store.folder(BUNDLED), attn_implementation="eager").eval()


@pytest.fixture(scope="module")
def tokenizer(store: ModelStore) -> Any:
    return AutoTokenizer.from_pretrained(store.folder(BUNDLED))


@pytest.fixture(scope="module")
def references(model: Any, tokenizer: Any) -> list[Reference]:
    return [reference(model, tokenizer, *texts) for texts in SENTENCES]


def reference(model: Any, tokenizer: Any, text: str, pair: str = "") -> Reference:
    inputs = tokenizer(text, pair or None, return_tensors="pt")
    with torch.inference_mode():
        output = model(**inputs, output_hidden_states=True, output_attentions=True)
    ids = inputs["input_ids"][0].tolist()
    return Reference(
        tokenizer.convert_ids_to_tokens(ids),
        ids,
        torch.cat(output.hidden_states).double().numpy(),
        torch.cat(output.attentions).double().numpy(),
    )


def answers(services: Services, lesson: str, part: str, *choices: Any, sentences: int | None = None) -> list[Answer]:
    compute = questions()[lesson, part].compute
    assert compute is not None
    return [compute(services, Sentence(text, pair, BUNDLED), *choices) for text, pair in SENTENCES[:sentences]]


def near(number: float) -> Any:
    return pytest.approx(number, rel=2e-3, abs=2e-3)


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def third(place: int, layers: int = 6) -> frozenset[str]:
    return frozenset({["first", "middle", "last"][place // (layers // 3)]})


def test_counts(services: Services, references: list[Reference]) -> None:
    """The questions about numbers of tokens and words."""
    for (text, pair), theirs, overview, cut, pooled, unpooled, changed, chosen in zip(
        SENTENCES,
        references,
        answers(services, "overview", ""),
        answers(services, "tokens", ""),
        answers(services, "embeddings", "pooling"),
        answers(services, "finetune", "train"),
        answers(services, "encoder", "masks"),
        answers(services, "pretraining", "corruption"),
        strict=True,
    ):
        n = len(theirs.tokens)
        specials = sum(token in ("[CLS]", "[SEP]") for token in theirs.tokens)
        assert overview.number == n == theirs.states.shape[1]
        assert overview.mistakes == {"one": 1, "words": len((text + " " + pair).split()), "pieces": n - specials}
        continued = [token.startswith("##") for token in theirs.tokens]
        starts = [not later for later in continued[1:]] + [True]
        assert cut.facts["cut"] == sum(end is False and not continued[at] for at, end in enumerate(starts))
        assert cut.facts["words"] == n - specials - sum(continued)
        assert cut.facts["unknown"] == theirs.tokens.count("[UNK]")
        assert (cut.facts["tokens"], changed.facts["tokens"]) == (n, n)
        assert pooled.facts == {"tokens": n, "size": 384, "total": f"{n * 384:,}"}
        assert (unpooled.facts["pooled"], unpooled.facts["unpooled"]) == ("2,304", f"{6 * 384 * n:,}")
        assert chosen.facts["chosen"] == max(1, round(0.15 * n))
        assert chosen.facts["masked"] == pytest.approx(0.8 * chosen.facts["chosen"])
    assert any(answer.facts["unknown"] for answer in answers(services, "tokens", ""))


def test_the_lecture_s_sentence_has_18_tokens(services: Services, tokenizer: Any) -> None:
    """It says 20 sub-tokens, the question's file 16 pieces and 18 tokens."""
    text = "I am looking forward for today! It's going to be a big day"
    pieces = tokenizer.tokenize(text)
    assert (len(pieces), len(tokenizer(text)["input_ids"]), len(text.split())) == (16, 18, 13)
    pooling = questions()["embeddings", "pooling"]
    assert pooling.right == "tokens"
    assert "13 words become 16 pieces, and 18 tokens" in pooling.revealed


def test_attention(services: Services, references: list[Reference]) -> None:
    for theirs, received, previous, looked in zip(
        references,
        answers(services, "attention", "rollout"),
        answers(services, "attention", "heads"),
        answers(services, "encoder", "self_attention", TOKEN, LAYER, HEAD),
        strict=True,
    ):
        mean = theirs.attentions.mean(axis=(0, 1)).mean(axis=0)
        assert received.tokens == {int(mean.argmax())}
        assert received.facts["share"] == near(mean.max())
        scores = np.diagonal(theirs.attentions, -1, 2, 3).mean(axis=-1)  # [L, H]
        ordered = sorted(np.ndindex(scores.shape), key=lambda place: -scores[place])
        assert previous.heads <= set(ordered[:6])  # float32 may swap two that are equal
        layer, head = ordered[0]
        assert (previous.facts["layer"], previous.facts["head"]) == (layer + 1, head + 1)  # as the page counts
        assert previous.facts["share"] == near(scores.max())
        row = theirs.attentions[LAYER, HEAD, TOKEN]
        assert looked.tokens == {int(row.argmax())}
        assert looked.facts["own"] == near(row[TOKEN])


def test_the_encoder(services: Services, references: list[Reference], model: Any) -> None:
    caught: dict[str, torch.Tensor] = {}
    layer = model.encoder.layer[LAYER]
    hooks = [
        layer.attention.output.dense.register_forward_hook(lambda *args: caught.__setitem__("attention", args[2])),
        layer.output.dense.register_forward_hook(lambda *args: caught.__setitem__("feed", args[2])),
    ]
    table = model.embeddings
    positions = table.position_embeddings.weight.detach().double().numpy()
    for (text, pair), theirs, block, entering, far, nearest in zip(
        SENTENCES,
        references,
        answers(services, "encoder", "block", TOKEN, LAYER),
        answers(services, "encoder", "input", TOKEN),
        answers(services, "encoder", "residual_stream", TOKEN),
        answers(services, "encoder", "position", TOKEN),
        strict=True,
    ):
        inputs = {"input_ids": torch.tensor([theirs.ids])}
        second = theirs.tokens.index("[SEP]")
        inputs["token_type_ids"] = torch.tensor([[int(at > second) for at in range(len(theirs.ids))]])
        with torch.inference_mode():
            model(**inputs)
        at = TOKEN if theirs.tokens[min(TOKEN, len(theirs.ids) - 1)] != "[SEP]" or pair else None
        if len(theirs.ids) <= TOKEN or at is None:
            at = len(theirs.ids) - 1 if len(theirs.ids) > TOKEN else len(theirs.ids) - 2
        lengths = {name: float(rows[0, at].norm()) for name, rows in caught.items()}
        assert block.facts["attention"] == near(lengths["attention"]), text
        assert block.keys == {max(lengths, key=lengths.__getitem__)}
        parts = {
            "word": table.word_embeddings.weight[theirs.ids[at]],
            "position": table.position_embeddings.weight[at],
            "segment": table.token_type_embeddings.weight[int(inputs["token_type_ids"][0, at])],
        }
        norms = {name: float(vector.detach().norm()) for name, vector in parts.items()}
        assert entering.keys == {max(norms, key=norms.__getitem__)}
        assert all(entering.facts[name] == near(norm) for name, norm in norms.items())
        alike = cosine(theirs.states[0, at], theirs.states[-1, at])
        assert far.facts["cosine"] == near(alike)
        assert far.keys == {"close" if alike > 0.8 else "far" if alike < 0.3 else "half"}
        cosines = cosine_similarity(positions[[at]], positions)[0]
        cosines[at] = -1
        assert nearest.facts["nearest"] == int(cosines.argmax())
        assert nearest.keys == {"near" if abs(int(cosines.argmax()) - at) <= 2 else "far"}
    for hook in hooks:
        hook.remove()


def test_switching_a_layer_s_heads_off(services: Services, references: list[Reference], model: Any) -> None:
    found = answers(services, "attention", "ablation")
    for (_, pair), theirs, answer in zip(SENTENCES, references, found, strict=True):
        second = theirs.tokens.index("[SEP]")
        kinds = torch.tensor([[int(at > second) for at in range(len(theirs.ids))]])
        cosines = []
        for layer in model.encoder.layer:
            silent = layer.attention.output.dense.register_forward_pre_hook(
                lambda _, args: (torch.zeros_like(args[0]),)
            )
            with torch.inference_mode():
                states = model(input_ids=torch.tensor([theirs.ids]), token_type_ids=kinds).last_hidden_state[0]
            silent.remove()
            cosines.append(cosine(states.double().numpy().mean(axis=0), theirs.states[-1].mean(axis=0)))
        assert answer.facts["cosine"] == near(min(cosines)), pair
        assert answer.keys == third(int(np.argmin(cosines)))


def test_comparing_two_sentences(services: Services, model: Any, tokenizer: Any) -> None:
    """A word of one token in the place of another: both stand in the same row."""
    compute = questions()["attention", "compare"].compute
    assert compute is not None
    for text, other in (
        ("the old man sat by the fire.", "the old dog sat by the fire."),
        ("she lost her keys on monday.", "she lost her phone on monday."),
        ("we walked home in the dark.", "we walked home in the snow."),
        ("a red kite flew over the school.", "a red bird flew over the school."),
        ("my brother plays the piano badly.", "my sister plays the piano badly."),
        ("the train was late because of fog.", "the plane was late because of fog."),
        ("nobody read the last page.", "everybody read the last page."),
        ("to cook rice you need water.", "to cook rice you need time."),
        ("seven boats left the harbor at noon.", "seven boats left the harbor at night."),
        ("does the museum open on sunday?", "does the museum close on sunday?"),
    ):
        left, right = (reference(model, tokenizer, one) for one in (text, other))
        p, q = left.attentions, right.attentions
        elsewhere = np.abs(p - q).sum(axis=-1)  # the changed word counts as one word on both sides
        layers = (elsewhere / 2).mean(axis=(1, 2))
        answer = compute(services, Sentence(text, "", BUNDLED), other)
        assert answer.keys == third(int(layers.argmax()))
        assert answer.facts["most"] == near(layers.max())
    with pytest.raises(UserError, match="the same"):
        compute(services, Sentence("Rain.", "", BUNDLED), "Rain.")


def test_the_more_probable_of_two_words(services: Services) -> None:
    pretrained = services.pretrained(BUNDLED)
    tokenizer, encoder = pretrained.tokenizer, pretrained.encoder.model

    def chances(text: str) -> list[float]:
        inputs = tokenizer(f"{text} It was [MASK].".strip(), return_tensors="pt")
        with torch.inference_mode():
            state = pretrained.transform(encoder(**inputs).last_hidden_state[0, -3])  # before the full stop and [SEP]
            logits = state @ pretrained.decoder.weight.T + pretrained.decoder.bias
        ids = tokenizer.convert_tokens_to_ids(["great", "terrible"])
        return [float(chance) for chance in logits.softmax(dim=-1)[ids]]

    for (text, _), answer in zip(SENTENCES, answers(services, "pretraining", "cloze"), strict=True):
        great, terrible = chances(f"{text}." if text[-1].isalnum() else text)
        assert (answer.facts["great"], answer.facts["terrible"]) == near((great, terrible))
        assert answer.keys == {"great" if great > terrible else "terrible"}
        assert (answer.facts["great_alone"], answer.facts["terrible_alone"]) == near(tuple(chances("")))


@pytest.mark.slow
def test_masked_words(services: Services) -> None:
    pretrained = services.pretrained(BUNDLED)
    tokenizer, encoder = pretrained.tokenizer, pretrained.encoder.model
    for (text, pair), answer in zip(SENTENCES, answers(services, "pretraining", "fill_mask"), strict=True):
        inputs = tokenizer(text, pair or None, return_tensors="pt")
        ids = inputs["input_ids"][0]
        right = count = 0
        for at in range(1, len(ids) - 1):
            if ids[at] == tokenizer.sep_token_id:
                continue
            hidden = inputs | {"input_ids": ids.clone()[None]}
            hidden["input_ids"][0, at] = tokenizer.mask_token_id
            with torch.inference_mode():
                state = encoder(**hidden).last_hidden_state[0, at]
                right += int(
                    (pretrained.transform(state) @ pretrained.decoder.weight.T + pretrained.decoder.bias).argmax()
                    == ids[at]
                )
            count += 1
        assert (answer.facts["right"], answer.facts["count"]) == (right, count), text
        quarter = ["seldom", "some", "many", "most"][min(3, math.floor(4 * right / count))]
        assert answer.keys == {quarter}


def test_similar_vectors(services: Services, references: list[Reference]) -> None:
    for theirs, (text, pair) in zip(references, SENTENCES, strict=True):
        compute = questions()["embeddings", "anisotropy"].compute
        assert compute is not None
        answer = compute(services, Sentence(text, pair, BUNDLED))
        own = [at for at, token in enumerate(theirs.tokens) if token not in ("[CLS]", "[SEP]")]
        matrix = cosine_similarity(theirs.states[-1][own])
        mean = matrix[np.triu_indices(len(own), 1)].mean()
        assert answer.facts["last"] == near(mean), text
        assert answer.keys == {"zero" if mean < 0.15 else "high" if mean > 0.5 else "some"}


@pytest.mark.slow
def test_agreement_with_people(services: Services, model: Any, tokenizer: Any) -> None:
    with (DATA / "similarity.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    cosines: dict[str, list[float]] = {"cls": [], "mean": [], "input": []}
    for row in rows:
        one, other = (reference(model, tokenizer, row[name]).states for name in ("sentence1", "sentence2"))
        cosines["cls"].append(cosine(one[-1, 0], other[-1, 0]))
        cosines["mean"].append(cosine(one[-1].mean(axis=0), other[-1].mean(axis=0)))
        cosines["input"].append(cosine(one[0].mean(axis=0), other[0].mean(axis=0)))
    scores = [float(row["score"]) for row in rows]
    rho = {name: spearmanr(values, scores).statistic for name, values in cosines.items()}
    answer = answers(services, "embeddings", "agreement")[0]
    assert all(answer.facts[name] == near(value) for name, value in rho.items())
    assert answer.keys == {name for name, value in rho.items() if value > max(rho.values()) - 0.01}


@pytest.mark.slow
def test_search(services: Services, model: Any, tokenizer: Any) -> None:
    with (DATA / "library.tsv").open(encoding="utf-8") as file:
        library = [row["sentence"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    vectors = np.stack([reference(model, tokenizer, text).states[-1].mean(axis=0) for text in library])
    for (text, _), answer in zip(SENTENCES, answers(services, "embeddings", "search", " "), strict=True):
        asked = reference(model, tokenizer, text).states[-1].mean(axis=0)
        best = np.argsort(-cosine_similarity(asked[None], vectors)[0], kind="stable")[:3]
        shared = sum(bool(content(text) & content(library[at])) for at in best)
        assert answer.facts["first"] == library[best[0]]
        assert answer.facts["shared"] == shared, text
        assert answer.keys == {["none", "some", "some", "all"][shared]}


def content(text: str) -> set[str]:
    """The words of two characters and more that are no English function words."""
    letters = "".join(letter if letter.isalnum() else " " for letter in text.lower())
    return {word for word in letters.split() if len(word) > 1} - ENGLISH_STOP_WORDS


def test_two_senses_of_a_word(services: Services, model: Any, tokenizer: Any) -> None:
    senses = [
        ["He sat on the bank of the pond.", "The bank was muddy."],
        ["The bank closed my account.", "A bank lends."],
    ]
    word = tokenizer.convert_tokens_to_ids("bank")
    vectors = []
    for sense in senses:
        found = [reference(model, tokenizer, text) for text in sense]
        vectors.append([theirs.states[:, theirs.ids.index(word)] for theirs in found])
    gaps = []
    for layer in range(7):
        (a, b), (c, d) = [[vector[layer] for vector in sense] for sense in vectors]
        same = [cosine(a, b), cosine(c, d)]
        gaps.append(np.mean(same) - np.mean([cosine(one, other) for one in (a, b) for other in (c, d)]))
    uses = "\n\n".join("\n".join(sense) for sense in senses)
    answer = answers(services, "embeddings", "word_senses", "bank", uses)[0]
    best = int(np.argmax(gaps))
    assert answer.facts["gap"] == near(gaps[best])
    assert answer.facts["layer"] == f"layer {best}"
    assert answer.keys == {"input" if best == 0 else "early" if best <= 3 else "late"}
    with pytest.raises(UserError, match="two senses"):
        answers(services, "embeddings", "word_senses", "bank", "The bank.")


def test_sizes(services: Services, model: Any) -> None:
    count = sum(weights.numel() for weights in model.parameters())
    export = answers(services, "finetune", "export")[0]
    assert export.number == pytest.approx(4 * count / 1e6)
    learn = answers(services, "pretraining", "learn")[0]
    assert learn.number == pytest.approx(-math.log(1 / 30522))
    assert learn.mistakes == {"zero": 0, "one": 1, "half": pytest.approx(0.6931, abs=1e-4)}
    size = answers(services, "encoder", "size")[0]
    assert (size.facts["parameters"], size.facts["heads"] * size.facts["head_width"]) == (f"{count:,}", 384)
    assert answers(services, "embeddings", "siamese")[0].facts["parameters"] == f"{count:,}"
    assert answers(services, "embeddings", "maps")[0].facts["width"] == 384


def test_chance_and_what_was_measured(services: Services) -> None:
    runs = answers(services, "finetune", "runs")[0].facts
    ways = [math.comb(10, wins) for wins in range(11)]
    assert runs["p"] == pytest.approx(sum(way for way in ways if way <= ways[6]) / 2**10)
    assert runs["clear"] == pytest.approx(2 / 2**10)
    curve = answers(services, "finetune", "learning_curve")[0]
    points = json.loads((DATA / "learning_curve.json").read_text(encoding="utf-8"))["measured"]["emotion"]["points"]
    scores = [one["score"] for one in points if one["series"] == "pretrained" and one["examples"] == 24]
    assert curve.facts["pretrained"] == pytest.approx(sum(scores) / len(scores))
    assert len(scores) == curve.facts["seeds"]
    assert curve.keys == {"little"}


def test_the_endings_at_the_piano(services: Services) -> None:
    """Against the head's own weights: a softmax of two scores of tanh(h W + b), for each ending."""
    pretrained = services.pretrained(BUNDLED)
    encoder, asked = pretrained.encoder.model, questions()[("finetune", "results")]
    facts = answers(services, "finetune", "results", sentences=1)[0].facts
    first = "On stage, a woman takes a seat at the piano."
    endings = dict(re.findall(r"^## (\w+): (.+)$", QUESTION.read_text(encoding="utf-8"), flags=re.M))
    for name, ending in endings.items():
        inputs = pretrained.tokenizer(first, f"She {ending}", return_tensors="pt")
        with torch.inference_mode():
            pooled = pretrained.pooler(encoder(**inputs).last_hidden_state)
            chance = float(torch.softmax(pretrained.relation(pooled), -1)[0, 0])
        assert facts[name] == f"{chance:.0%}"
    assert facts.keys() == endings.keys() == {choice.name for choice in asked.answers}


FIXED: dict[tuple[str, str], str] = {
    ("tokens", ""): "pieces",
    ("encoder", "masks"): "all",
    ("encoder", "matrices"): "values",
    ("encoder", "norms"): "batch",
    ("encoder", "size"): "heads",
    ("attention", "grammar"): "some",
    ("pretraining", "labels"): "self",
    ("pretraining", "next_sentence"): "random",
    ("pretraining", "corruption"): "learn",
    ("pretraining", "spans"): "span",
    ("pretraining", "two_words"): "text",
    ("embeddings", "pooling"): "tokens",
    ("embeddings", "maps"): "near",
    ("embeddings", "siamese"): "one",
    ("embeddings", "frozen_features"): "concat",
    ("embeddings", "tensors"): "sentences",
    ("finetune", "train"): "all",
    ("finetune", "runs"): "chance",
    ("finetune", "results"): "keys",
    ("finetune", "published"): "data",
    ("finetune", "layer_mix"): "middle",
    ("finetune", "ready"): "added",
    ("translation", "training"): "long",
    ("translation", "transformer"): "top",
    ("translation", "search"): "product",
    ("translation", "targets"): "log",
    ("family", "decoder"): "before",
    ("family", "last_word"): "last",
    ("family", "prompts"): "input",
    ("family", "elmo"): "none",
    ("family", "inputs"): "last",
    ("family", "models"): "data",
    ("family", "attention"): "cross",
}


def test_answers_that_no_sentence_changes() -> None:
    assert {place: question.right for place, question in questions().items() if question.right} == FIXED


def test_all_tokens_change_with_the_last_word_and_heads_add_no_parameter(model: Any, tokenizer: Any) -> None:
    one, other = (reference(model, tokenizer, f"the cat sat on the {word}").states for word in ("mat", "roof"))
    assert (np.abs(one[-1] - other[-1]).max(axis=-1) > 1e-3).all()

    def count(heads: int) -> int:
        settings = model.config.to_dict() | {"num_attention_heads": heads}
        return sum(weights.numel() for weights in BertModel(type(model.config)(**settings)).parameters())

    assert count(12) == count(24)
