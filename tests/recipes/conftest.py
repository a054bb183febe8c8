"""The copy in which a recipe is performed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recipes.copied import Copy, copy_to


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """A copy of the repository of the test's own."""
    return copy_to(tmp_path)
