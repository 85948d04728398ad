"""Sequences drawn from documents: where they are cut, what follows, and how good a model is at them."""

import json
import lzma
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score, recall_score
from transformers import BertConfig, BertForPreTraining

from demos.bert.model.models import LoadedModel
from demos.bert.pretraining.corruption import NO_LABEL
from demos.bert.pretraining.heads import our_heads
from demos.errors import UserError
from demos.training.pretraining.batches import collate
from demos.training.pretraining.model_parts import Parts
from demos.training.pretraining.offline import __main__ as command
from demos.training.pretraining.offline import making
from demos.training.pretraining.offline.corpus import Corpus, corpus_of, draw_instance, read_documents, sentences_of
from demos.training.pretraining.offline.measuring import draw_instances, measure
from tests.benchmarks.pretraining import all_margins, by_frequency, threshold_of

# Each document has words of its own, so that a part tells where it came from.
DOCUMENTS = [[f"{word} {number} ." for number in range(1, 7)] for word in ("apple", "river", "stone", "music")]


@pytest.fixture(scope="module")
def corpus(bundled: LoadedModel) -> Corpus:
    return corpus_of(DOCUMENTS, bundled.tokenizer)


def test_a_file_is_read_by_paragraph_or_by_line(tmp_path: Path) -> None:
    text = 'It rained. "Go home," she said. Mr.\u00a0X left.\nAgain!\n\nA second one. It ends (here). And so on.\n'
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    with lzma.open(tmp_path / "a.txt.xz", "wt", encoding="utf-8") as file:
        file.write(text)
    found = list(read_documents(tmp_path / "a.txt"))
    assert found == list(read_documents(tmp_path / "a.txt.xz"))
    assert found[1] == ["A second one.", "It ends (here).", "And so on."]
    assert found[0][:2] == ["It rained.", '"Go home," she said.']
    assert found[0][-1] == "Again!"
    (tmp_path / "pairs.txt").write_text("One here.\tTwo. It stays one.\n", encoding="utf-8")
    assert list(read_documents(tmp_path / "pairs.txt")) == [["One here.", "Two. It stays one."]]
    assert sentences_of("in 1.5 seconds or so") == ["in 1.5 seconds or so"]


def test_half_of_the_parts_follow_and_the_rest_come_from_elsewhere(corpus: Corpus, bundled: LoadedModel) -> None:
    rng, labels, tokens = np.random.default_rng(0), Counter[int](), bundled.tokenizer.convert_ids_to_tokens
    for _ in range(400):
        one = draw_instance(corpus, bundled.tokenizer, rng, 16)
        ids = np.where(one.corruption.labels == NO_LABEL, one.corruption.input_ids, one.corruption.labels)
        found = tokens(ids.tolist())
        assert len(found) <= 16
        assert found[0] == "[CLS]"
        end = found.index("[SEP]")
        assert one.segments == (0,) * (end + 1) + (1,) * (len(found) - end - 1)
        first, second = found[1:end], found[end + 1 : -1]
        kinds = [{word for word in part if word.isalpha()} for part in (first, second)]
        assert len(kinds[0] | kinds[1]) == (1 if one.following == 0 else 2)
        if one.following == 0:
            for part in (first, second):  # what was cut off stood at an end, so nothing is missing within a part
                numbers = [int(word) for word in part if word.isdigit()]
                assert numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else len(part) < 3
            both = [int(word) for word in (*first, *second) if word.isdigit()]
            assert both == sorted(set(both))
        labels[one.following or 0] += 1
    assert abs(labels[0] - 200) < 4 * math.sqrt(100)  # four standard deviations


def test_half_of_the_false_parts_come_from_documents_with_the_same_words(bundled: LoadedModel) -> None:
    words = ("apple", "apple", "river", "river", "stone", "stone")
    documents = [[f"{word} {number} ." for number in range(1, 7)] for word in words]
    corpus = corpus_of(documents, bundled.tokenizer).with_alike(1)
    assert corpus.alike[:, 0].tolist() == [1, 0, 3, 2, 5, 4]
    rng, same = np.random.default_rng(0), Counter[bool]()
    for _ in range(600):
        one = draw_instance(corpus, bundled.tokenizer, rng, 16)
        if one.following == 0:
            continue
        ids = np.where(one.corruption.labels == NO_LABEL, one.corruption.input_ids, one.corruption.labels)
        found = bundled.tokenizer.convert_ids_to_tokens(ids.tolist())
        end = found.index("[SEP]")
        first, second = (set(words) & set(part) for part in (found[:end], found[end:]))
        if first and second:
            same[first == second] += 1
    total = sum(same.values())
    share = 1 / 2 + 1 / 2 / 5  # the toss of a coin, and one of the five others by chance
    assert abs(same[True] - total * share) < 4 * math.sqrt(total * share * (1 - share))


def test_what_nobody_knows_is_not_asked(bundled: LoadedModel) -> None:
    corpus = corpus_of([["[UNK] ran .", "[UNK] [UNK] sat ."], ["he [UNK] .", "[UNK] a [UNK] ."]], bundled.tokenizer)
    rng = np.random.default_rng(1)
    asked = np.concatenate([draw_instance(corpus, bundled.tokenizer, rng, 20).corruption.labels for _ in range(60)])
    assert bundled.tokenizer.unk_token_id in corpus.input_ids
    assert bundled.tokenizer.unk_token_id not in asked
    with pytest.raises(UserError, match="two documents"):
        corpus_of([["One.", "Two."], ["Alone."]], bundled.tokenizer)


def test_scores_equal_those_of_transformers_own_model(corpus: Corpus, bundled: LoadedModel) -> None:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=30522, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    whole = BertForPreTraining(config).eval().requires_grad_(False)
    words = whole.cls.predictions
    parts = Parts(whole.bert, words.transform, words.decoder, whole.bert.pooler, whole.cls.seq_relationship)
    instances = draw_instances(corpus, bundled.tokenizer, 40, 24, 3)
    found = measure(parts, bundled.tokenizer, instances)
    hits, top5, losses, following = [], [], [], []
    for one in instances:
        batch = collate([one], 0)
        output = whole(input_ids=batch.input_ids, token_type_ids=batch.token_type_ids, labels=batch.labels,
                       next_sentence_label=batch.following)  # fmt: skip
        asked = batch.labels[0] != NO_LABEL
        answers = batch.labels[0][asked]
        best = output.prediction_logits[0][asked].topk(5).indices
        hits += (best[:, 0] == answers).tolist()
        top5 += (best == answers[:, None]).any(dim=1).tolist()
        label = torch.nn.functional.cross_entropy(output.seq_relationship_logits, batch.following)
        losses.append((float(output.loss - label), len(answers)))
        following.append(bool(output.seq_relationship_logits.argmax() == batch.following))
    assert found.top1 == pytest.approx(np.mean(hits))
    assert found.top5 == pytest.approx(np.mean(top5))
    assert found.cross_entropy == pytest.approx(sum(loss * count for loss, count in losses) / len(hits), rel=1e-4)
    assert found.following == pytest.approx(np.mean(following))
    labels = np.array([one.following for one in instances])
    said = np.where(following, labels, 1 - labels)
    told = np.array(following) == (labels == 0)  # whether IsNext was said
    np.testing.assert_array_equal(all_margins(parts, bundled.tokenizer, instances) > 0, told)
    assert found.following_recall == pytest.approx(recall_score(labels, said, average=None))
    assert found.chosen == len(hits)


def test_without_context_nothing_beats_the_commonest(corpus: Corpus, bundled: LoadedModel) -> None:
    instances = draw_instances(corpus, bundled.tokenizer, 100, 24, 5)
    answers = Counter(int(token) for one in instances for token in one.corruption.labels if token != NO_LABEL)
    found, total = by_frequency(instances), sum(answers.values())
    assert found.top1 == pytest.approx(answers.most_common(1)[0][1] / total)
    assert found.top5 == pytest.approx(sum(count for _, count in answers.most_common(5)) / total)
    entropy = -sum(count / total * math.log(count / total) for count in answers.values())
    assert found.cross_entropy == pytest.approx(entropy)
    assert 0.5 <= found.following < 0.7
    assert sorted(found.following_recall) == [0.0, 1.0]


def test_the_best_threshold_is_right_as_often_as_any_other_cut_could_be() -> None:
    rng = np.random.default_rng(1)
    following = rng.integers(0, 2, 200)
    margins = rng.normal(np.where(following == 0, 2.0, 0.5))
    threshold, accuracy = threshold_of(margins, following)
    assert accuracy == pytest.approx(accuracy_score(following == 0, margins > threshold))
    cuts = [accuracy_score(following == 0, margins > cut) for cut in [*margins, -np.inf]]
    assert accuracy == pytest.approx(max(cuts))
    assert 0.5 < threshold < 2.0


def test_a_step_in_two_batches_has_the_gradients_of_one(corpus: Corpus, bundled: LoadedModel) -> None:
    frequency = np.ones(len(bundled.tokenizer))
    heads = making.Heads(bundled, frequency)
    rng = np.random.default_rng(2)
    rows = [draw_instance(corpus, bundled.tokenizer, rng, length) for length in (12, 12, 12, 30, 30)]
    whole, parts = [collate(rows, 0)], [collate(rows[:3], 0), collate(rows[3:], 0)]
    found = []
    for batches in (whole, parts):
        losses = making.step_gradients(heads, batches, float32=True)
        found.append(
            (losses, {name: one.grad.clone() for name, one in heads.trained().items() if one.grad is not None})
        )
        heads.zero_grad()
    (one, gradients), (two, others) = found
    assert one == pytest.approx(two, rel=1e-5)
    assert len(gradients) == len(heads.trained())
    for name, gradient in gradients.items():
        torch.testing.assert_close(others[name], gradient, rtol=1e-3, atol=1e-6)


@pytest.mark.slow
def test_the_command_trains_and_writes_what_the_app_reads(
    bundled: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    books = "\n\n".join(f"The {word} is old. It is here. We saw it." for word in ("house", "bridge", "tree", "road"))
    (tmp_path / "books.txt").write_text(books, encoding="utf-8")
    pairs = "".join(f"He was a {word}.\tHe lived in the city.\n" for word in ("painter", "writer", "king", "singer"))
    (tmp_path / "pairs.txt").write_text(pairs, encoding="utf-8")
    monkeypatch.setattr(command, "HELD_OUT", {"books": 2, "wikipedia": 2})
    monkeypatch.setattr(making.signal, "signal", lambda *_: None)
    files = [str(tmp_path / name) for name in ("run", "books.txt", "pairs.txt")]
    options = ["--batch=4", "--length=24", "--every=2", "--sequences=4", "--average=0", "--float32", "--alike=1"]
    command.main([*files, *options, "--steps=2"])
    command.main([*files, *options, "--decay=2"])  # goes on where the first one stopped
    (first, second) = [
        json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert (first["step"], second["step"]) == (2, 4)
    assert second["tokens"] > first["tokens"] > 0
    assert set(second["held_out"]) == {"books", "wikipedia"}
    found = our_heads(bundled, tmp_path / "run" / "heads.safetensors")
    assert found.about["steps"] == "4"
    state = torch.load(tmp_path / "run" / "state.pt")["weights"]
    name = "encoder.layer.0.output.dense.weight"
    moved = state[f"bert.{name}"] - bundled.model.state_dict()[name]
    ours = found.encoder.model.state_dict()[name] - bundled.model.state_dict()[name]
    assert moved.abs().max() > 0
    torch.testing.assert_close(ours, moved, atol=moved.abs().max().item() / 7, rtol=0)  # half a step of 4 bits

    begun = making.Heads(bundled, np.ones(len(bundled.tokenizer)))
    progress = begun.begin_at(tmp_path / "run" / "heads.safetensors", bundled.model.state_dict())
    assert (progress.step, progress.tokens) == (4, second["tokens"])
    words = begun.whole.bert.embeddings.word_embeddings.weight + begun.left @ begun.right
    torch.testing.assert_close(words, found.encoder.model.embeddings.word_embeddings.weight, atol=1e-5, rtol=0)
    torch.testing.assert_close(
        begun.whole.bert.encoder.layer[0].output.dense.weight, found.encoder.model.state_dict()[name]
    )
    files[0] = str(tmp_path / "on")
    command.main([*files, *options, "--decay=2", f"--begin={tmp_path / 'run' / 'heads.safetensors'}", "--workers=1"])
    assert json.loads((tmp_path / "on" / "log.jsonl").read_text(encoding="utf-8"))["step"] == 6
