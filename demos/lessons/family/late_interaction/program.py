"""The program of the part: it prints the first sentences by MaxSim, with transformers alone."""

from demos.bert.model.catalogue import ModelSpec
from demos.figures.program import model_lines


def max_sim_code(spec: ModelSpec, query: str, shown: int) -> str:
    """Prints the first places by MaxSim, each with its score."""
    needed, source = model_lines(spec)
    return f"""{needed}import torch
from transformers import AutoModel, AutoTokenizer

{source}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModel.from_pretrained(name, revision=revision, dtype="float32").eval()


def vectors(text):
    inputs = tokenizer(text, return_tensors="pt", truncation=True)
    special = torch.isin(inputs["input_ids"][0], torch.tensor([tokenizer.cls_token_id, tokenizer.sep_token_id]))
    tokens = inputs.tokens()
    texts = [tokenizer.convert_tokens_to_string([token]) for token in tokens]
    texts = [token if "\\ufffd" in text else text for token, text in zip(tokens, texts)]  # parts of a character
    words = [at for at, text in enumerate(texts) if not special[at] and any(map(str.isalnum, text))]
    with torch.inference_mode():
        states = model(**inputs).last_hidden_state[0, words]
    return torch.nn.functional.normalize(states, dim=-1)


with open("assets/data/library.tsv", encoding="utf-8") as file:  # a file of Inside BERT
    sentences = [line.rstrip("\\n").split("\\t")[1] for line in file][1:]
query = vectors({query!r})
scores = [(query @ vectors(sentence).T).amax(dim=1).sum().item() for sentence in sentences]
for score, sentence in sorted(zip(scores, sentences), key=lambda pair: -pair[0])[:{shown}]:
    print(f"{{score:.4f}}", sentence)
"""
