"""Packages that servers need."""

from __future__ import annotations

import importlib.util

import pytest

from celadon.cli.options import missing_package


def test_all_are_there() -> None:
    assert missing_package() == ""


def test_one_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if "t" in name else name)
    assert missing_package() == "`cryptography` is not installed: pip install 'celadon[serve]'"


def test_etcd_needs_more(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing_package(on_etcd=True) == ""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: {"pycurl": None}.get(name, name))
    assert missing_package() == ""
    assert missing_package(on_etcd=True) == (
        "`pycurl` is not installed: pip install 'celadon[etcd]'"
    )
