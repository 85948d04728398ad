"""The lines of a program that read an annotation tool's export; their functions are the page's own."""

import inspect
import json
from collections.abc import Sequence

from demos.templates import templates
from demos.training.data.annotated import spans
from demos.training.data.annotated.annotations import LABEL_STUDIO, MINIMAL, Annotations
from demos.training.data.json_tables import LINES

TEXT = templates(__file__, "text_data_program.txt")
_SOURCE = inspect.getsource(spans)
CUTTING = f"{_SOURCE[_SOURCE.index('WHOLE =') : _SOURCE.index('def words_in')].strip()}\n\n\n"
TAGGING = f"{_SOURCE[_SOURCE.index('def words_in') : _SOURCE.index('def place_of')].strip()}\n\n\n"
PLACING = f"{inspect.getsource(spans.place_of).strip()}\n\n\n"
FUNCTIONS = (CUTTING, TAGGING, PLACING)


def annotation_lines(
    about: Annotations, header: Sequence[str], path: str, encoding: str, text: str
) -> tuple[str, str, str, tuple[str, ...]]:
    """(functions, lines, the expression of the table, imports); `path` and `encoding` as repr, `text` is the file's."""
    records = "[json.loads(line) for line in file if line.strip()]"
    if about.form != LINES:
        whole = json.loads(text)
        key = (
            next((name for name, value in whole.items() if isinstance(value, list)), "") if type(whole) is dict else ""
        )
        records = f"json.load(file){f'[{key!r}]' if key else ''}"
    lines = str(TEXT.export(path, encoding, about, records, LABEL_STUDIO, MINIMAL))
    table = f"pd.DataFrame(annotated, columns={list(header)})"
    if not about.spans:
        return "", lines, table, ("import json",)
    functions = f"{'' if about.tokens else CUTTING}{TAGGING}{PLACING if about.moved else ''}"
    imports = ("import json", "from bisect import bisect_left, bisect_right")
    return functions, lines, table, imports if about.tokens else (*imports, "import re", "import unicodedata")
