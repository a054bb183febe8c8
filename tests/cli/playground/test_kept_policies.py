"""What is compiled once."""

from __future__ import annotations

from celadon.cli.check.manifests import described
from celadon.cli.playground.judging import KeptPolicies
from celadon.cli.playground.panes import Pane, PaneReader
from tests.cli.playground.states import POLICY, state


def test_the_same_documents_are_the_same_engine() -> None:
    reader, kept = PaneReader(), KeptPolicies()

    def sets(text: str, release: str = "1.36") -> object:
        documents = reader.read(state(panes={"policy": text}), Pane.POLICY).documents
        found = kept.sets(described(documents), release)
        return kept.makers.validating(found.validating, release)

    first = sets(POLICY)
    assert sets(POLICY) is first
    assert sets(POLICY, "1.30") is not first
    assert sets(POLICY) is first
    assert sets(POLICY.replace("5", "6")) is not first
