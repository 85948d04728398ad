"""What memory the machine has for this process: its own, or the least limit of its cgroups, of both versions."""

from pathlib import Path

import psutil
import pytest

from demos.bert.model.memory_budget import SHARE, Budget, machine_bytes

MACHINE = psutil.virtual_memory().total


def limited(folder: Path, of_process: str, **files: str) -> int:
    """What `machine_bytes` reads where these files (their folders behind double underscores) are its cgroups'."""
    root, process = folder / "cgroup", folder / "process"
    process.write_text(of_process, encoding="utf-8")
    for name, said in files.items():
        *folders, last = name.split("__")
        names = [
            folder.replace("_slice", ".slice").replace("_service", ".service").replace("_scope", ".scope")
            for folder in folders
        ]
        file = root.joinpath(*names, last.replace("memory_", "memory."))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(said, encoding="utf-8")
    return machine_bytes(root, process)


@pytest.mark.parametrize(
    ("of_process", "files", "least"),
    [
        ("0::/app\n", {"app__memory_max": "1000\n"}, 1_000),
        ("0::/outer/app\n", {"outer__app__memory_max": "max\n", "outer__memory_max": "900\n"}, 900),  # the outer's
        ("0::/outer/app\n", {"outer__app__memory_max": "800\n", "outer__memory_max": "900\n"}, 800),
        ("0::/docker/1f\n", {"memory_max": "700\n"}, 700),  # the path is the one outside of the container
        ("0::/app\n", {"app__memory_max": "max\n", "elsewhere__memory_max": "5\n"}, MACHINE),
        ("4:memory:/app\n0::/\n", {"memory__app__memory_limit_in_bytes": "600\n"}, 600),
        ("4:cpu,memory:/x\n", {"memory__memory_limit_in_bytes": "500\n"}, 500),
        ("4:memory:/\n", {"memory__memory_limit_in_bytes": "9223372036854771712\n"}, MACHINE),  # v1's "no limit"
        ("3:cpuset:/app\n", {"app__memory_max": "5\n"}, MACHINE),
        # As they look in Docker and Kubernetes with v2; under systemd, where a slice has MemoryMax=; in Kubernetes with
        # v1, in a pod that is limited as a whole; beside v1 with v2 mounted for systemd alone; moved out of its root.
        ("0::/\n", {"memory_max": "2147483648\n", "memory_high": "max\n"}, 2**31),
        (
            "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1f.scope\n",
            {
                "user_slice__user-1000_slice__memory_max": "1073741824\n",
                "user_slice__user-1000_slice__user@1000_service__app_slice__run-r1f_scope__memory_max": "max\n",
            },
            2**30,
        ),
        (
            "5:cpuset:/kubepods/burstable/pod7/c9\n4:memory:/kubepods/burstable/pod7/c9\n1:name=systemd:/\n0::/\n",
            {
                "memory__kubepods__burstable__pod7__c9__memory_limit_in_bytes": "9223372036854771712\n",
                "memory__kubepods__burstable__pod7__memory_limit_in_bytes": "536870912\n",
                "memory__memory_limit_in_bytes": "9223372036854771712\n",
            },
            2**29,
        ),
        ("4:memory:/a\n0::/\n", {"memory__a__memory_limit_in_bytes": "400\n", "unified__memory_max": "5\n"}, 400),
        ("0::/../elsewhere\n", {"memory_max": "300\n"}, 300),
        ("0::/a:b\n", {"a:b__memory_max": "200\n"}, 200),
    ],
)
def test_the_least_limit_of_the_cgroups_counts(
    tmp_path: Path, of_process: str, files: dict[str, str], least: int
) -> None:
    assert limited(tmp_path, of_process, **files) == least


def test_a_machine_without_cgroups_has_what_it_has(tmp_path: Path) -> None:
    assert machine_bytes(tmp_path, tmp_path / "none") == MACHINE
    assert Budget().most == SHARE * machine_bytes()
