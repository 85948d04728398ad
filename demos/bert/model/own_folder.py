"""A model in a folder or a zip on this machine: checked as a model of the Hub is, then an entry of the catalogue."""

import atexit
import json
import math
import re
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from huggingface_hub.utils import SafetensorsFileMetadata, TensorInfo
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file

from demos.bert.model.by_name.model_checks import MOST_FILE, Limits, check_files, check_model, read_json, refused
from demos.bert.model.catalogue import CATALOGUE, FOLDER, FolderSpec, ModelSpec, extend_catalogue
from demos.bert.model.fetching import TOKENIZER_FILES, WEIGHTS
from demos.bert.model.models import read_tokenizer
from demos.bert.model.weights import INDEX
from demos.errors import UserError

OURS = "encoder_with_head"  # the model_type of demos/training/export/modeling_head.py


def read_catalogue(path: Path | str) -> dict[str, ModelSpec]:
    """The catalogue with what is at `path`: a JSON file of further models, or one model's folder or zip.

    Raises UserError, one sentence, as `extend_catalogue` and `folder_spec`.
    """
    path = Path(path)
    if path.is_dir() or path.suffix.lower() == ".zip":
        return with_folder(CATALOGUE, path, math.inf)
    return extend_catalogue(path)


def with_folder(catalogue: Mapping[str, ModelSpec], path: Path | str, memory: float) -> dict[str, ModelSpec]:
    """`catalogue` with the model of a folder or zip before the others. Raises UserError as `folder_spec`."""
    spec = folder_spec(Path(path), Limits.of(catalogue, memory))
    return {spec.key: spec, **catalogue}


def folder_spec(path: Path, limits: Limits) -> FolderSpec:
    """The entry of the model in a folder with config.json, a tokenizer and safetensors, or in a zip of such a folder.

    Raises UserError, one sentence, for what can't be opened here. No code of the folder is run.
    """
    name = path.resolve().stem if path.suffix.lower() == ".zip" else path.resolve().name
    name = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII).strip("-.") or "model"
    folder = path if path.is_dir() else _unpacked(path, name)
    sizes = _sizes(folder)
    check_files(name, sizes)
    config = read_json(folder / "config.json")
    is_whole = not isinstance(config, dict) or config.get("model_type") != OURS
    if not is_whole:
        folder = _encoder(name, folder, config)
        sizes = _sizes(folder)

    def header(file: str) -> SafetensorsFileMetadata:
        return _header(name, folder / file)

    checked = check_model(name, folder, sizes, header, limits, read_tokenizer)
    own = {"key": f"{FOLDER}{name}", "folder": folder.resolve(), "is_whole": is_whole}
    return FolderSpec(**vars(checked.spec) | own)


def _sizes(folder: Path) -> dict[str, int | None]:
    """The files of a folder, and the bytes of each."""
    try:
        return {file.name: file.stat().st_size for file in folder.iterdir() if file.is_file()}
    except OSError as error:
        raise UserError(f"The folder {folder} can't be read: {error.strerror}.") from error


def _encoder(name: str, folder: Path, config: Mapping[str, Any]) -> Path:
    """The encoder of a model that the page exported with a head of a custom class, in a separate folder.

    Its file of code is not read: the encoder's tensors and its configuration are enough.
    """
    alone = _temporary()
    try:
        tensors = load_file(folder / WEIGHTS)
    except (SafetensorError, OSError) as error:
        raise refused(name, f"its {WEIGHTS} is no safetensors file") from error
    inside = {key.removeprefix("encoder."): value for key, value in tensors.items() if key.startswith("encoder.")}
    save_file(inside, alone / WEIGHTS, {"format": "pt"})
    (alone / "config.json").write_text(json.dumps(config.get("encoder")), encoding="utf-8")
    for file in TOKENIZER_FILES:
        if file != "config.json" and (folder / file).is_file():
            shutil.copy(folder / file, alone)
    return alone


def _temporary() -> Path:
    """A folder that goes when the program ends."""
    folder = Path(tempfile.mkdtemp(prefix="inside-bert-model-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _header(name: str, file: Path) -> SafetensorsFileMetadata:
    """The tensors of a safetensors file, from its header."""
    try:
        with safe_open(file, "pt") as stored:
            slices = {key: stored.get_slice(key) for key in stored.keys()}  # noqa: SIM118  no mapping
            tensors = {
                key: TensorInfo(dtype=part.get_dtype(), shape=part.get_shape(), data_offsets=(0, 0))
                for key, part in slices.items()
            }
    except (SafetensorError, OSError) as error:
        raise refused(name, f"its {file.name} is no safetensors file") from error
    return SafetensorsFileMetadata(metadata={}, tensors=tensors)


def _unpacked(archive: Path, name: str) -> Path:
    """The model's files of a zip, in a folder that goes when the program ends."""
    try:
        with zipfile.ZipFile(archive) as packed:
            configs = [
                PurePosixPath(inner) for inner in packed.namelist() if PurePosixPath(inner).name == "config.json"
            ]
            home = min(configs, key=lambda inner: len(inner.parts), default=PurePosixPath("config.json")).parent
            wanted = [
                info
                for info in packed.infolist()
                if (inner := PurePosixPath(info.filename)).parent == home
                and (inner.name in (*TOKENIZER_FILES, INDEX) or inner.suffix == ".safetensors")
            ]
            if sum(info.file_size for info in wanted) > 2 * MOST_FILE:
                raise refused(name, f"its files are larger than {2 * MOST_FILE / 1e6:,.0f} MB")
            folder = _temporary()
            for info in wanted:
                with packed.open(info) as source, (folder / PurePosixPath(info.filename).name).open("wb") as target:
                    shutil.copyfileobj(source, target)
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError) as error:  # broken, or with a password
        raise UserError(f"The zip {archive} can't be read: {error}.") from error
    return folder
