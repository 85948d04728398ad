"""The settings of the app: the command line first, then the environment (for a Space), then defaults."""

import argparse
import importlib.util
import os
import re
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from demos.errors import UserError

# An origin as a browser says it: no path, no wildcard, and nothing that would end its place in a header.
ORIGIN = re.compile(
    r"https://(?=[^:]{1,253}(?::|$))[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+(:\d{1,5})?"
)


@dataclass(frozen=True)
class Settings:
    """The app's options; `python app.py --help` says what each means."""

    host: str
    port: int
    share: bool
    model: str
    root_path: str
    catalogue: str
    model_folder: str
    any_model: bool
    runs: str
    tour: str
    room_letter: str
    frame: tuple[str, ...]  # origins
    mcp: bool
    pack: tuple[str, ...]  # a tour's file and the one to write, or nothing


def read_settings(arguments: Sequence[str] | None = None) -> Settings:
    """Settings from the command line and the environment. Exits, as argparse does, on --help or a bad option."""
    env = os.environ
    parser = argparse.ArgumentParser(
        prog="app.py",
        description="Inside BERT: type a sentence and follow it through BERT.",
        epilog="Each option has an environment variable, named in brackets, that does the same.",
    )

    def option(name: str, says: str, default: object = "", *, gradios: str = "", after: str = "", **more: Any) -> None:
        """An option with a value, which `INSIDE_BERT_…` says too, and of some a variable of Gradio's."""
        variable = f"INSIDE_BERT_{name.upper().replace('-', '_')}"
        value = env.get(variable) or (gradios and env.get(gradios)) or default
        variables = ", ".join(filter(None, (variable, gradios)))
        parser.add_argument(f"--{name}", default=value, help=f"{says} [{variables}]{after}", **more)

    def switch(name: str, says: str) -> None:
        """An option of yes or no."""
        variable = f"INSIDE_BERT_{name.upper().replace('-', '_')}"
        value = env.get(variable, "").lower() in {"1", "true", "yes"}
        action = argparse.BooleanOptionalAction
        parser.add_argument(f"--{name}", action=action, default=value, help=f"{says} [{variable}]")

    option(
        "host",
        "address to listen on; 0.0.0.0 for all",
        "127.0.0.1",
        gradios="GRADIO_SERVER_NAME",
        after=" (default 127.0.0.1)",
    )
    option("port", "port to listen on", 7860, type=int, gradios="GRADIO_SERVER_PORT", after=" (default 7860)")
    switch("share", "make a temporary public link through Gradio's relay")
    is_default = " (default bert-base-uncased where it is on this machine, else the bundled minilm)"
    option("model", "catalogue key of the model to open with", after=is_default)
    option("root-path", "path under which a proxy serves the app", gradios="GRADIO_ROOT_PATH")
    option("catalogue", "JSON file with further models at pinned revisions")
    option(
        "model-folder",
        "folder, or zip, of a model of yours with config.json, tokenizer.json and safetensors: it is in the menu, "
        "and the page opens with it",
    )
    switch(
        "any-model",
        "let readers open any BERT, DistilBERT, RoBERTa, XLM-R, ALBERT, ELECTRA or ModernBERT model on the Hub by "
        "its name (owner/name), if it is small enough; not meant for a public Space",
    )
    option(
        "runs",
        "folder for finished trainings, found again after a restart and by every server on it",
        after=" (default a folder of yours in the system's temporary one)",
    )
    option("tour", "text file with a guided tour of your own, offered beside ours")
    option("room-letter", "letter that the codes of this server's rooms begin with, where a proxy has several servers")
    parser.add_argument(
        "--frame",
        action="append",
        metavar="ORIGIN",
        help="https origin, such as https://moodle.example.edu, whose pages may show the app in a frame; repeatable "
        "[INSIDE_BERT_FRAME, with spaces between several]",
    )
    switch(
        "mcp",
        "offer the API's read-only endpoints as tools of the Model Context Protocol too, at /gradio_api/mcp/; "
        'needs pip install "gradio[mcp]"',
    )
    parser.add_argument(
        "--pack",
        nargs=2,
        default=(),
        metavar=("TOUR", "FILE"),
        help="write a tour with its pictures to one HTML file that needs no server and no network, and end",
    )
    options = vars(parser.parse_args(arguments))
    frame = options["frame"] if options["frame"] is not None else env.get("INSIDE_BERT_FRAME", "").split()
    return Settings(**options | {"pack": tuple(options["pack"]), "frame": tuple(frame)})


def check_frames(origins: Sequence[str]) -> None:
    """Raises UserError, one sentence, for the first of `origins` that is no https origin."""
    for origin in origins:
        if not ORIGIN.fullmatch(origin):
            raise UserError(
                f"{origin[:80]!r} is not an https origin; give --frame one without a path: https://moodle.example.edu."
            )


def check_mcp() -> None:
    """Raises UserError, one sentence, where the package that `--mcp` needs is not installed."""
    if importlib.util.find_spec("mcp") is None:
        raise UserError('--mcp needs a package that is not installed here; install it with: pip install "gradio[mcp]"')


def check_port(host: str, port: int) -> None:
    """Raises UserError, one sentence, where nothing can listen on this host and port."""
    if not 0 <= port <= 65_535:
        raise UserError(f"{port} is not a port; choose one from 1 to 65535 with --port.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        if sys.platform != "win32":  # where it would let two programs listen on one port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise UserError(
                f"The app can't listen on {host}:{port} ({error.strerror or error}); choose another --port or --host."
            ) from error
