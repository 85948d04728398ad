"""The overview's program: prints the steps for the reader's input, with transformers alone."""

from __future__ import annotations

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import Encoding
from demos.figures.program import begin, texts_of


def overview_code(spec: ModelSpec, encoding: Encoding) -> str:
    """Prints each token with the norm of its input and output vectors and where each layer's attention mostly goes."""
    return f"""{begin(spec, texts_of(encoding), attentions=True)}with torch.inference_mode():
    output = model(**inputs, output_hidden_states=True, output_attentions=True)

tokens = inputs.tokens()
states = torch.stack(output.hidden_states)[:, 0]  # [layers + 1, tokens, width]; the first is the input
mean = torch.stack(output.attentions)[:, 0].mean(dim=1)  # [layers, tokens, tokens]: the mean of the heads
for place, token in enumerate(tokens):
    norms = [round(norm, 3) for norm in states[:, place].norm(dim=-1).tolist()]
    print(token, inputs.input_ids[0, place].item(), *norms)
    print("  attends most to", *[tokens[source] for source in mean[:, place].argmax(dim=-1).tolist()])
vector = states[-1].mean(dim=0)  # one vector for the sentence
print([round(number, 4) for number in vector[:8].tolist()])
"""
