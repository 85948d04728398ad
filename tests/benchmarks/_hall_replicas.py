"""Several apps behind HAProxy, by assets/hosting/haproxy.cfg with as many servers as are asked for."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from page import ROOT, free_port, running_app

CONFIGURATION = ROOT / "assets" / "hosting" / "haproxy.cfg"
SERVER = "    server "
SECONDS = 20  # until the proxy answers


def with_servers(configuration: str, addresses: Sequence[str]) -> str:
    """The configuration with a server for each of these addresses in the place of its own ones."""
    lines = [line for line in configuration.splitlines() if not line.lstrip().startswith("use-server ")]  # of rooms
    own = [number for number, line in enumerate(lines) if line.startswith(SERVER)]
    servers = [f"{SERVER}s{number} {address} cookie s{number}" for number, address in enumerate(addresses)]
    return "\n".join([*lines[: own[0]], *servers, *lines[own[-1] + 1 :], ""])


@contextmanager
def running_replicas(number: int, short: bool = False) -> Iterator[str]:
    """The address of one app, or of the proxy before several. SystemExit where there is no HAProxy."""
    if number == 1:
        with running_app(short) as url:
            yield url
        return
    proxy = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    if not proxy:
        raise SystemExit("several replicas need HAProxy, which is not on this machine")
    with ExitStack() as stack:
        addresses = [stack.enter_context(running_app()).removeprefix("http://") for _ in range(number)]
        file = Path(stack.enter_context(TemporaryDirectory())) / "haproxy.cfg"
        file.write_text(with_servers(CONFIGURATION.read_text(encoding="utf-8"), addresses), encoding="utf-8")
        bind, admin = (f"127.0.0.1:{free_port()}" for _ in range(2))
        process = stack.enter_context(
            subprocess.Popen(
                [proxy, "-db", "-f", str(file)],
                env=os.environ | {"BIND": bind, "ADMIN": admin},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
        stack.callback(process.terminate)
        wait_for(f"http://{bind}/gradio_api/app_id")
        yield f"http://{bind}"


def wait_for(address: str) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(address, timeout=2).read()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"{address} did not answer")
