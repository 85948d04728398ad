"""Before and after: which word is hidden, and the answers and mean losses against transformers' own, one by one."""

import math

import pytest
import torch
from transformers import BertForPreTraining

from demos.bert.pretraining.heads import Pretrained
from demos.training.pretraining.model_parts import Parts
from demos.training.pretraining.passage import Passage
from demos.training.pretraining.probes import GENERAL, SHOWN, TOP, ask, mean_loss, questions

PASSAGE = Passage(("The bees close the comb.", "A hive is loud."), ("The comb of the unflappable hive is full.",))


def test_the_hidden_word_is_the_rarest_one_that_is_trained_on_too(pretrained: Pretrained):
    own, *general = questions(pretrained.tokenizer, PASSAGE)
    word = pretrained.tokenizer.convert_ids_to_tokens(own.answer)
    assert word in ("hive", "comb")
    assert own.answer == max(pretrained.tokenizer.convert_tokens_to_ids(["hive", "comb", "the", "is"]))
    assert own.own
    assert f"{own.before}{word}{own.after}" == PASSAGE.held_out[0]
    assert own.input_ids[own.place] == pretrained.tokenizer.mask_token_id
    assert [pretrained.tokenizer.convert_ids_to_tokens(one.answer) for one in general] == ["door", "cup"]
    assert len(general) == SHOWN
    (first, *_) = questions(pretrained.tokenizer, Passage(("Only one 😀.",), ()))
    assert first.own


def test_answers_and_losses_are_transformers_own(whole: BertForPreTraining, pretrained: Pretrained):
    tokenizer, parts = pretrained.tokenizer, Parts.of(pretrained)
    asked = questions(tokenizer, PASSAGE)
    said = ask(parts, tokenizer, PASSAGE, asked)
    for question, answer in zip(asked, said.answers, strict=True):
        with torch.inference_mode():
            logits = whole(input_ids=torch.tensor([question.input_ids])).prediction_logits[0, question.place]
        chances = logits.softmax(dim=-1)
        ordered = chances.argsort(descending=True)
        assert [token for token, _ in answer.top] == tokenizer.convert_ids_to_tokens(ordered[:TOP].tolist())
        assert answer.probability == pytest.approx(float(chances[question.answer]), rel=1e-4)
        assert ordered[answer.rank - 1] == question.answer
    losses = []
    for sentence in PASSAGE.held_out:
        ids = tokenizer(sentence, return_tensors="pt")["input_ids"]
        for place in range(1, ids.shape[1] - 1):
            masked = ids.clone()
            masked[0, place] = tokenizer.mask_token_id
            labels = torch.where(torch.arange(ids.shape[1]) == place, ids, -100)
            with torch.inference_mode():
                logits = whole(input_ids=masked).prediction_logits
            losses.append(torch.nn.functional.cross_entropy(logits[0], labels[0]).item())
    assert said.own == pytest.approx(sum(losses) / len(losses), abs=1e-5)
    assert said.general == mean_loss(parts, tokenizer, [one.partition("|")[0] for one in GENERAL])
    assert math.isnan(mean_loss(parts, tokenizer, ()))
