"""What `--app` names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from celadon.apiserver.http import StartError
from celadon.webhook.applications import named_application


@pytest.fixture(autouse=True)
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("named_rules.py").write_text("def app(): ...\napp.name = 'n'\napp.inner = app\n")
    Path("named_broken.py").write_text("\nx = 1 / 0\n")
    Path("named_unwritten.py").write_text("def app(:\n")
    yield
    for name in [one for one in sys.modules if one.startswith("named_")]:
        del sys.modules[name]


@pytest.mark.parametrize("text", ["named_rules:app", "named_rules:app.inner.inner"])
def test_a_module_of_the_current_folder_is_found(text: str) -> None:
    assert getattr(named_application(text), "__name__", "") == "app"


WRONG = [
    ("named_rules", "`named_rules` is not MODULE:NAME"),
    (":app", "`:app` is not MODULE:NAME"),
    ("named_rules:app.name", "`named_rules:app.name` is not an application"),
    ("named_no:app", "cannot be imported: ModuleNotFoundError: No module named 'named_no'"),
    ("named_rules:no", "AttributeError: module 'named_rules' has no attribute 'no'"),
    ("named_broken:app", "ZeroDivisionError: division by zero ({}/named_broken.py:2)"),
    ("named_unwritten:app", "SyntaxError: "),
]


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[text for text, _ in WRONG])
def test_what_cannot_be_found_is_said_in_one_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(StartError) as raised:
        named_application(text)
    assert message.format(tmp_path) in str(raised.value)
    assert "\n" not in str(raised.value)
