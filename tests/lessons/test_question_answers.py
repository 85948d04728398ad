"""Each question's right answer, for sentences of no example, against transformers, scikit-learn, scipy and by hand."""

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
from demos.lessons import discover
from demos.page.questions import Answer, questions
from demos.page.services import Sentence, Services
from demos.page.your_questions.catalogue import offered_questions

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


@dataclass
class Reference:
    """What transformers itself says of an input."""

    tokens: list[str]
    ids: list[int]
    states: np.ndarray  # [L + 1, n, d]
    attentions: np.ndarray  # [L, H, n, n]


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


def near(number: Any) -> Any:
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
        words = len((text + " " + pair).split())
        assert n == theirs.states.shape[1]
        assert overview.facts == {"tokens": n, "width": 384, "words": words, "pieces": n - specials}
        continued = [token.startswith("##") for token in theirs.tokens]
        starts = [not later for later in continued[1:]] + [True]
        assert cut.facts["cut"] == sum(end is False and not continued[at] for at, end in enumerate(starts))
        assert cut.facts["words"] == n - specials - sum(continued)
        assert cut.facts["unknown"] == theirs.tokens.count("[UNK]")
        assert (cut.facts["tokens"], changed.facts["tokens"]) == (n, n)
        assert pooled.facts == {"words": words, "tokens": n, "size": 384, "total": f"{n * 384:,}"}
        assert (unpooled.facts["pooled"], unpooled.facts["unpooled"]) == ("2,304", f"{6 * 384 * n:,}")
        assert chosen.facts["chosen"] == max(1, round(0.15 * n))
        assert chosen.facts["masked"] == pytest.approx(0.8 * chosen.facts["chosen"])
    assert any(answer.facts["unknown"] for answer in answers(services, "tokens", ""))


def test_the_lecture_s_sentence_has_18_tokens(services: Services, tokenizer: Any) -> None:
    """A lecture says 20 sub-tokens; they are 16 pieces and 18 tokens. With 20, the sizes are the lecture's."""
    text = "I am looking forward for today! It's going to be a big day"
    pieces = tokenizer.tokenize(text)
    assert (len(pieces), len(tokenizer(text)["input_ids"]), len(text.split())) == (16, 18, 13)
    pooling = questions()["embeddings", "pooling"]
    offered = {answer.name: answer.text for answer in pooling.answers}
    assert offered[pooling.right] == f"768, and 20 × 768 = {20 * 768:,}"
    assert offered["words"] == f"768, and 13 × 768 = {13 * 768:,}"
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
        layer, head = np.unravel_index(scores.argmax(), scores.shape)
        assert previous.keys == third(int(layer)) == {"first"}  # as published for BERT base
        assert (previous.facts["layer"], previous.facts["head"]) == (layer + 1, head + 1)  # as the page counts
        assert previous.facts["share"] == near(scores.max())
        row = theirs.attentions[LAYER, HEAD, TOKEN]
        assert looked.facts["best"] == theirs.tokens[int(row.argmax())]
        assert (looked.facts["weight"], looked.facts["own"]) == near((row.max(), row[TOKEN]))
        own = theirs.attentions.argmax(axis=-1) == np.arange(len(row))
        assert looked.facts["share"] == near(own.mean())
        assert own.mean() < 0.5  # no token must give itself the largest weight


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
        assert all(entering.facts[name] == near(norm) for name, norm in norms.items())
        first, last = (cosine(theirs.states[0, at], theirs.states[layer, at]) for layer in (1, -1))
        assert (far.facts["first"], far.facts["last"]) == near((first, last))
        assert far.keys == {"falls"}
        assert last < first - 0.02
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
        assert answer.facts["layer"] == int(np.argmin(cosines)) + 1


def test_without_heads_a_token_depends_on_its_word_and_position_alone(model: Any, tokenizer: Any) -> None:
    assert questions()["attention", "ablation"].right == "own"
    one, other = (tokenizer(f"the cat sat on the {word}")["input_ids"] for word in ("mat", "roof"))
    silent = [
        layer.attention.output.dense.register_forward_pre_hook(lambda _, args: (torch.zeros_like(args[0]),))
        for layer in model.encoder.layer
    ]
    with torch.inference_mode():
        old, new = (model(input_ids=torch.tensor([ids])).last_hidden_state[0].numpy() for ids in (one, other))
    for hook in silent:
        hook.remove()
    changed = np.abs(old - new).max(axis=-1) > 1e-5
    assert changed.tolist() == [a != b for a, b in zip(one, other, strict=True)]
    assert np.abs(old[1] - old[5]).max() > 1e-3  # “the” at two positions: not all vectors are equal


def test_scores_of_unchanged_words_differ_from_layer_2_on(model: Any, tokenizer: Any) -> None:
    assert questions()["attention", "compare"].right == "second"
    left, right = (reference(model, tokenizer, f"the old {word} sat by the fire.") for word in ("man", "dog"))
    same = [at for at, pair in enumerate(zip(left.ids, right.ids, strict=True)) if len(set(pair)) == 1]
    differ = []
    for number, layer in enumerate(model.encoder.layer):
        own = layer.attention.self
        q, k = (part.weight.detach().double().numpy() for part in (own.query, own.key))
        a, b = ((one.states[number] @ q.T) @ (one.states[number] @ k.T).T for one in (left, right))
        differ.append(bool(np.abs(a - b)[np.ix_(same, same)].max() > 1e-3))
    assert differ == [False, True, True, True, True, True]


def test_only_the_position_differs_between_two_occurrences(model: Any, tokenizer: Any) -> None:
    assert questions()["encoder", "input"].right == "position"
    inputs = tokenizer("the cat and the dog", return_tensors="pt")
    ids, kinds = inputs["input_ids"][0], inputs["token_type_ids"][0]
    first, second = np.flatnonzero(ids.numpy() == tokenizer.convert_tokens_to_ids("the")).tolist()
    assert kinds[first] == kinds[second]
    positions = model.embeddings.position_embeddings.weight
    assert not torch.equal(positions[first], positions[second])


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
        assert answer.facts["layer"] == int(layers.argmax()) + 1
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
        alone = chances("")
        assert (answer.facts["great_alone"], answer.facts["terrible_alone"]) == near(tuple(alone))
        assert max(alone) > 1.2 * min(alone)
        assert answer.keys == {"unequal"}


def test_two_words_that_are_equally_probable(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("demos.lessons.pretraining.cloze.part.LABEL_WORDS", (("great", "great"),))
    (answer,) = answers(services, "pretraining", "cloze", sentences=1)
    assert answer.keys == {"equal"}


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
        first, last = (
            cosine_similarity(theirs.states[layer][own])[np.triu_indices(len(own), 1)].mean() for layer in (0, -1)
        )
        assert (answer.facts["first"], answer.facts["last"]) == near((first, last)), text
        assert answer.keys == {"rises"}
        assert last > first + 0.02


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


CHOICES: dict[str, Any] = {"token": TOKEN, "layer": LAYER, "head": HEAD}


def test_a_question_about_the_sentence_is_another_one_for_each_that_is_offered(services: Services) -> None:
    about = [question for question in questions().values() if question.about_sentence]
    assert len(about) >= 7
    others = offered_questions(discover())["sentences"]
    for question in about:
        assert question.compute is not None
        choices = [CHOICES[name] for name in question.choices]
        facts = [question.compute(services, Sentence(other, "", BUNDLED), *choices).facts for other in others]
        assert len({str(sorted(fact.items())) for fact in facts}) > 1, question.name


def test_sizes(services: Services, model: Any) -> None:
    count = sum(weights.numel() for weights in model.parameters())
    export = answers(services, "finetune", "export")[0]
    assert export.number == pytest.approx(4 * 22.7)
    assert count == pytest.approx(22.7e6, rel=1e-3)
    assert (export.facts["parameters"], export.facts["size"]) == (f"{count:,}", pytest.approx(4 * count / 1e6))
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


def test_what_a_further_task_costs(services: Services) -> None:
    """The question's round numbers are those of the adapters that come with the app."""
    ready = answers(services, "finetune", "ready", sentences=1)[0]
    (asked,) = re.findall(r"have ([\d.]+) million weights, stored with 1 byte", questions()["finetune", "ready"].text)
    assert ready.number == float(asked)
    for folder in (DATA.parent / "ready").iterdir():
        if folder.is_dir():
            size = (folder / "adapter.safetensors").stat().st_size
            assert size / 1e6 == pytest.approx(ready.number, rel=0.1)
    assert min(abs(one - ready.number) for one in ready.mistakes.values()) > 0.1 * ready.number


def test_the_sample_s_heads_change_most_in_the_last_layers(services: Services) -> None:
    results = answers(services, "finetune", "results", sentences=1)[0]
    heads = np.array(json.loads((DATA / "after.json").read_text(encoding="utf-8"))["heads"]).mean(axis=1)
    assert results.keys == third(int(heads.argmax())) == {"last"}  # as published for BERT base
    assert (results.facts["most"], results.facts["highest"]) == (int(heads.argmax()) + 1, near(heads.max()))


FIXED: dict[tuple[str, str], str] = {
    ("tokens", ""): "pieces",
    ("encoder", "masks"): "all",
    ("encoder", "matrices"): "values",
    ("encoder", "norms"): "batch",
    ("encoder", "size"): "heads",
    ("pretraining", "labels"): "self",
    ("pretraining", "next_sentence"): "random",
    ("pretraining", "corruption"): "learn",
    ("pretraining", "original_run"): "sum",
    ("pretraining", "spans"): "span",
    ("pretraining", "two_words"): "text",
    ("embeddings", "pooling"): "tokens",
    ("embeddings", "maps"): "near",
    ("embeddings", "siamese"): "one",
    ("embeddings", "frozen_features"): "once",
    ("embeddings", "tensors"): "sentences",
    ("finetune", "train"): "encoder",
    ("finetune", "runs"): "chance",
    ("finetune", "published"): "test",
    ("finetune", "layer_mix"): "others",
    ("translation", "training"): "long",
    ("translation", "recurrent"): "were",
    ("translation", "distance"): "one",
    ("translation", "transformer"): "cross",
    ("translation", "search"): "product",
    ("translation", "targets"): "log",
    ("family", "decoder"): "before",
    ("family", "last_word"): "later",
    ("family", "prompts"): "input",
    ("family", "elmo"): "none",
    ("family", "inputs"): "last",
    ("family", "models"): "data",
    ("family", "attention"): "cross",
    ("attention", "ablation"): "own",
    ("attention", "compare"): "second",
    ("embeddings", "agreement"): "glove",
    ("encoder", "input"): "position",
    ("encoder", "self_attention"): "matrices",
    ("family", "late_interaction"): "tokens",
    ("overview", ""): "tokens",
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
