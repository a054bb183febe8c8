"""Members of etcd in network namespaces, each on a cable that can be pulled.

Needs root and `ip` (iproute2). Each member has an address of its own on a bridge; this machine has
one, too, so that servers here reach all of them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cables:
    """`hosts` are the addresses of the members, `before` what runs a command at each."""

    mark: str
    hosts: Sequence[str]
    before: Sequence[Sequence[str]]

    def pull(self, number: int) -> None:
        """Nothing gets from there to anywhere, or back."""
        _ip("link", "set", f"{self.mark}v{number}", "down")

    def plug(self, number: int) -> None:
        """As before."""
        _ip("link", "set", f"{self.mark}v{number}", "up")


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


def can_cut() -> bool:
    """Whether this process may make namespaces."""
    if os.getuid() or shutil.which("ip") is None:
        return False
    name = f"cel{os.getpid()}try"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode:
        return False
    return not subprocess.run(["ip", "netns", "del", name], capture_output=True).returncode


@contextlib.contextmanager
def cables(size: int) -> Iterator[Cables]:
    """Everything is gone afterwards."""
    mark, net = f"c{os.getpid()}", f"10.213.{os.getpid() % 250}"
    spaces = [f"{mark}n{number}" for number in range(size)]
    with contextlib.ExitStack() as stack:
        _ip("link", "add", f"{mark}br", "type", "bridge")
        stack.callback(_ip, "link", "del", f"{mark}br")
        _ip("addr", "add", f"{net}.1/24", "dev", f"{mark}br")
        _ip("link", "set", f"{mark}br", "up")
        for number, space in enumerate(spaces):
            outer, inner = f"{mark}v{number}", f"{mark}i{number}"
            _ip("netns", "add", space)
            stack.callback(_ip, "netns", "del", space)
            _ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", space)
            _ip("link", "set", outer, "master", f"{mark}br", "up")
            _ip("-n", space, "addr", "add", f"{net}.{number + 10}/24", "dev", inner)
            _ip("-n", space, "link", "set", inner, "up")
            _ip("-n", space, "link", "set", "lo", "up")
        hosts = [f"{net}.{number + 10}" for number in range(size)]
        yield Cables(mark, hosts, [("ip", "netns", "exec", space) for space in spaces])
