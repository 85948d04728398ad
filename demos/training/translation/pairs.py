"""`python -m demos.training.translation.pairs [FOLDER]`: writes the pairs that translators are trained on as files.

The programs that the page hands out read them; the page itself makes its pairs anew.
"""

import argparse
import gzip
from pathlib import Path

from demos.bert.translation.bundled import FOLDER
from demos.bert.translation.grammar import HELD_OUT, SEED
from demos.bert.translation.tasks import TASKS
from demos.training.translation.training import PAIRS


def table(task: str) -> str:
    """The task's pairs as a table: a source, a tab, its target; words between spaces, under a line of names."""
    pairs = TASKS[task].sentences(HELD_OUT + PAIRS, SEED)
    return "source\ttarget\n" + "".join(f"{' '.join(pair.source)}\t{' '.join(pair.target)}\n" for pair in pairs)


def main() -> None:
    """A file for each task."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    folder: Path = parser.parse_args().folder
    for task in TASKS:
        (folder / f"{task}.tsv.gz").write_bytes(gzip.compress(table(task).encode(), mtime=0))


if __name__ == "__main__":
    main()
