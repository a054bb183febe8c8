"""`celadon diff`: what is compared, what is said, and exit codes."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from celadon.cli.exit_codes import Exit
from celadon.prove import Comparison, Direction, Endpoint
from tests.cli.files import binding, policy, run, write
from tests.prove.definitions.definitions import definition
from tests.prove.test_policy_questions import LIMITS

pytest.importorskip("z3")

from celadon.prove.definitions import Revisions
from celadon.prove.policy_differences import Differences

OLD = policy("limit", "int(object.data.x) < 5"), binding("limit")
LOOSER = policy("limit", "int(object.data.x) <= 5"), binding("limit")
SAME = policy("limit", "!(int(object.data.x) >= 5)"), binding("limit")
UNKNOWN = (
    policy("limit", "authorizer.group('').resource('pods').check('get').allowed()"),
    binding("limit"),
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("old.json"), *OLD)


@pytest.mark.parametrize(
    ("new", "code", "said"),
    [
        (SAME, Exit.OK, "the same (proved)"),
        (LOOSER, Exit.DENIED, "differs: 2 looser"),
        (UNKNOWN, Exit.DENIED, "not decided"),
        ((policy("limit", "object.+"), binding("limit")), Exit.DENIED, "error:"),
        ((), Exit.DENIED, "looser"),
    ],
)
def test_answers(
    new: tuple[dict[str, object], ...],
    code: Exit,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(Path("new.json"), *new)
    found, out, err = run(capsys, "diff", "--timeout", "100", "old.json", "new.json")
    assert (found, err) == (code, "")
    assert said in out


@pytest.mark.parametrize(
    "unread", ["apiVersion: v1", "apiVersion: v1\nkind: [", "{'apiVersion': 1, 'kind': 'List'}"]
)
def test_nothing_is_proved_of_a_file_that_cannot_be_read(
    unread: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("new").mkdir()
    write(Path("new/new.json"), *SAME)
    Path("new/more.yaml").write_text(unread, encoding="utf-8")
    code, out, err = run(capsys, "diff", "old.json", "new")
    assert code == Exit.USAGE
    assert out.splitlines()[-1] == "not decided"
    assert err.startswith("error: new/more.yaml:")


def test_an_example_is_a_manifest(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("new.json"), *LOOSER)
    _, out, _ = run(capsys, "diff", "old.json", "new.json")
    lines = out.splitlines()
    assert lines[0].startswith("looser: CREATE of ConfigMap")
    assert "old.json:" in lines[2]
    begin = next(number for number, line in enumerate(lines) if line.startswith("    apiVersion"))
    manifest = yaml.safe_load("\n".join(lines[begin : lines.index("", begin)]))
    assert manifest["kind"] == "ConfigMap"
    assert int(manifest["data"]["x"]) == 5


def test_objects_of_kinds_that_are_defined_among_the_files(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rule = {"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"]}
    matched = {"resourceRules": [{**rule, "resources": ["limits"]}]}
    for side, text in (("old", "object.most < 6"), ("same", "object.most <= 5"),
                       ("new", "object.most < 5")):  # fmt: skip
        made = policy("limit", text)
        made["spec"] = {**made["spec"], "matchConstraints": matched}
        write(Path(f"{side}.json"), made, binding("limit"), dict(LIMITS))
    assert run(capsys, "diff", "old.json", "same.json")[:1] == (Exit.OK,)
    code, out, _ = run(capsys, "diff", "old.json", "new.json")
    assert code == Exit.DENIED
    assert "kind: Limit" in out
    assert "most: 5" in out


@pytest.mark.parametrize(
    ("group", "resource", "code"),
    [
        ("example.com", "limits", Exit.OK),
        ("example.com", "others", Exit.POLICY),
        ("another.example.com", "limits", Exit.POLICY),
        ("*", "limits", Exit.POLICY),
        ("", "others", Exit.OK),
    ],
)
def test_nothing_is_proved_of_kinds_that_nobody_has_defined(
    group: str, resource: str, code: Exit, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE"]}
    for side, text in (("old", "object.most < 6"), ("new", "object.most <= 5")):
        made = policy("limit", text)
        made["spec"]["matchConstraints"] = {"resourceRules": [{**rule, "resources": [resource]}]}
        write(Path(f"{side}.json"), made, binding("limit"), dict(LIMITS))
    found, out, _ = run(capsys, "diff", "old.json", "new.json")
    assert found == code
    undefined = "not decided: kinds without a definition: not looked at (limit)"
    assert (undefined in out) is (code is Exit.POLICY)


def test_what_nobody_knows(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("new.json"), *UNKNOWN)
    code, out, _ = run(capsys, "diff", "--only", "looser", "old.json", "new.json")
    assert code == Exit.POLICY
    assert "not decided: new.json:30: the variable authorizer" in out


def test_only_one_direction(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("new.json"), *LOOSER)
    code, out, _ = run(capsys, "diff", "--only", "stricter", "old.json", "new.json")
    assert code == Exit.OK
    assert "looser" not in out


def test_progress_is_told_to_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(Path("new.json"), *LOOSER)
    words = ("diff", "--only", "stricter", "old.json", "new.json")
    assert run(capsys, *words)[2] == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert "stricter: CREATE of ConfigMap: the same\n" in run(capsys, *words)[2]


@pytest.mark.parametrize("form", ["json", "github", "sarif", "junit", "tap"])
def test_forms(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("new.json"), *LOOSER)
    code, out, _ = run(capsys, "diff", "-o", form, "old.json", "new.json")
    assert code == Exit.DENIED
    assert "ConfigMap" in out
    if form == "json":
        found = json.loads(out)
        assert found["kind"] == "DiffReport"
        answers = {one["direction"]: one for one in found["answers"][:2]}
        assert answers["looser"]["example"]["new"] == {"verdict": "admitted"}
        assert answers["stricter"]["answer"] == "the same"
    if form == "github":
        assert out.startswith("::error file=new.json,line=")


@pytest.mark.parametrize(("before", "after"), [(OLD, LOOSER), (LOOSER, OLD)])
def test_a_change_is_where_the_sides_say_different_things(
    before: tuple[dict[str, object], ...],
    after: tuple[dict[str, object], ...],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Not where both of them warn of the example."""
    warning = binding("a-warning")
    warning["spec"] = {**warning["spec"], "validationActions": ["Warn"]}
    for side, documents in (("before", before), ("after", after)):
        Path(side).mkdir()
        write(Path(side, "a-warning.json"), policy("a-warning", "false"), warning)
        write(Path(side, "limit.json"), *documents)
    _, out, _ = run(capsys, "diff", "-o", "github", "before", "after")
    assert out.startswith("::error file=after/limit.json,line=")


def test_revisions(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    Path("policies").mkdir()
    setting = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for number, documents in enumerate((OLD, LOOSER)):
        write(Path("policies/limit.json"), *documents)
        words = [["init", "-q"]] if not number else []
        for one in (*words, ["add", "policies"], [*setting, "commit", "-q", "-m", "a"]):
            subprocess.run(["git", *one], check=True)
    code, out, _ = run(capsys, "diff", "HEAD~1..HEAD", "--", "policies/")
    assert code == Exit.DENIED
    assert "policies/limit.json:" in out
    assert "celadon-diff" not in out
    code, _, err = run(capsys, "diff", "HEAD~1..HEAD", "--", "policies", "elsewhere/")
    assert code == Exit.USAGE
    assert "neither `HEAD~1` nor `HEAD` has `elsewhere`" in err
    write(Path("policies/limit.json"), *SAME)
    assert run(capsys, "diff", "--git", "HEAD~1", "policies")[0] == Exit.OK
    assert run(capsys, "diff", "--git", "HEAD", "policies")[0] == Exit.DENIED


def test_releases(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "diff", "--kubernetes-version", "1.30,1.36", "old.json")
    assert code == Exit.OK
    assert "the same (proved)" in out


SIDES = "give OLD and NEW, a range of revisions, or --git and a revision"
REVISIONS = "two releases are compared with the same policies, not with revisions"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), SIDES),
        (("old.json",), SIDES),
        (("old.json", "old.json", "old.json"), SIDES),
        (("map.json", "map.json"),
         "there is no policy and no CustomResourceDefinition on either side"),
        (("--git", "HEAD", "old.json"), "git knows no revision `HEAD`"),
        (("--kubernetes-version", "1.30..1.36", "old.json"),
         "`--kubernetes-version` takes one release, or two"),
        (("--kubernetes-version", "1.30,1.36", "--git", "a", "old.json"), REVISIONS),
        (("--kubernetes-version", "1.30,1.36", "a..b"), REVISIONS),
        (("--kubernetes-version", "1.30,1.36"), "nothing to compare: give files or folders"),
    ],
)  # fmt: skip
def test_wrong_usage(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("map.json"), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
    code, out, err = run(capsys, "diff", *words)
    assert (code, out) == (Exit.USAGE, "")
    assert err == f"error: {said}\n  see `celadon diff --help`\n"


def test_policies_without_bindings_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("a.json"), OLD[0])
    write(Path("b.json"), LOOSER[0])
    code, out, _ = run(capsys, "diff", "a.json", "b.json")
    assert code == Exit.DENIED
    assert "`limit` has no binding" in out


def test_without_z3(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    code, _, err = run(capsys, "diff", "old.json", "old.json")
    assert code == Exit.USAGE
    assert "celadon[prove]" in err


def test_definitions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    large, small = (
        definition({"type": "object", "properties": {"size": {"type": "integer", "maximum": most}}})
        for most in (9, 5)
    )
    old, new = write(tmp_path / "old.json", large), write(tmp_path / "new.json", small)
    code, out, _ = run(capsys, "diff", str(old), str(new))
    assert code == Exit.DENIED
    assert "stricter: stored Widget (example.com/v1)\n  old  admitted\n  new  denied\n" in out
    assert f"{new}:" in out
    assert "should be less than or equal to 5" in out
    assert "# an update of it that changes labels only is taken" in out
    assert run(capsys, "diff", str(old), str(new), "--only", "looser")[0] == Exit.OK
    code, out, _ = run(capsys, "diff", str(new), str(old))
    assert code == Exit.OK
    assert "the same (proved): stored Widget (example.com/v1)" in out
    _, out, _ = run(capsys, "diff", str(old), str(new), "-o", "github")
    assert "title=stricter definition::stored Widget (example.com/v1): admitted by the old" in out


def test_what_is_gone_of_definitions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = write(tmp_path / "old.json", definition({"type": "object"}))
    renamed = definition({"type": "object"})
    renamed["spec"]["versions"][0]["name"] = "v2"
    new = write(tmp_path / "new.json", renamed)
    code, out, _ = run(capsys, "diff", str(old), str(new))
    assert code == Exit.POLICY
    assert "Widget: v1 is gone: objects that are stored in it are not looked at" in out
    empty = write(tmp_path / "empty.json", {"apiVersion": "v1", "kind": "List", "items": []})
    _, out, _ = run(capsys, "diff", str(old), str(empty))
    assert "CustomResourceDefinition widgets.example.com is gone: not looked at" in out


def cached(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    return run(capsys, "diff", "--timeout", "100", "--cache", "kept", *words)


def test_proofs_are_kept(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(Path("new.json"), *SAME)
    first = cached(capsys, "old.json", "new.json")
    assert first[0] == Exit.OK
    count = len(list(Path("kept").iterdir()))

    asked: list[str] = []
    compare = Differences.compare

    def counted(self: Differences, endpoint: Endpoint, direction: Direction) -> Comparison:
        asked.append(str(endpoint))
        return compare(self, endpoint, direction)

    monkeypatch.setattr(Differences, "compare", counted)
    assert cached(capsys, "old.json", "new.json") == first
    assert asked == []
    # All that matters is in the name under which a proof is kept.
    for words in (
        ("new.json", "old.json"),
        ("old.json", "new.json", "--items", "1"),
        ("old.json", "new.json", "--timeout", "99"),
        ("old.json", "new.json", "--kubernetes-version", "1.33"),
    ):
        cached(capsys, *words)
        assert len(asked) == count
        asked.clear()
    shutil.rmtree("kept")
    cached(capsys, "old.json", "new.json")
    for broken in ("{", "[]", '{"items": "1", "bounded": []}', '{"items": 1, "bounded": [1]}'):
        for file in Path("kept").iterdir():
            file.write_text(broken)
        assert cached(capsys, "old.json", "new.json") == first
    write(Path("new.json"), *LOOSER)
    code, out, _ = cached(capsys, "old.json", "new.json")
    assert (code, "differs: 2 looser" in out) == (Exit.DENIED, True)
    # Nothing but what was proved: that nothing is stricter, and that a DELETE is decided the same.
    assert len(list(Path("kept").iterdir())) == count + out.count("(proved), not stricter") + 2


def test_proofs_of_definitions_are_kept(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, most in (("old.json", 5), ("new.json", 9)):
        size = {"type": "integer", "maximum": most}
        write(Path(name), definition({"type": "object", "properties": {"size": size}}))
    first = cached(capsys, "old.json", "new.json")
    assert first[0] == Exit.OK
    monkeypatch.setattr(Revisions, "replies", None)
    assert cached(capsys, "old.json", "new.json") == first


def test_proofs_that_cannot_be_kept(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("new.json"), *SAME)
    code, out, _ = cached(capsys, "old.json", "new.json")
    for file in Path("kept").iterdir():
        file.unlink()
        file.mkdir()
        (file / "something").write_text("")
    again = cached(capsys, "old.json", "new.json")
    assert again[:2] == (code, out)
    assert "celadon diff: answers are not kept: kept/" in again[2]
    Path("file").write_text("")
    code, _, err = run(capsys, "diff", "--cache", "file", "old.json", "new.json")
    assert (code, "error: " in err) == (Exit.USAGE, True)
