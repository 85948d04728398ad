"""The lines that several programs of this lesson begin with: the bundled decoder as transformers' own class."""

from demos.files import read_beside

DECODER = read_beside(__file__, "program_decoder.txt")  # leaves `tokenizer` and `model`, a BertLMHeadModel
