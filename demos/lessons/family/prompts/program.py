"""The program of the part: the rank of an answer after each prompt, and the model's continuation."""

from demos.bert.causal.prompts import WRITTEN, Task
from demos.bert.family.members import BOTH, OUR_DECODER, Member
from demos.figures.program import model_lines
from demos.lessons.family.program_decoder import DECODER


def prompt_code(member: Member, task: Task, number: int) -> str:
    """Prints the rank of the answer's first token, the probability of all its tokens, and the greedy continuation."""
    answer = task.pairs[number][1]
    if member.key == OUR_DECODER:
        return _ours(task.prompts(number), answer)
    if member.stack == BOTH:
        return _both(member, task.text_to_text(number), answer)
    return _hubs(member, task.prompts(number), answer)


def _ours(prompts: list[str], answer: str) -> str:
    return f"""{DECODER}
answer = tokenizer({answer!r}, add_special_tokens=False)["input_ids"]
for prompt in {prompts!r}:
    ids = tokenizer(prompt)["input_ids"][:-1]  # without [SEP]
    n = len(ids)
    with torch.inference_mode():
        logits = model(torch.tensor([ids + answer]), use_cache=False).logits[0, n - 1 : -1]
        for _ in range({WRITTEN}):
            ids.append(model(torch.tensor([ids]), use_cache=False).logits[0, -1].argmax().item())
    rank = 1 + (logits[0] > logits[0, answer[0]]).sum().item()
    probability = logits.softmax(-1)[range(len(answer)), answer].prod().item()
    print(rank, probability, tokenizer.decode(ids[n:]))
"""


def _hubs(member: Member, prompts: list[str], answer: str) -> str:
    needed, source = model_lines(member)
    return f"""{needed}import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

{source}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModelForCausalLM.from_pretrained(name, revision=revision, dtype="float32", use_safetensors=True).eval()

answer = tokenizer({f" {answer}"!r})["input_ids"]  # a space before it
for prompt in {prompts!r}:
    inputs = tokenizer(prompt, return_tensors="pt")
    ids = inputs["input_ids"][0].tolist()
    with torch.inference_mode():
        logits = model(torch.tensor([ids + answer])).logits[0, len(ids) - 1 : -1]
        written = model.generate(
            **inputs, max_new_tokens={WRITTEN}, do_sample=False, pad_token_id=tokenizer.eos_token_id
        )[0, len(ids) :]
    rank = 1 + (logits[0] > logits[0, answer[0]]).sum().item()
    probability = logits.softmax(-1)[range(len(answer)), answer].prod().item()
    print(rank, probability, tokenizer.decode(written, skip_special_tokens=True))
"""


def _both(member: Member, prompts: list[str], answer: str) -> str:
    needed, source = model_lines(member)
    return f"""{needed}import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

{source}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModelForSeq2SeqLM.from_pretrained(name, revision=revision, dtype="float32", use_safetensors=True).eval()

answer = tokenizer({answer!r}, add_special_tokens=False, return_tensors="pt")["input_ids"]
for prompt in {prompts!r}:
    inputs = tokenizer(prompt, return_tensors="pt")
    with torch.inference_mode():
        logits = model(**inputs, labels=answer).logits[0]  # the decoder is given the answer, one place later
        written = model.generate(**inputs, max_new_tokens={WRITTEN}, num_beams=1, do_sample=False)[0]
    rank = 1 + (logits[0] > logits[0, answer[0, 0]]).sum().item()
    probability = logits.softmax(-1).gather(-1, answer.T).prod().item()
    print(rank, probability, tokenizer.decode(written, skip_special_tokens=True))
"""
