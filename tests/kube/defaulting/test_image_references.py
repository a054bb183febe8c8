"""Which image references mean the tag `latest`."""

from __future__ import annotations

import pytest

from celadon.kube.defaulting.field_functions import has_latest_tag

SHA256 = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    "image",
    [
        "busybox",
        "busybox:latest",
        "reg.io:5000/x/y",
        "reg.io:5000/x/y:latest",
        f"busybox:latest@{SHA256}",
        "localhost/x",
        "index.docker.io/x:latest",
        "UPPER.io/x",
        "[::1]:5000/x",
        "a__b---c.d/e",
    ],
)
def test_latest(image: str) -> None:
    assert has_latest_tag(image)


@pytest.mark.parametrize(
    "image",
    [
        "",
        "busybox:1.0",
        f"busybox@{SHA256}",
        "Busybox",
        "Reg/Busy:latest",
        "busybox:",
        "x/y/z:LATEST",
        "foo@md5:" + "a" * 32,
        "busybox@sha256:abc",
        "busybox@sha256:" + "A" * 64,
        "a" * 64,
        "b" * 300,
        "x" * 5000,
        "a/" * 3000,
    ],
)
def test_not_latest(image: str) -> None:
    assert not has_latest_tag(image)
