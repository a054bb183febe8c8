"""The source of the product, read once for all tests of the architecture."""

from __future__ import annotations

import pytest

from tests.architecture.source_tree import SourceTree, read_source


@pytest.fixture(scope="session")
def source() -> SourceTree:
    """Every module of the package."""
    return read_source()
