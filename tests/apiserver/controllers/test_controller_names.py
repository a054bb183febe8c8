"""Which controllers run."""

from __future__ import annotations

import pytest

from celadon.apiserver.controllers.controller_loops import (
    ON_BY_DEFAULT,
    ROOT_CERTIFICATES,
    controllers_named,
)

GARBAGE = "garbage-collector-controller"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("*", ON_BY_DEFAULT),
        ("", frozenset()),
        (f"*,-{GARBAGE}", ON_BY_DEFAULT - {GARBAGE}),
        (f"-{GARBAGE}, *", ON_BY_DEFAULT - {GARBAGE}),
        (GARBAGE, {GARBAGE}),
        (f"*,{ROOT_CERTIFICATES}", ON_BY_DEFAULT | {ROOT_CERTIFICATES}),
    ],
)
def test_names(text: str, names: frozenset[str]) -> None:
    assert controllers_named(text) == names


def test_pods_that_run_need_the_certificates() -> None:
    assert controllers_named("*", pods_run=True) == ON_BY_DEFAULT | {ROOT_CERTIFICATES}
    assert controllers_named(f"*,-{ROOT_CERTIFICATES}", pods_run=True) == ON_BY_DEFAULT


def test_a_name_that_nobody_has() -> None:
    with pytest.raises(ValueError, match='"nobody" is not in the list of known controllers'):
        controllers_named("*,-nobody")
