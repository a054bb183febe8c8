"""What people and programs read about mutants."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests.cli.files import Json, binding, config_map, policy, run
from tests.cli.policy_tests.given_cases import written

RULES = [
    {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["configmaps"],
    }
]
DOCUMENTS = [policy(expression="int(object.data.x) <= 5", rules=RULES), binding()]


def asked(verdict: str, x: str) -> Json:
    return {"object": config_map(x=x), "expect": verdict}


WEAK = (asked("admit", "1"), asked("deny", "9"))
STRONG = (asked("admit", "5"), asked("deny", "6"), asked("error", "x"))


@pytest.fixture(name="weak")
def _weak(tmp_path: Path) -> str:
    return written(tmp_path, *WEAK, documents=DOCUMENTS)


def test_a_survivor_with_its_difference_and_its_case(
    weak: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "test", weak, "--mutate", "--jobs", "1")
    file = tmp_path / "limit.yaml"
    assert code == 0
    head, _, rest = out.partition("\n")
    assert head.startswith(f"PART {file}:1 ValidatingAdmissionPolicy `limit`: ")
    block = next(
        one for one in rest.split("\n\n") if "<= 5` becomes `int(object.data.x) < 5`" in one
    )
    lines = block.splitlines()
    assert lines[0] == (
        f"SURVIVED {file}:28 comparison: spec.validations[0].expression "
        "`int(object.data.x) <= 5` becomes `int(object.data.x) < 5`"
    )
    assert lines[1:3] == [f"  --- {file}", f"  +++ {file}"]
    assert '  -    "expression": "int(object.data.x) <= 5"' in lines
    assert '  +    "expression": "int(object.data.x) < 5"' in lines
    case = "\n".join(lines[lines.index("  a case that notices it:") + 1 :])
    assert yaml.safe_load(case)[0]["expect"] == "admit"


def test_the_share_that_is_killed(weak: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "test", weak, "--kill-under", "100", "--jobs", "1", "-q")
    assert code == 1
    assert ", less than 100%; 1 proved the same, " in out
    code, out, _ = run(capsys, "test", weak, "--kill-under", "10", "--jobs", "1", "-q")
    assert code == 0


def test_all_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, *STRONG, documents=DOCUMENTS)
    code, out, _ = run(capsys, "test", path, "--mutate", "--jobs", "1", "-v")
    assert code == 0
    killed = "`int(object.data.x) <= 5` becomes `int(object.data.x) < 5`: killed by "
    assert f"{killed}{path}::case 0\n" in out


def test_for_programs(weak: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "test", weak, "--mutate", "-o", "json", "--jobs", "1")
    found = json.loads(out)["mutants"]
    (own,) = found["policies"]
    assert own["name"] == "limit"
    assert own["file"] == str(tmp_path / "limit.yaml")
    assert found["killed"] == sum(one["fate"] == "killed" for one in own["mutants"])
    survivor = next(one for one in own["mutants"] if one["fate"] == "survived")
    assert survivor.keys() >= {"file", "line", "kind", "field", "change", "diff", "case"}
    assert all("killer" in one for one in own["mutants"] if one["fate"] == "killed")


def test_for_ci(weak: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "test", weak, "--mutate", "-o", "github", "--jobs", "1")
    assert "::warning file=" in out
    assert "title=mutant survived::comparison: spec.validations[0].expression" in out
    _, out, _ = run(capsys, "test", weak, "--kill-under", "100", "-o", "junit", "--jobs", "1")
    groups = [one for one in ET.fromstring(out).iter("testcase") if one.find("failure") is not None]
    assert {one.get("classname") for one in groups} == {"mutants of limit"}
