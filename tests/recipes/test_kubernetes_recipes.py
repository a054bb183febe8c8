"""Recipes about what Kubernetes has: functions, releases, resources."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.paths import shared_folder
from tests.recipes.copied import Copy
from tests.tools.given_releases import given

pytestmark = pytest.mark.thorough

RELEASES = "src/celadon/kube/library/environments.py"
LATEST = "src/celadon/kube/releases.py"
LAST_BLOCK = "    Block((1, 34), libraries=(lists.library(3),)),\n"

TALLIES = '''\
"""Functions that count."""

from __future__ import annotations

from typing import Any, Final

from celadon.cel.extend import Library
from celadon.cel.value_functions import equal
from celadon.kube.library.costs import declared


def _tally(elements: list[Any], wanted: Any) -> int:
    return sum(1 for element in elements if equal(element, wanted))


LIBRARY: Final = Library(
    "tallies",
    functions=(
        declared(
            "list(T).tally(T) -> int",
            "list_a_tally_int",
            _tally,
            "How often an element is there.",
            ("[1, 2, 1].tally(1)", "2"),
        ),
    ),
)
'''


def test_a_function(copy: Copy) -> None:
    copy.write("src/celadon/kube/library/tallies.py", TALLIES)
    copy.insert(RELEASES, "    semver,\n", "    tallies,\n")
    copy.insert(RELEASES, LAST_BLOCK, "    Block((1, 37), libraries=(tallies.LIBRARY,)),\n")
    expression = "[1, 2, 1].tally(1)"
    assert copy.celadon("eval", expression, "--kubernetes-version", "1.37") == "2\n"
    before = copy.celadon("eval", expression, "--kubernetes-version", "1.36", code=3)
    assert "undeclared reference to 'tally'" in before


def test_a_release(copy: Copy) -> None:
    copy.replace(
        LATEST, "LATEST_RELEASE: Final[Minor] = (1, 37)", "LATEST_RELEASE: Final[Minor] = (1, 38)"
    )
    copy.replace(RELEASES, "    comprehensions,\n", "    comprehensions,\n    encoders,\n")
    copy.insert(RELEASES, LAST_BLOCK, "    Block((1, 38), libraries=(encoders.LIBRARY,)),\n")
    copy.replace("src/celadon/cli/options.py", "range(30, 38)", "range(30, 39)")
    expression = "base64.encode(b'hello')"
    assert copy.celadon("eval", expression, "--kubernetes-version", "1.38") == '"aGVsbG8="\n'
    copy.celadon("eval", expression, "--kubernetes-version", "1.37", code=3)


ROLL_BACK = """
import sys
from pathlib import Path

sys.path.insert(0, "tools")
import next_release
from tests.tools.given_releases import rolled_back

rolled_back(next_release, Path("data"), "1.35")
"""
"""In the copy, nothing is known of 1.36."""
FIELDS = """
import sys
from celadon.kube.releases import answering_as
from celadon.kube.schemas.schema_packs import component

with answering_as(*sys.argv[1:] or ["1.36"]):
    print(*component("io.k8s.api.core.v1.PodSpec").properties)
"""


def test_the_data_of_a_release(copy: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1.36 of 1.35, as if it came out today; with recordings of tables, whose columns no document
    tells."""
    folder = given("1.36", tmp_path / "given")
    monkeypatch.setenv("CELADON_SHARED", str(shared_folder().resolve()))
    copy.python("-c", ROLL_BACK)
    copy.replace(LATEST, 'DESCRIBED: Final = "1.36"', 'DESCRIBED: Final = "1.35"')
    copy.python("tools/build_packs.py")
    assert "schedulingGroup" not in copy.python("-c", FIELDS)

    report = copy.python("tools/next_release.py", str(folder), "--recordings", "tables")
    assert "- [ ] schemas/io.k8s.api.core.v1/PodSpec/fields/schedulingGroup: " in report
    assert "- [x] resources/resource.k8s.io.v1alpha3/" in report
    assert "- [ ] feature_gates: not given: they stay as they were" in report
    differ = report.partition("## Recordings that differ")[2]
    assert "FAIL tables/" in differ
    assert "columnDefinitions" in differ

    assert "schedulingGroup" in copy.python("-c", FIELDS)
    assert "schedulingGroup" not in copy.python("-c", FIELDS, "1.35")


def test_a_resource(copy: Copy) -> None:
    """A kind of its own in a group that is there, with a default and a type."""
    of_group = "scheduling.k8s.io.v1.json"
    _extend(
        copy,
        f"data/resources/{of_group}",
        priorityschemes={
            "kind": "PriorityScheme",
            "singular": "priorityscheme",
            "namespaced": False,
            "verbs": ["create", "delete", "get", "list", "patch", "update", "watch"],
            "default": True,
        },
    )
    _extend(
        copy,
        f"data/defaults/{of_group}",
        PriorityScheme={"default": [{"path": "levels", "value": 3}]},
    )
    meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
    _extend(
        copy,
        "data/schemas/io.k8s.api.scheduling.v1.json",
        PriorityScheme={
            "fields": {
                "apiVersion": "string",
                "kind": "string",
                "levels": "int32",
                "metadata": {"ref": meta},
            },
            "gvk": ["scheduling.k8s.io", "v1", "PriorityScheme"],
            "always": {"metadata": {}},
            "ptr": ["levels"],
        },
    )
    copy.python("tools/build_packs.py")
    assert "levels" in copy.celadon("schema", "show", "PriorityScheme")
    copy.write("policy.yaml", POLICY)
    copy.write("scheme.yaml", SCHEME)
    report = copy.celadon("check", "-f", "policy.yaml", "scheme.yaml", code=1)
    assert "PriorityScheme ours" in report
    assert "3 levels" in report


def test_a_built_in_kind(copy: Copy) -> None:
    """Protobuf, order, simple rules and tables, out of the data and one row."""
    of_group = "scheduling.k8s.io.v1.json"
    scheme = {
        "kind": "PriorityScheme",
        "singular": "priorityscheme",
        "namespaced": False,
        "verbs": ["create", "delete", "get", "list", "patch", "update", "watch"],
        "default": True,
        "columns": [
            {"name": "Name", "type": "string", "format": "name", "cell": ".metadata.name"},
            {"name": "Levels", "type": "integer", "cell": ["number", ".levels"]},
        ],
    }
    _extend(copy, f"data/resources/{of_group}", priorityschemes=scheme)
    meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
    fields = {
        "kind": "string",
        "apiVersion": "string",
        "metadata": {"number": 1, "ref": meta},
        "steps": {"number": 3, "items": "string"},
        "levels": {"number": 2, "type": "int32"},
    }
    _extend(
        copy,
        "data/schemas/io.k8s.api.scheduling.v1.json",
        PriorityScheme={
            "fields": fields,
            "gvk": ["scheduling.k8s.io", "v1", "PriorityScheme"],
            "always": {"metadata": {}},
            "rules": [["range", "levels", 1, 9], ["required", "steps"]],
            "immutable": ["levels"],
        },
    )
    copy.insert(
        "src/celadon/kube/validation/uncommon_kind_validations.py",
        "    storage,\n)\n",
        "from celadon.kube.validation.field_checks import by_rules\n",
    )
    copy.insert(
        "src/celadon/kube/validation/uncommon_kind_validations.py",
        "OTHERS: Final[Mapping[GroupKind, Validation]] = {\n",
        '    GroupKind("scheduling.k8s.io", "PriorityScheme"): Validation(\n'
        '        by_rules("scheduling.v1.PriorityScheme"), CLUSTER\n    ),\n',
    )
    copy.python("tools/build_packs.py")
    copy.write("scheme.yaml", SCHEME + "levels: 10\n")
    report = copy.celadon("check", "scheme.yaml", code=1)
    assert "levels: Invalid value: 10: must be between 1 and 9, inclusive" in report
    assert "steps: Required value" in report
    assert copy.python("-c", SHOWING) == "\n".join(
        (
            "[kind, apiVersion, metadata, steps, levels]",
            "True",
            "[ours, 3]",
            "levels: Invalid value: 3: field is immutable\n",
        )
    )


SHOWING = """\
from celadon.kube import GroupVersionKind, GroupVersionResource
from celadon.kube.fieldpath import FieldPath
from celadon.kube.protobuf import decode, encode, in_message_order
from celadon.kube.validation.field_checks import changed_fields
from celadon.apiserver.printers.tables import built_in_shape

scheme = {
    "levels": 3,
    "steps": ["a"],
    "metadata": {"name": "ours"},
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityScheme",
}
print(f"[{', '.join(in_message_order(scheme))}]")
print(decode(encode(scheme)) == scheme)
shape = built_in_shape(GroupVersionResource("scheduling.k8s.io", "v1", "priorityschemes"))
print(f"[{', '.join(map(str, shape.cells(scheme, 0)))}]")
for error in changed_fields(
    "scheduling.v1.PriorityScheme", scheme, {**scheme, "levels": 4}, FieldPath()
):
    print(error)
"""


def _extend(copy: Copy, path: str, **entries: object) -> None:
    """Entries more in a file of JSON, which is sorted by name."""
    known = json.loads(copy.read(path))
    text = json.dumps(dict(sorted((known | entries).items())), indent=2)
    (copy.root / path).write_text(text + "\n", encoding="utf-8")


SCHEME = """\
apiVersion: scheduling.k8s.io/v1
kind: PriorityScheme
metadata: {name: ours}
"""
POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: levels}
spec:
  matchConstraints:
    resourceRules:
    - apiGroups: [scheduling.k8s.io]
      apiVersions: [v1]
      operations: [CREATE]
      resources: [priorityschemes]
  validations:
  - expression: object.levels != 3
    messageExpression: "string(object.levels) + ' levels'"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: levels}
spec: {policyName: levels, validationActions: [Deny]}
"""
