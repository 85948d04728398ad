"""A hub on this machine with several repositories, each of real files, for tests of models that are opened by name."""

import hashlib
import json
import shutil
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

from transformers import BertConfig, BertForPreTraining, BertModel, DistilBertConfig, DistilBertForMaskedLM

from demos.bert.model.catalogue import BUNDLED, CATALOGUE
from demos.bert.model.models import model_folder

NEWEST = "c" * 40
EARLIER = "b" * 40


@dataclass
class Repository:
    """`folder` holds its files; `told` changes what the Hub says of it, `sizes` what it says of single files."""

    folder: Path
    told: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)


class ManyModels(BaseHTTPRequestHandler):
    """What the Hub's own protocol needs: a model's description, and its files with an ETag, whole or a range."""

    protocol_version = "HTTP/1.1"
    repositories: ClassVar[dict[str, Repository]]
    asked: ClassVar[list[str]]
    away: ClassVar[bool] = False

    def log_message(self, *args: object) -> None:
        pass

    def _send(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        self.asked.append(path)
        if "Authorization" in self.headers:
            self._send(500)  # the server's own token must not open models for its readers
        elif self.away:
            self._send(503)
        elif path.startswith("/api/models/"):
            self._describe(path.removeprefix("/api/models/"))
        elif "/resolve/" in path:
            self._file(*path.strip("/").split("/resolve/"))
        else:
            self._send(200)

    do_HEAD = do_GET  # noqa: N815  the name that http.server calls

    def _describe(self, path: str) -> None:
        name, _, revision = path.partition("/revision/")
        found = self.repositories.get(name)
        if found is None:
            self._send(404, X_Error_Code="RepoNotFound")
        elif revision not in ("", NEWEST, EARLIER):
            self._send(404, X_Error_Code="RevisionNotFound")
        elif found.told.get("forbidden"):
            self._send(403, X_Error_Code="GatedRepo")
        else:
            sizes = {file.name: file.stat().st_size for file in found.folder.iterdir()} | found.sizes
            files = [{"rfilename": name, "size": size} for name, size in sizes.items()]
            info = {"id": name, "sha": revision or NEWEST, "private": False, "gated": False, "siblings": files}
            self._send(200, json.dumps(info | found.told).encode(), Content_Type="application/json")

    def _file(self, name: str, rest: str) -> None:
        revision, _, file = rest.partition("/")
        path = self.repositories[name].folder / file
        if not path.is_file():
            self._send(404, X_Error_Code="EntryNotFound")
            return
        body = path.read_bytes()
        headers = {"ETag": f'"{hashlib.sha256(body).hexdigest()}"', "X_Repo_Commit": revision}
        if wanted := self.headers.get("Range", "").removeprefix("bytes="):
            first, _, last = wanted.partition("-")
            self._send(206, body[int(first) : int(last or len(body)) + 1], **headers)
        else:
            self._send(200, body, **headers)


def write_bert(folder: Path, **config: Any) -> Path:
    """A tiny random BERT with both pre-training heads, under the bundled model's vocabulary."""
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    BertForPreTraining(BertConfig(**sizes | config)).save_pretrained(folder)
    return with_tokenizer(folder)


def write_distilbert(folder: Path) -> Path:
    """The same of a DistilBERT with its masked-word head."""
    config = DistilBertConfig(dim=32, n_layers=2, n_heads=4, hidden_dim=64)
    DistilBertForMaskedLM(config).save_pretrained(folder)
    return with_tokenizer(folder)


def with_tokenizer(folder: Path) -> Path:
    """The bundled tokenizer, put into `folder`."""
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        shutil.copy(model_folder(CATALOGUE[BUNDLED]) / name, folder)
    return folder


def edit_json(file: Path, **values: Any) -> None:
    """Change these values of a JSON object."""
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | values), encoding="utf-8")


def in_several_files(folder: Path) -> None:
    """Cut a folder's weights into several files with an index, as transformers does it, in the precision they have."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    kind: Any = {"BertForPreTraining": BertForPreTraining, "BertModel": BertModel}[config["architectures"][0]]
    kind.from_pretrained(folder, dtype="auto").save_pretrained(folder, max_shard_size="100KB")
    (folder / "model.safetensors").unlink(missing_ok=True)
