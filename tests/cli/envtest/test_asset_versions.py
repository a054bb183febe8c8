"""Which version a selector means, as `setup-envtest` has it."""

from __future__ import annotations

import pytest

from celadon.cli.envtest.asset_folders import (
    AssetVersion,
    VersionUnknown,
    available_versions,
    parse_selector,
    version_to_use,
)

INSTALLED = [AssetVersion(1, 32, 4), AssetVersion(1, 33, 0), AssetVersion(1, 33, 2)]


@pytest.mark.parametrize(
    ("text", "matching"),
    [
        ("1.33", "1.33.0 1.33.2"),
        ("1.33.x", "1.33.0 1.33.2"),
        ("1.33.*", "1.33.0 1.33.2"),
        ("v1.33.2", "1.33.2"),
        ("~1.33.1", "1.33.2"),
        ("~1.33", "1.33.0 1.33.2"),
        ("<1.33", "1.32.4"),
        ("<1.33.x", "1.32.4"),
        ("<1.33.2", "1.32.4 1.33.0"),
        ("<=1.33.2", "1.32.4 1.33.0 1.33.2"),
        ("<=1.33", "1.32.4 1.33.0 1.33.2"),
        ("latest", "1.32.4 1.33.0 1.33.2"),
        ("", "1.32.4 1.33.0 1.33.2"),
        ("1.34", ""),
    ],
)
def test_what_a_selector_matches(text: str, matching: str) -> None:
    selector = parse_selector(text)
    assert [str(one) for one in INSTALLED if selector.matches(one)] == matching.split()


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("1.33", "1.33.2"),  # installed
        ("1.33!", "1.33.2"),
        ("1.32.4", "1.32.4"),
        ("1.32.9", "1.32.9"),
        ("~1.33.3", "1.33.3"),
        ("1.34.x", "1.34.0"),
        ("<1.33", "1.32.4"),
        ("<1.33!", "1.32.4"),
        ("<1.32", "1.31.0"),
        ("latest", "1.36.0"),
        ("latest-on-disk", "1.33.2"),
    ],
)
def test_the_version_that_is_used(text: str, version: str) -> None:
    found = version_to_use(parse_selector(text), INSTALLED, only_installed=False)
    assert str(found) == version


@pytest.mark.parametrize("text", ["1.29", "1.29.3", "2.0", "~1.29.1", "<1.30", "1.99"])
def test_releases_that_are_not_served(text: str) -> None:
    with pytest.raises(VersionUnknown, match=r"is none of the releases 1\.30 to 1\."):
        version_to_use(parse_selector(text), [], only_installed=False)


def test_only_what_is_installed() -> None:
    assert str(version_to_use(parse_selector("latest"), INSTALLED, only_installed=True)) == "1.33.2"
    with pytest.raises(VersionUnknown, match=r"no assets of `1\.34` are installed"):
        version_to_use(parse_selector("1.34"), INSTALLED, only_installed=True)


@pytest.mark.parametrize("text", ["1", "1.33.2.1", ">1.33", "1.03", "one", "1.33-rc1"])
def test_what_is_no_version(text: str) -> None:
    with pytest.raises(VersionUnknown, match="is not a version"):
        parse_selector(text)


def test_what_is_available() -> None:
    assert [str(one) for one in available_versions(parse_selector("<1.32"))] == ["1.31.0", "1.30.0"]
    assert [str(one) for one in available_versions(parse_selector("1.33.7"))] == ["1.33.7"]
