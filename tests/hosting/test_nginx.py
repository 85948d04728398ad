"""The block for nginx in assets/hosting/README.md, run by the real nginx before an app below a path."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from gradio_client import Client

from tests.conftest import START_SECONDS, answers, end_app, free_port, start_app

pytestmark = pytest.mark.slow

README = Path(__file__).resolve().parents[2] / "assets" / "hosting" / "README.md"
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")  # nginx wants a folder for each
# Started by root, nginx would work as a user who may not open the test's folder; started by others, it ignores `user`.
AROUND = """
user root;
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    {paths}
    {block}
}}
"""


@pytest.fixture(scope="module")
def below_a_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an app at /bert, behind nginx as the README has it, at free ports."""
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None:
        pytest.skip("no nginx on this machine")
    folder = tmp_path_factory.mktemp("nginx")
    app, port = start_app(folder, INSIDE_BERT_ROOT_PATH="/bert")
    (block,) = re.findall(r"```nginx\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.S)
    at = free_port()
    assert block.count("listen 80;") == block.count("127.0.0.1:7860/;") == 1
    block = block.replace("listen 80;", f"listen 127.0.0.1:{at};").replace(":7860/;", f":{port}/;")
    paths = " ".join(f"{name}_temp_path {folder}/{name};" for name in TEMPORARY)
    config = folder / "nginx.conf"
    config.write_text(AROUND.format(folder=folder, paths=paths, block=block), encoding="utf-8")
    proxy = subprocess.Popen([nginx, "-e", str(folder / "error.log"), "-c", str(config)])
    url = f"http://127.0.0.1:{at}/bert"
    try:
        deadline = time.monotonic() + START_SECONDS
        while not answers(url):
            assert time.monotonic() < deadline, (folder / "app.log").read_text(encoding="utf-8")
            time.sleep(0.2)
        yield url
    finally:
        proxy.terminate()
        proxy.wait(timeout=10)
        end_app(app, f"http://127.0.0.1:{port}")


def test_pages_and_the_api_are_below_the_path(below_a_path: str) -> None:
    moved = urllib.request.urlopen(below_a_path)
    assert moved.url == f"{below_a_path}/"
    for address in ("attention?part=heads", "glossary", "gradio_api/app_id"):
        assert urllib.request.urlopen(f"{below_a_path}/{address}").status == 200
    tokens = Client(f"{below_a_path}/", verbose=False).predict("Unbelievable!", "", "", api_name="/tokenize")["tokens"]
    assert tokens == ["[CLS]", "unbelievable", "!", "[SEP]"]


def test_a_training_is_heard_from_while_it_runs(below_a_path: str) -> None:
    job = Client(f"{below_a_path}/", verbose=False).submit("emotion", "mean", 1, api_name="/fine_tune")
    try:
        assert next(job)["event"] == "started"
    finally:
        job.cancel()


@pytest.mark.parametrize(("megabytes", "status"), [(4.9, 200), (7, 413)])
def test_an_upload_of_five_megabytes_passes_and_no_larger_one(below_a_path: str, megabytes: float, status: int) -> None:
    body = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\n'
    body += b"a" * int(megabytes * 1e6) + b"\r\n--x--\r\n"
    request = urllib.request.Request(
        f"{below_a_path}/gradio_api/upload", body, {"Content-Type": "multipart/form-data; boundary=x"}
    )
    try:
        answer = urllib.request.urlopen(request).status
    except urllib.error.HTTPError as refused:
        answer = refused.code
    except urllib.error.URLError:  # nginx refuses by the length alone and may close before all is sent
        answer = 413
    assert answer == status
