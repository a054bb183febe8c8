"""Each store, as for the tests of stores."""

from __future__ import annotations

from tests.storage.conftest import store

__all__ = ["store"]
