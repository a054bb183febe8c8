"""`chainsaw-test.yaml`: steps against a cluster, which nothing here can play.

They stand beside policies and are seen, so that nobody takes them for tests that were run. Format:
kyverno.github.io/chainsaw, `chainsaw.kyverno.io/v1alpha1`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.cli.policy_tests.foreign_tests.rewriting import Rewriting, Rewritten
from celadon.cli.reading.locations import Chunk
from celadon.kube import metadata

_GROUP: Final = "chainsaw.kyverno.io/"
_REASON: Final = "a test of Chainsaw: its steps need a cluster"


def is_chainsaw_test(value: object) -> bool:
    """Whether a document is one."""
    return (
        isinstance(value, Mapping)
        and value.get("kind") == "Test"
        and str(value.get("apiVersion", "")).startswith(_GROUP)
    )


def rewritten(chunk: Chunk, value: Any) -> Rewritten:  # noqa: ANN401 - any JSON
    """A test with one case, which is left out."""
    way = Rewriting(chunk, value)
    name = metadata.name(value)
    way.leave_out(name or "test", (), _REASON)
    return way.done(name)
