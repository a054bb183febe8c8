"""What can be had from `celadon.testing` without the packages of servers."""

from __future__ import annotations

import subprocess
import sys

import pytest

import celadon.testing

_WITHOUT = "import sys; sys.modules['msgspec'] = sys.modules['cryptography'] = None; "


def python(code: str) -> subprocess.CompletedProcess[str]:
    """Our own interpreter, where some packages cannot be imported."""
    return subprocess.run(  # our own interpreter, our own code
        [sys.executable, "-c", _WITHOUT + code], capture_output=True, text=True, check=False
    )


def test_tests_of_policies_need_no_server() -> None:
    done = python("from celadon.testing import CaseFailed, Manifest, ManifestError, PolicyCases")
    assert done.returncode == 0, done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["KubeApi", "HandlerAccess", "HttpRequest"])
def test_it_says_what_a_server_needs(name: str) -> None:
    done = python(f"from celadon.testing import {name}")
    assert done.stderr.splitlines()[-1] in {
        f"ModuleNotFoundError: `{package}` is not installed: pip install 'celadon[serve]'"
        for package in ("msgspec", "cryptography")
    }


def test_a_name_that_is_not_there() -> None:
    done = python("import celadon.testing; celadon.testing.Cluster")
    assert done.stderr.splitlines()[-1].startswith(
        "AttributeError: module 'celadon.testing' has no attribute 'Cluster'"
    )


@pytest.mark.parametrize("name", celadon.testing.__all__)
def test_all_names_are_there(name: str) -> None:
    assert getattr(celadon.testing, name) is not None
