"""Fields at a place."""

from __future__ import annotations

import pytest

from celadon.cli.playground.browser_api import completions
from tests.cli.playground.states import DEFINITION, state


@pytest.mark.parametrize(
    ("api_version", "kind", "path", "label", "detail"),
    [
        ("apps/v1", "Deployment", ["spec"], "replicas", "integer"),
        ("v1", "Pod", ["spec", "containers"], "image", "string"),
        ("v1", "Pod", ["spec"], "containers", "list of object"),
        ("v1", "Pod", ["metadata"], "labels", "map of string"),
        ("example.com/v1", "Lamp", ["spec"], "watts", "integer"),
    ],
)
def test_fields(api_version: str, kind: str, path: list[str], label: str, detail: str) -> None:
    given = state(panes={"policy": DEFINITION})
    assert {"label": label, "detail": detail} in completions(given, api_version, kind, path)


@pytest.mark.parametrize(
    ("api_version", "kind", "path"),
    [("a/b/c", "Pod", []), ("v1", "Nothing", []), ("v1", "Pod", ["nothing", "spec"])],
)
def test_where_there_is_none(api_version: str, kind: str, path: list[str]) -> None:
    assert completions(state(panes={}), api_version, kind, path) == []


@pytest.mark.parametrize(("release", "there"), [("1.33", False), ("1.34", True)])
def test_fields_of_the_release(release: str, *, there: bool) -> None:
    """`hostnameOverride` came with 1.34."""
    found = completions(state(panes={}, release=release), "v1", "Pod", ["spec"])
    assert ("hostnameOverride" in [one["label"] for one in found]) is there
