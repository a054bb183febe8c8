"""The page in headless Chromium: one visit (`web/test_page.mjs`), and what was seen on it."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from celadon.cli.playing.site_server import SiteServer
from tests.browser import CHROMIUM, needs_browser
from tests.playground.built_site import WEB, built_site, needs_site

pytestmark = [needs_site, needs_browser, pytest.mark.slow]

ENTRIES = {one.stem: yaml.safe_load(one.read_text()) for one in (WEB / "gallery").glob("*.yaml")}
ANSWERS = {
    "denied": "Denied",
    "invalid": "Refused as invalid",
    "warned": "Admitted, with warnings",
    "admitted": "Admitted",
    "unasked": "Webhooks would be asked",
}
MODES = ("validating", "mutating", "rules", "webhook", "expression")
SHAPES = ("light", "dark", "phone")


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pictures")


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with SiteServer(built_site(), 0) as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def seen(server: SiteServer, pictures: Path) -> Any:
    assert CHROMIUM is not None
    words = {
        "--url": server.url,
        "--chromium": CHROMIUM,
        "--pictures": str(pictures),
        "--profile": str(pictures / "profile"),
    }
    done = subprocess.run(
        ["node", str(WEB / "test_page.mjs"), *(part for one in words.items() for part in one)],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_the_gallery_says_what_it_promises(name: str, seen: Any) -> None:
    promised, found = ENTRIES[name]["expect"], seen["gallery"][name]
    assert found["mode"] == ENTRIES[name]["state"]["mode"]
    if "value" in promised:
        assert found["said"].startswith(promised["value"])
    else:
        assert ANSWERS[promised["verdict"]] in found["said"]
        if promised["verdict"] in ("denied", "invalid"):
            assert f" {promised['code']}" in found["said"]


def test_no_complaint_on_the_console(seen: Any) -> None:
    assert seen["console"] == []


def test_nobody_else_is_asked(seen: Any, server: SiteServer) -> None:
    assert seen["hosts"] == [f"127.0.0.1:{server.server_port}"]


def test_a_link_holds_everything(seen: Any) -> None:
    same = seen["links"]["same"]
    assert same["after"] == same["before"] != ""
    assert same["length"] < 4_000


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("cut", "a part of it is missing or changed"),
        ("changed", "damaged"),
        ("version", "version 9; this playground reads version 1"),
        ("nonsense", "does not look like one of the playground"),
        ("json", "damaged"),
    ],
)
def test_damaged_links_say_so(link: str, said: str, seen: Any) -> None:
    assert said in seen["links"][link]


def test_nothing_stands_in_anybody_s_way(seen: Any) -> None:
    """An audit by axe in every mode, in light, dark and on a phone."""
    assert {*seen["axe"]} >= {f"{mode} {shape}" for mode in MODES for shape in SHAPES}
    bad = {
        f"{where}: {one['id']}: {one['nodes']}"
        for where, found in seen["axe"].items()
        for one in found
        if one["impact"] in ("serious", "critical")
    }
    assert bad == set()


def test_everything_fits_on_a_phone(seen: Any) -> None:
    assert seen["wide"] == []


def test_the_keyboard_is_enough_and_verdicts_are_heard(seen: Any) -> None:
    assert seen["tab"] == "tab-request-oldObject"
    assert seen["label"].startswith("Old object: ")
    assert seen["heard"].startswith(("Denied. ", "Value "))


def test_fields_are_completed(seen: Any) -> None:
    found = seen["completions"]
    assert "hostNetwork" in found["request"]
    assert "replicas" not in found["request"]
    assert "containers" in found["policies"]


def test_every_mode_was_pictured(seen: Any, pictures: Path) -> None:
    assert {one.name for one in pictures.glob("*.png")} == {
        f"{mode}-{shape}.png" for mode in MODES for shape in SHAPES
    }
