"""The first hour: from an empty folder to a pipeline and an audit, and what is said when it goes
wrong. No page is read meanwhile: each answer says what to type next."""

from __future__ import annotations

import gzip
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from celadon.cli.library import library
from celadon.goyaml import read_yaml
from tests.cli.files import run

Shell = Callable[[str], tuple[int, str]]

FAILING = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop, labels: {owner: storefront}}
spec:
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec: {containers: [{name: api, image: 'docker.io/api:latest'}]}
"""


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    """Types a line, and gives the exit code and all that was said. `cd` works."""
    monkeypatch.chdir(tmp_path)

    def typed(line: str) -> tuple[int, str]:
        program, *words = shlex.split(line)
        if program == "cd":
            monkeypatch.chdir(Path.cwd() / words[0])
            return 0, ""
        assert program == "celadon"
        code, out, err = run(capsys, *words)
        return code, out + err

    return typed


def suggested(said: str) -> list[str]:
    """The commands below `next:`."""
    return [line.strip() for line in said.partition("next:\n")[2].splitlines() if line[:2] == "  "]


def workflow_lines(file: str, *keys: str) -> list[str]:
    """The commands of celadon in a file of a pipeline."""
    text = Path(file).read_text(encoding="utf-8")
    list(read_yaml(text))
    found = re.findall(rf"(?:{'|'.join(keys)}): (celadon .+)|- (celadon .+)", text)
    return [(one or other).partition(" > ")[0] for one, other in found]


def test_from_an_empty_folder_to_an_audit(shell: Shell) -> None:
    code, said = shell("celadon init shop-policies")
    assert code == 0
    for line in suggested(said):
        if line.startswith(("cd ", "celadon lint", "celadon test", "celadon check")):
            assert shell(line)[0] == 0, line

    code, said = shell("celadon library list images")
    assert code == 0
    assert "no-latest-tag" in said
    code, said = shell("celadon library add no-latest-tag")
    assert code == 0
    (following, *_) = suggested(said)
    assert shell(following)[0] == 0

    Path("manifests/api.yaml").write_text(FAILING, encoding="utf-8")
    code, said = shell("celadon check manifests")
    assert code == 1
    assert "images without a tag of their own in api: name a version instead of `latest`" in said
    assert "manifests/api.yaml:1  Deployment shop/api" in said

    code, said = shell("celadon test init policies/owner-label.yaml --stdout")
    assert code == 0
    assert "kind: PolicyTest" in said

    pipeline = workflow_lines(".github/workflows/policies.yaml", "run")
    assert [line.partition(" --output")[0] for line in pipeline] == [
        "celadon lint policies",
        "celadon test policies",
        "celadon check manifests",
    ]
    assert [shell(line)[0] for line in pipeline] == [0, 0, 1]
    Path("manifests/api.yaml").write_text(FAILING.replace("latest", "1"), encoding="utf-8")
    assert [shell(line)[0] for line in pipeline] == [0, 0, 0]
    assert workflow_lines(".pre-commit-config.yaml", "entry")
    assert [shell(line)[0] for line in workflow_lines(".gitlab-ci.yml")] == [0, 0, 0]

    Path("dump.yaml").write_text(FAILING, encoding="utf-8")
    code, said = shell("celadon audit dump.yaml -v")
    assert code == 1
    assert "images without a tag of their own" in said
    code, said = shell("celadon audit --library pod-security-restricted dump.yaml -v")
    assert code == 1
    assert "may run as root: api" in said


def test_a_first_project_with_all_of_the_library(shell: Shell) -> None:
    """Its manifest passes every policy, so that what is refused later is the user's."""
    topics = sorted({one.topics[0] for one in library().values()})
    code, said = shell(f"celadon init --library {' '.join(topics)}")
    assert code == 0
    assert "set first: the variable `registry` in policies/image-registry/image-reg" in said
    assert shell("celadon lint policies")[0] == 0
    assert shell("celadon check manifests")[0] == 0
    assert len(list(Path("policies").glob("*/README.md"))) == len(library())


def test_a_set_is_tested_and_linted_at_once(shell: Shell) -> None:
    code, said = shell("celadon init --library pod-security-restricted")
    assert code == 0
    for line in suggested(said):
        assert shell(line)[0] == 0, line


def test_nothing_is_written_if_a_part_is_there(shell: Shell) -> None:
    Path("policies/no-latest-tag").mkdir(parents=True)
    Path("policies/no-latest-tag/README.md").write_text("mine", encoding="utf-8")
    code, said = shell("celadon init --library no-latest-tag")
    assert code == 2
    assert "is there already: nothing was written" in said
    assert not Path("celadon.toml").exists()


POLICY = (library()["replica-minimum"]).policy_text
CHART = {
    "chart/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
    "chart/templates/web.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n"
    "  name: {{ .Release.Name }}\n",
}
KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: []\n"
MISTAKES: dict[str, tuple[Mapping[str, str | bytes], str, int, str]] = {
    "nothing is there": ({}, "celadon check", 2, "(`celadon init` writes some)"),
    "no policies are given": (
        {"web.yaml": FAILING},
        "celadon check web.yaml",
        0,
        "give policies and bindings with `-f`; `celadon init` writes a first one",
    ),
    "a Deployment where a policy was expected": (
        {"web.yaml": FAILING},
        "celadon check -f web.yaml web.yaml",
        0,
        "web.yaml has a Deployment, and no policy: give policies and bindings with `-f`",
    ),
    "only policies": (
        {"policies/a.yaml": POLICY},
        "celadon check policies",
        0,
        "`celadon check -f policies/ manifests/`",
    ),
    "a folder with nothing in it": (
        {"policies/a.yaml": POLICY, "empty/notes.txt": ""},
        "celadon check -f policies empty",
        2,
        "empty: no .yaml, .yml or .json file in this folder (is it the right one? `celadon init`",
    ),
    "a folder that is spelt otherwise": (
        {"policies/a.yaml": POLICY, "manifests/web.yaml": FAILING},
        "celadon check -f policies manifest",
        2,
        "manifest: cannot be read: no such file or directory, did you mean `manifests`?",
    ),
    "the wrong folder": (
        {"policies/a.yaml": POLICY},
        "celadon test policies",
        2,
        "`celadon test init POLICY` writes one",
    ),
    "a chart": (
        {"policies/a.yaml": POLICY, **CHART},
        "celadon check -f policies chart",
        0,
        "to judge what a chart makes: `helm template CHART | celadon check -`",
    ),
    "a template of a chart": (
        {"policies/a.yaml": POLICY, **CHART},
        "celadon check -f policies chart/templates/web.yaml",
        2,
        "a template? fill it in first: `helm template CHART | celadon check -`",
    ),
    "the head of a chart": (
        {"policies/a.yaml": POLICY, **CHART},
        "celadon check -f policies chart/Chart.yaml",
        2,
        "a chart? fill it in first: `helm template CHART | celadon check -`",
    ),
    "a folder with a kustomization": (
        {"policies/a.yaml": POLICY, "base/kustomization.yaml": KUSTOMIZATION},
        "celadon check -f policies base",
        0,
        "to judge what they make: `kubectl kustomize FOLDER | celadon check -`",
    ),
    "a kustomization": (
        {"policies/a.yaml": POLICY, "base/kustomization.yaml": KUSTOMIZATION},
        "celadon check -f policies base/kustomization.yaml",
        2,
        "build it first: `kubectl kustomize FOLDER | celadon check -`",
    ),
    "a patch of a kustomization that does not name it": (
        {
            "policies/a.yaml": POLICY,
            "crd/patches/webhook.yaml": "apiVersion: apiextensions.k8s.io/v1\n"
            "kind: CustomResourceDefinition\nmetadata: {name: foos.x.io}\n"
            "spec: {conversion: {strategy: Webhook}}\n",
        },
        "celadon check -f policies crd",
        2,
        "a patch? build it first: `kubectl kustomize FOLDER | celadon check -`",
    ),
    "an address": (
        {"policies/a.yaml": POLICY},
        "celadon check -f policies https://example.com/web.yaml",
        2,
        "fetch it first: `curl -sSL https://example.com/web.yaml | celadon check -`",
    ),
    "a program": (
        {"policies/a.yaml": POLICY, "web.yaml": b"\x7fELF\x02\x01\xd0"},
        "celadon check -f policies web.yaml",
        2,
        "save the file as UTF-8",
    ),
    "a packed file": (
        {"policies/a.yaml": POLICY, "web.yaml.gz": gzip.compress(FAILING.encode())},
        "celadon check -f policies web.yaml.gz",
        2,
        "unpack it first: `gunzip -c web.yaml.gz | celadon check -`",
    ),
    "what an editor on Windows saves as Unicode": (
        {"policies/a.yaml": POLICY, "web.yaml": FAILING.encode("utf-16")},
        "celadon check -f policies web.yaml",
        1,
        "replica-minimum",
    ),
    "the same without its mark": (
        {"policies/a.yaml": POLICY, "web.yaml": FAILING.encode("utf-16-le")},
        "celadon check -f policies web.yaml",
        2,
        "save the file as UTF-8",
    ),
    "a mark before UTF-8": (
        {"policies/a.yaml": POLICY, "web.yaml": FAILING.encode("utf-8-sig")},
        "celadon check -f policies web.yaml",
        1,
        "replica-minimum",
    ),
    "an empty file": (
        {"policies/a.yaml": POLICY, "web.yaml": ""},
        "celadon check -f policies web.yaml",
        0,
        "give files or folders behind the options: `celadon check -f policies/ manifests/`",
    ),
    "two documents without a line between them": (
        {"policies/a.yaml": POLICY + FAILING},
        "celadon lint policies",
        2,
        "is a line `---` missing between two documents?",
    ),
    "a custom resource without its definition": (
        {
            "policies/a.yaml": POLICY,
            "w.yaml": "apiVersion: example.com/v1\nkind: Widget\n"
            "metadata: {name: w, namespace: shop}\n",
        },
        "celadon check -f policies w.yaml",
        0,
        "`kubectl get crd widgets.example.com -o yaml` prints it",
    ),
    "a policy of Kyverno": (
        {
            "k.yaml": "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: k}\n",
            "web.yaml": FAILING,
        },
        "celadon check -f k.yaml web.yaml",
        0,
        "k.yaml has a ClusterPolicy of Kyverno: `celadon migrate k.yaml` translates it",
    ),
    "a template of Gatekeeper": (
        {
            "g.yaml": "apiVersion: templates.gatekeeper.sh/v1\nkind: ConstraintTemplate\n"
            "metadata: {name: k}\n",
        },
        "celadon lint g.yaml",
        0,
        "g.yaml has a ConstraintTemplate of Gatekeeper: `celadon migrate g.yaml` translates it",
    ),
    "nothing to lint": (
        {"web.yaml": FAILING},
        "celadon lint web.yaml",
        0,
        "there is no policy to lint",
    ),
    "nothing to explain": (
        {"policies/a.yaml": POLICY},
        "celadon explain -f policies",
        2,
        "nothing to explain: give manifests",
    ),
    "an audit without policies": (
        {"web.yaml": FAILING},
        "celadon audit web.yaml",
        2,
        "give them with `-f`, or take some with `--library`",
    ),
    "an audit with a policy that is not there": (
        {"web.yaml": FAILING},
        "celadon audit --library no-latest-tags web.yaml",
        2,
        "no policy `no-latest-tags` in the library, did you mean `no-latest-tag`?",
    ),
    "a project with a policy that is not there": (
        {},
        "celadon init --library pod-security-strict",
        2,
        "no policy `pod-security-strict` in the library",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_answered_with_what_to_type(name: str, shell: Shell) -> None:
    files, line, code, answer = MISTAKES[name]
    for path, text in files.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(text if isinstance(text, bytes) else text.encode())
    got, said = shell(line)
    assert answer in said
    assert got == code, said
