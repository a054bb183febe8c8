"""The table for people: equal refusals together, and a place said once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from celadon.cli.celadon_documents import FileNames
from celadon.cli.check.check_report import Mutated, ObjectResult, Place, Report, State, Violation
from celadon.cli.report.check_view import CheckView, _by, write_mutated
from celadon.cli.report.report_model import ReportStyle
from tests.cli.files import binding, config_map, policy, run, write


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def shown(capsys: pytest.CaptureFixture[str], *words: str, count: int = 12) -> list[str]:
    write(Path("policies.json"), policy(), binding())
    given = [config_map(f"m{number}", x="no") for number in range(count)]
    write(Path("given.json"), *given, config_map("fine", x="ok"))
    code, out, _ = run(capsys, "check", "-f", "policies.json", "given.json", *words)
    assert code == 1
    return out.splitlines()


def test_equal_refusals_are_one_block(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys)
    assert sum(line.startswith("denied:") for line in lines) == 1
    assert lines[0].startswith('denied: configmaps "m0" is forbidden: ')
    assert lines[1].startswith("  rule    policies.json:")
    assert lines[2] == "  object  given.json:1  ConfigMap default/m0"
    assert lines[3].startswith("          given.json:")
    assert lines[5] == "          and 9 more: see the table"


def test_one_more_is_named_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert not any("more: see" in line for line in shown(capsys, count=4))


@pytest.mark.parametrize("word", ["-v", "-q"])
def test_all_are_named_where_that_is_wanted(capsys: pytest.CaptureFixture[str], word: str) -> None:
    lines = shown(capsys, word)
    assert not any("more: see" in line for line in lines)
    assert sum("  ConfigMap default/m" in line for line in lines if "given.json" in line) == 12


def test_a_place_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys)
    places = [line.split("given.json:")[1].split()[0] for line in lines if "given.json:" in line]
    assert len(places) == len(set(places)) == 13


def test_other_messages_are_other_blocks(capsys: pytest.CaptureFixture[str]) -> None:
    spec = {"validations": [{"expression": "false", "messageExpression": "string(object.data.x)"}]}
    write(Path("policies.json"), policy() | {"spec": policy()["spec"] | spec}, binding())
    write(Path("given.json"), config_map("a", x="1"), config_map("b", x="2"))
    _, out, _ = run(capsys, "check", "-q", "-f", "policies.json", "given.json")
    assert out.count("denied:") == 2


def test_equal_warnings_are_one_block(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("policies.json"), policy(), binding(actions="Warn"))
    write(Path("given.json"), *(config_map(name, x="no") for name in "abc"))
    _, out, _ = run(capsys, "check", "-f", "policies.json", "given.json")
    assert out.count("warning:") == 1
    assert "          given.json:" in out


def test_changes_of_objects_are_coloured() -> None:
    changed = Mutated({"a": 1, "b": 2}, {"a": 1, "b": 3}, (), ())
    place = Place("a.yaml", 1)
    result = ObjectResult(
        place, "it", "v1", "Pod", "shop", "a", "CREATE", State.ADMITTED, mutated=changed
    )
    lines = CheckView(Report(objects=(result,))).text(ReportStyle(color=True)).splitlines()
    start = next(number for number, line in enumerate(lines) if "mutated:" in line)
    assert lines[start + 2 : start + 6] == [
        "    \033[2m@@ -1,2 +1,2 @@\033[0m",
        "     a: 1",
        "    \033[31;1m-b: 2\033[0m",
        "    \033[32m+b: 3\033[0m",
    ]


@pytest.mark.parametrize(
    ("kind", "namespace", "name", "file"),
    [
        ("Deployment", "shop", "web", "deployment-shop-web.yaml"),
        ("Namespace", "", "shop", "namespace-shop.yaml"),
        ("ClusterRole", "", "system:node/reader", "clusterrole-system_node_reader.yaml"),
    ],
)
def test_the_files_of_changed_objects(
    tmp_path: Path, kind: str, namespace: str, name: str, file: str
) -> None:
    changed = Mutated({}, {"kind": kind, "metadata": {"name": name}}, (), ())
    result = ObjectResult(
        Place("a.yaml", 1),
        "it",
        "v1",
        kind,
        namespace,
        name,
        "CREATE",
        State.ADMITTED,
        mutated=changed,
    )
    report = Report(objects=(result, replace(result, name="same", mutated=None)))
    target = tmp_path / "new" / "folder"
    assert write_mutated(report, str(target)) == [target / file]
    text = (target / file).read_text(encoding="utf-8")
    assert text == f"kind: {kind}\nmetadata:\n  name: {name}\n"


@pytest.mark.parametrize(
    ("names", "files"),
    [
        ([("a-b", "c"), ("a", "b-c")], ["a-b-c.yaml", "a-b-c-2.yaml"]),
        ([("a",), ("a",), ("a-2",)], ["a.yaml", "a-2.yaml", "a-2-2.yaml"]),
        ([("a",), ("a-2",), ("a",)], ["a.yaml", "a-2.yaml", "a-3.yaml"]),
        ([("x:y",), ("x_y",)], ["x_y.yaml", "x_y-2.yaml"]),
        ([("Web",), ("web",), ("WEB",)], ["Web.yaml", "web-2.yaml", "WEB-3.yaml"]),
        ([("n" * 300, "a"), ("n" * 300, "b")], ["n" * 200 + ".yaml", "n" * 200 + "-2.yaml"]),
    ],
)
def test_no_two_objects_have_one_file(names: list[tuple[str, ...]], files: list[str]) -> None:
    given = FileNames()
    assert [given.name(*parts) for parts in names] == files


@pytest.mark.parametrize(("binding", "shown"), [("", "limit"), ("all", "limit/all")])
def test_who_refuses(binding: str, shown: str) -> None:
    violation = Violation(
        *("limit", binding, "", "spec", Place("p.yaml", 3), "wrong", ("Deny",)),
        is_error=False,
        denies=False,
        expression="",
    )
    assert _by(violation) == shown
