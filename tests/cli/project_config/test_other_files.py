"""What lies beside manifests is passed over, and counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from celadon.cli.project_config import other_file, passed_over, summary
from celadon.cli.reading.documents import Text
from tests.cli.files import binding, config_map, policy, run, write

KUSTOMIZATIONS = "parts of kustomizations"
VALUES = "values of Helm charts"
EXPECTATIONS = "expectations of tests"


@pytest.mark.parametrize(
    ("file", "content", "expected"),
    [
        ("a/kustomization.yaml", "resources: [x.yaml]\n", KUSTOMIZATIONS),
        (
            "a/k.yaml",
            "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n",
            KUSTOMIZATIONS,
        ),
        ("a/Chart.yaml", "apiVersion: v2\nname: shop\n", "Helm charts"),
        ("a/values.yaml", "kind: Deployment\nimage: x\n", "values of Helm charts"),
        ("a/values-production.yaml", "podSpec:\n  kind: Deployment\n", VALUES),
        ("a/ci/test-values.yaml", "podSpec:\n  kind: Deployment\n", VALUES),
        ("a/values.schema.json", '{"properties": {"kind": {}}, "x": {"kind": 1}}', VALUES),
        ("a/valuestore.yaml", "podSpec:\n  kind: Deployment\n", ""),
        ("a/tests/x_test.yaml", "suite: x\ntests:\n- asserts:\n  - kind: Pod\n", "tests"),
        ("a/x.yaml", "apiVersion: builtin\nkind: PrefixSuffixTransformer\n", KUSTOMIZATIONS),
        ("a/x.yaml", "apiVersion: builtins.io/v1\nkind: Pod\n", ""),
        ("a/values.yaml", "spec: {}\nkind: ConfigMap\napiVersion: v1\n", ""),
        ("a/artifacthub-pkg.yml", "version: 1\n", "packages of Artifact Hub"),
        ("a/tests.json", '[{"template": "pod.yaml"}]', "other files"),
        ("a/x.yaml", "a: [\n", "other files"),
        ("a/x.yaml", "apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\n", "tests"),
        ("a/x.yaml", "apiVersion: test.gatekeeper.sh/v1alpha1\nkind: Suite\n", "tests"),
        (
            "a/x.yaml",
            "apiVersion: v1\nkind: ConfigMap\ndata:\n  k: |\n    apiVersion: kuttl.dev/v1beta1\n",
            "",
        ),
        (
            "a/x.yaml",
            "apiVersion: v1\nkind: ConfigMap\ndata:\n  k.yaml: |\n"
            "    apiVersion: kustomize.config.k8s.io/v1beta1\n",
            "",
        ),
        ("a/x.json", '{\n  "apiVersion": "cli.kyverno.io/v1alpha1", "kind": "Test"}', "tests"),
        (
            "a/x.yaml",
            "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\n",
            "configurations of programs",
        ),
        (
            "a/audit.yaml",
            "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [level: Metadata]\n",
            "configurations of programs",
        ),
        (
            "a/x.yaml",
            "apiVersion: kubeadm.k8s.io/v1beta4\n---\napiVersion: kubelet.config.k8s.io/v1beta1\n"
            "kind: KubeletConfiguration\n",
            "configurations of programs",
        ),
        ("a/x.yaml", "apiVersion: vendir.k14s.io/v1\n---\napiVersion: v1\nkind: Pod\n", ""),
        ("a/00-assert.yaml", "apiVersion: v1\nkind: Pod\n", EXPECTATIONS),
        ("a/02-errors-2.yaml", "apiVersion: v1\nkind: Pod\n", EXPECTATIONS),
        ("a/00-install.yaml", "apiVersion: v1\nkind: Pod\n", ""),
        ("a/assert.yaml", "apiVersion: v1\nkind: Pod\n", ""),
        ("a/x.yaml", "# nothing\n", "other files"),
        ("a/x.yaml", "\n", ""),
        ("a/x.yaml", "kind: ConfigMap\n", ""),
        ("a/x.yaml", "apiVersion: v1\nkind: [\n", ""),
        ("a/x.json", '{"apiVersion": "v1", "kind": ', ""),
        ("a/templates/x.yaml", "kind: {{ .Values.kind }}\n", ""),
    ],
)
def test_kinds(file: str, content: str, expected: str) -> None:
    assert passed_over(Text(file, content), ["a"]) == expected
    assert passed_over(Text(file, content), [file]) == ""


def test_templates_of_charts(tmp_path: Path) -> None:
    (tmp_path / "Chart.yaml").touch()
    text = "kind: {{ .Values.kind }}\n"
    for folder in ("templates", "templates/more"):
        file = str(tmp_path / folder / "x.yaml")
        assert passed_over(Text(file, text), []) == "templates of Helm charts"
        assert passed_over(Text(file, "kind: Pod\n"), []) == ""


# As an operator's project has it: patches of definitions wait as comments.
KUSTOMIZATION = """\
# the words of a sentence: patches.yaml
resources:
- bases/foos.yaml
#- bases/bars.yaml
#patches:
#- path: patches/label.yaml
- ./kept.yaml
patches:
# [WEBHOOK] to enable it, say so: uncomment
#- path: patches/webhook_in_foos.yaml
- path: patches/../image.yaml
  target: {kind: Deployment}
- {path: "kept.yaml"}
configurations: [kustomizeconfig.yaml]
configMapGenerator:
- name: manager
  files: [config.yaml=manager.yaml]
"""


@pytest.mark.parametrize(
    ("file", "is_part"),
    [
        ("bases/foos.yaml", False),
        ("bases/bars.yaml", False),
        ("kept.yaml", False),
        ("patches.yaml", False),
        ("more/image.yaml", False),
        ("patches/label.yaml", True),
        ("patches/webhook_in_foos.yaml", True),
        ("image.yaml", True),
        ("kustomizeconfig.yaml", True),
        ("manager.yaml", True),
    ],
)
@pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.yml", "Kustomization"])
def test_parts_of_kustomizations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, file: str, is_part: bool
) -> None:
    """What a kustomization changes manifests with is no manifest, though it has a kind."""
    (tmp_path / "crd").mkdir()
    (tmp_path / "crd" / name).write_text(KUSTOMIZATION)
    monkeypatch.chdir(tmp_path)
    text = "apiVersion: v1\nkind: Pod\n"
    for path in (f"crd/{file}", f"./crd/{file}", str(tmp_path / "crd" / file)):
        assert passed_over(Text(path, text), []) == (KUSTOMIZATIONS if is_part else "")
        assert passed_over(Text(path, text), [path]) == ""
    monkeypatch.chdir("crd")
    assert passed_over(Text(file, text), []) == (KUSTOMIZATIONS if is_part else "")


CHAINSAW = """\
apiVersion: chainsaw.kyverno.io/v1alpha1
kind: Test
spec:
  steps:
  - name: first
    try:
    - create: # the policy
        file: ../policy.yaml
    - assert:
        timeout: 5s
        file: ready.yaml
    - error: {}
    - error:
        file: "absent.yaml"
    - assert:
        file: sent.yaml
    - apply:
        expect:
        - check:
            ($error != null): true
        file: bad.yaml
    - apply:
        file: sent.yaml
"""


@pytest.mark.parametrize(
    ("file", "is_expected"),
    [
        ("e2e/ready.yaml", True),
        ("e2e/absent.yaml", True),
        ("e2e/sent.yaml", False),
        ("e2e/bad.yaml", False),
        ("policy.yaml", False),
        ("ready.yaml", False),
    ],
)
def test_what_a_test_of_chainsaw_only_expects_is_a_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, is_expected: bool
) -> None:
    (tmp_path / "e2e").mkdir()
    (tmp_path / "e2e" / "chainsaw-test.yaml").write_text(CHAINSAW)
    monkeypatch.chdir(tmp_path)
    text = Text(file, "apiVersion: v1\nkind: Pod\n")
    assert passed_over(text, []) == (EXPECTATIONS if is_expected else "")


def test_a_kustomization_that_cannot_be_read_has_no_parts(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_bytes(b"patches:\n- path: a.yaml\n\xff")
    assert passed_over(Text(str(tmp_path / "a.yaml"), "apiVersion: v1\nkind: Pod\n"), []) == ""


def test_summary() -> None:
    others = [other_file(f"{i}.yaml", what) for i, what in enumerate(("a", "b", "a"))]
    assert summary(others) == "passed over: 3 files that are no manifests (a: 2, b: 1)"
    assert summary(others[:1]) == "passed over: 1 file that is no manifest (a: 1)"


def _folder(tmp_path: Path) -> str:
    write(tmp_path / "policy.yaml", policy(), binding())
    write(tmp_path / "cm.yaml", config_map(x="ok"))
    (tmp_path / "kustomization.yaml").write_text("resources: [cm.yaml]\n")
    (tmp_path / "values.yaml").write_text("a: [\n")
    return str(tmp_path)


TOLD = f"passed over: 2 files that are no manifests ({KUSTOMIZATIONS}: 1, {VALUES}: 1)"


@pytest.mark.parametrize(
    ("words", "strict"),
    [
        (("check", "-f", "{}"), 3),
        (("lint", "{}", "--fail-on", "never"), 2),
        (("audit", "-f", "{}", "{}/cm.yaml"), 2),
    ],
)
def test_commands(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: tuple[str, ...], strict: int
) -> None:
    folder = _folder(tmp_path)
    given = [one.format(folder) for one in words]
    code, out, err = run(capsys, *given)
    assert code == 0, err
    assert TOLD in out + err
    assert run(capsys, *given, "--strict")[0] == strict


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("fmt", "--check", "{}"), 0),
        (("prove", "{}"), 1),
        (("schema", "list", "-f", "{}"), 0),
    ],
)
def test_commands_about_expressions_and_definitions(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: tuple[str, ...], expected: int
) -> None:
    if words[0] == "prove":
        pytest.importorskip("z3")
    folder = _folder(tmp_path)
    code, out, err = run(capsys, *(one.format(folder) for one in words))
    assert code == expected, out + err
    assert ("passed over" in err) is (words[0] == "prove")


def test_a_file_that_is_named_is_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    assert run(capsys, "check", "-f", f"{folder}/policy.yaml", f"{folder}/values.yaml")[0] == 2


def test_a_broken_manifest_is_an_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    (tmp_path / "broken.yaml").write_text("apiVersion: v1\nkind: [\n")
    for words in (("check", "-f", folder), ("lint", folder)):
        assert run(capsys, *words)[0] == 2
