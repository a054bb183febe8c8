"""Audited pages are found again by the same audit of the same cluster, until it is done."""

from __future__ import annotations

from pathlib import Path

import pytest

from celadon.cli.audit.audit_report import Findings
from celadon.cli.audit.cluster_audit import Mark, PageResult
from celadon.cli.audit.fleet_parts import DamagedResultError, KeptResults
from celadon.cli.audit.fleet_run import KeptPages
from celadon.kube import GroupVersionResource

PODS = GroupVersionResource("", "v1", "pods")
NODES = GroupVersionResource("", "v1", "nodes")


def test_pages(tmp_path: Path) -> None:
    results = KeptResults(str(tmp_path / "new"))
    ours, again, other = (KeptPages(results, "a", name) for name in ("b", "b", "c"))
    page = PageResult(Findings(objects=7), Mark("token", "shop/web"))
    ours.keep(PODS, 0, page)
    assert again.found(PODS, 0) == page
    assert [again.found(PODS, 1), again.found(NODES, 0), other.found(PODS, 0)] == [None] * 3
    other.keep(PODS, 0, page)
    again.forget()
    assert again.found(PODS, 0) is None
    assert other.found(PODS, 0) == page


def test_what_is_no_page_is_said(tmp_path: Path) -> None:
    results = KeptResults(str(tmp_path))
    ours = KeptPages(results, "a")
    ours.keep(PODS, 0, PageResult(Findings(), Mark()))
    for file in tmp_path.iterdir():
        file.write_bytes(b"damaged")
    with pytest.raises(DamagedResultError, match=r"\.json` is no result of an audit"):
        ours.found(PODS, 0)
