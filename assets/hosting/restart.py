"""Restart a replica without its readers losing anything: no new readers, wait until its own have left, restart, ready.

`python assets/hosting/restart.py one [--admin http://127.0.0.1:8404] [--minutes 30] [command ...]`; the command is
`docker compose -f assets/hosting/compose.yaml restart one` where none is given.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import time
import urllib.parse
import urllib.request

BACKEND = "replicas"
CHECKS = 5  # seconds in which the proxy has seen that a replica is gone or is back


def status(admin: str, replica: str) -> tuple[str, int]:
    """What the proxy says of a replica, and how many of its requests and streams are open."""
    text = urllib.request.urlopen(f"{admin}/;csv", timeout=10).read().decode().removeprefix("# ")
    row = next(row for row in csv.DictReader(text.splitlines()) if (row["pxname"], row["svname"]) == (BACKEND, replica))
    return row["status"], int(row["scur"])


def set_state(admin: str, replica: str, state: str) -> None:
    """`drain`: only readers who were here before; `ready`: new ones too."""
    form = urllib.parse.urlencode({"s": replica, "action": state, "b": BACKEND})
    urllib.request.urlopen(f"{admin}/", data=form.encode(), timeout=10).read()


def restart(admin: str, replica: str, command: list[str], seconds: float) -> bool:
    """Whether the replica's last reader had left before it was restarted; `seconds` are waited for that."""
    set_state(admin, replica, "drain")
    deadline = time.monotonic() + seconds
    while status(admin, replica)[1] and time.monotonic() < deadline:
        time.sleep(1)
    empty = status(admin, replica)[1] == 0
    subprocess.run(command, check=True)
    time.sleep(CHECKS)
    while "DOWN" in status(admin, replica)[0]:
        time.sleep(1)
    set_state(admin, replica, "ready")
    return empty


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("replica", choices=["one", "two"])
    parser.add_argument("command", nargs="*")
    parser.add_argument("--admin", default="http://127.0.0.1:8404")
    parser.add_argument("--minutes", type=float, default=30, help="to wait for its readers to leave")
    asked = parser.parse_args()
    compose = ["docker", "compose", "-f", "assets/hosting/compose.yaml", "restart", asked.replica]
    empty = restart(asked.admin, asked.replica, asked.command or compose, 60 * asked.minutes)
    print(f"{asked.replica} is back; {'all' if empty else 'not all'} of its readers had left.")


if __name__ == "__main__":
    main()
