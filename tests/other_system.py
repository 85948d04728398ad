"""`python -X warn_default_encoding tests/other_system.py windows app.py --port 7860`: a program of ours on a system
that it does not run on.

Our own modules find what Windows, or macOS, has: other modules can't be imported, and of `os`, `signal` and the like
they get a stand-in that lacks what that system lacks. Libraries keep the real ones, for they were installed for this
system. A text file of ours that is opened without an encoding is an error; on "windows" nobody deletes or renames a
file that this process has open or mapped, or makes one with a name that Windows refuses.
"""

from __future__ import annotations

import builtins
import errno
import multiprocessing
import os
import runpy
import shutil
import signal
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from types import ModuleType, SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
OURS = (str(ROOT / "demos") + os.sep, str(ROOT / "app.py"))
PASSED_OVER = ("pathlib", "genericpath", "<frozen", "shutil", "tempfile", Path(__file__).name)  # they act for others
OF_LINUX = ("/proc", "/sys")
MAC_FILES = 10_240  # kern.maxfilesperproc of an older macOS
REFUSED = set('<>:"|?*')
DEVICES = {"con", "prn", "aux", "nul", *(f"{kind}{n}" for kind in ("com", "lpt") for n in range(1, 10))}
WINDOWS_SIGNALS = ("SIGABRT", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM")


class StandIn(ModuleType):
    """A module without the attributes `lacks`, and with others in the place of its own."""

    def __init__(self, module: str, lacks: str = "", /, **instead: Any) -> None:
        super().__init__(module)
        self.__dict__.update(instead, _lacks=frozenset(lacks.split()), _real=__import__(module))

    def __getattr__(self, name: str) -> Any:
        if name in self._lacks:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(self._real, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._real, name, value)


def is_ours() -> bool:
    """Whether a module of ours calls the function that asks, by itself or through Python's own helpers for files."""
    frame = sys._getframe(1)
    while frame.f_back and any(part in frame.f_code.co_filename for part in PASSED_OVER):
        if frame.f_code is in_use.__code__:
            return False
        frame = frame.f_back
    return frame.f_code.co_filename.startswith(OURS)


def forbid_imports(missing: tuple[str, ...], stand_ins: Mapping[str, ModuleType]) -> None:
    """Let our modules import none of `missing`, and get `stand_ins` in the place of the modules of those names."""
    original = builtins.__import__

    def importing(name: str, names: Any = None, local: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        module = original(name, names, local, fromlist, level)
        if not str((names or {}).get("__file__", "")).startswith(OURS):
            return module
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return stand_ins.get(name if fromlist else name.partition(".")[0], module)

    builtins.__import__ = importing


def hide_linux() -> None:
    """Nothing of Linux's own folders is there for our modules."""
    original = os.stat

    def stat(path: Any, *rest: Any, **options: Any) -> Any:
        if not isinstance(path, int) and os.fspath(path).startswith(OF_LINUX) and is_ours():
            raise FileNotFoundError(errno.ENOENT, "not on this system", path)
        return original(path, *rest, **options)

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and str(arguments[0]).startswith(OF_LINUX) and is_ours():
            raise FileNotFoundError(errno.ENOENT, "not on this system", arguments[0])

    os.stat = stat
    sys.addaudithook(watch)


def in_use(path: str) -> bool:
    """Whether this process has the file, or one in the folder, open or mapped."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    names = [line.split(maxsplit=5)[-1] for line in maps]
    for number in os.listdir("/proc/self/fd"):
        try:
            names.append(os.readlink(f"/proc/self/fd/{number}"))
        except OSError:
            continue
    return any(name == path or name.startswith(path + os.sep) for name in names)


def keep_open_files() -> None:
    """Refuse to delete and to rename what is in use, as Windows does."""
    shutil._use_fd_functions = False  # type: ignore[attr-defined]  # it deletes by path there

    def guarded(act: Callable[..., Any]) -> Callable[..., Any]:
        def guard(*paths: Any, **options: Any) -> Any:
            for path in paths:
                if isinstance(path, str | os.PathLike) and in_use(os.path.realpath(path)):
                    raise PermissionError(errno.EACCES, "the file is in use by this process", os.fspath(path))
            return act(*paths, **options)

        return guard

    for name in ("unlink", "remove", "rename", "replace", "rmdir"):
        setattr(os, name, guarded(getattr(os, name)))


def refuse_names() -> None:
    """Refuse to make files and folders with names that Windows does not take."""

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        made = event == "os.mkdir" or (event == "open" and bool((arguments[2] or 0) & os.O_CREAT))
        path = arguments[1] if event == "os.rename" else arguments[0] if made else None
        if not isinstance(path, str) or path.startswith("/dev/"):
            return
        name = PurePosixPath(path).name
        if REFUSED & set(name) or name != name.rstrip(". ") or name.partition(".")[0].lower() in DEVICES:
            raise OSError(errno.EINVAL, "Windows takes no such name", path)

    sys.addaudithook(watch)


def windows() -> None:
    """What our modules find on Windows."""

    def kill(process: int, number: int) -> None:
        raise AssertionError(f"os.kill({process}, {number}) ends the process on Windows")

    def handle(number: int, handler: Any) -> Any:
        if signal.Signals(number).name not in WINDOWS_SIGNALS:
            raise ValueError("signal number out of range")
        return signal.signal(number, handler)

    def library(name: str | None, *rest: Any) -> Any:
        raise TypeError("LoadLibrary() argument 1 must be str, not None") if name is None else FileNotFoundError(name)

    users = "getuid geteuid getgid getegid getgroups setuid setgid chown lchown fchown getpgid getpgrp setsid killpg"
    processes = "fork forkpty wait wait3 wait4 WNOHANG WIFEXITED nice sched_getaffinity sched_setaffinity posix_spawn"
    files = "mkfifo mknod fchmod statvfs pathconf sendfile pread O_NOFOLLOW O_DIRECTORY O_CLOEXEC O_NONBLOCK"
    system = "sysconf confstr uname getloadavg ctermid openpty register_at_fork memfd_create"
    signals = {item.name for item in signal.Signals} - {*WINDOWS_SIGNALS}
    calls = "alarm pause setitimer getitimer sigwait pthread_kill pthread_sigmask siginterrupt"
    stand_ins = (
        StandIn("os", f"{users} {processes} {files} {system}", name="nt", kill=kill),
        StandIn(
            "signal",
            f"{' '.join(signals)} {calls}",
            signal=handle,
            Signals=[signal.Signals[name] for name in WINDOWS_SIGNALS],
        ),
        StandIn("sys", "abiflags getdlopenflags setdlopenflags", platform="win32"),
        StandIn("socket", "AF_UNIX SO_REUSEPORT TCP_KEEPIDLE"),
        StandIn("select", "poll epoll kqueue"),
        StandIn("time", "tzset clock_gettime pthread_getcpuclockid"),
        StandIn("ctypes", CDLL=library),
    )
    missing = "resource fcntl pwd grp termios tty pty posix syslog readline uvloop"
    forbid_imports(tuple(missing.split()), {module.__name__: module for module in stand_ins})
    keep_open_files()
    refuse_names()


def macos() -> None:
    """What our modules find on macOS."""
    import psutil

    limits = [256]

    def set_limit(_: int, asked: tuple[int, int]) -> None:
        if asked[0] > MAC_FILES:
            raise ValueError("current limit exceeds maximum limit")
        limits[0] = asked[0]

    forever = 2**63 - 1
    stand_ins = (
        StandIn("os", "sched_getaffinity sched_setaffinity memfd_create O_TMPFILE posix_fallocate"),
        StandIn("sys", platform="darwin"),
        StandIn("select", "epoll"),
        StandIn("ctypes", CDLL=lambda name, *_: SimpleNamespace()),
        StandIn(
            "resource", "prlimit", RLIM_INFINITY=forever, getrlimit=lambda _: (limits[0], forever), setrlimit=set_limit
        ),
    )
    del psutil.Process.cpu_affinity
    forbid_imports(("uvloop",), {module.__name__: module for module in stand_ins})


def main() -> None:
    """Run the program, the second argument, with the rest of them."""
    system, program, *arguments = sys.argv[1:]
    multiprocessing.set_start_method("spawn")
    warnings.simplefilter("ignore", EncodingWarning)  # of libraries
    warnings.filterwarnings("error", category=EncodingWarning, module=r"demos\.|__main__\Z")
    {"windows": windows, "macos": macos}[system]()
    hide_linux()
    sys.argv = [program, *arguments]
    sys.path[0] = str(ROOT)
    runpy.run_path(str(ROOT / program), run_name="__main__")


if __name__ == "__main__":
    main()
