"""Folders of manifests: which files count, what their hash is, what cannot be read."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from celadon.admission.static_manifests import ManifestError
from celadon.apiserver.static_admission import folder_signature, read_folder


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)


def test_files_by_name_without_sub_folders(tmp_path: Path) -> None:
    write(tmp_path, b_yaml="a: 1\n---\n\n---\nb: 2\n", a_JSON='{"c":3}', c_yml="", d_txt="e: 5")
    (tmp_path / "x.yaml").mkdir()
    write(tmp_path / "x.yaml", y_yaml="f: 6")
    found = read_folder(str(tmp_path))
    values = [(Path(one.file).name, one.document.value) for one in found.documents()]
    assert values == [("a.JSON", {"c": 3}), ("b.yaml", {"a": 1}), ("b.yaml", {"b": 2})]
    content = b'{"c":3}\0a: 1\n---\n\n---\nb: 2\n\0'
    assert found.hash == f"sha256:{hashlib.sha256(content).hexdigest()}"


def test_nothing_has_no_hash(tmp_path: Path) -> None:
    write(tmp_path, a_yaml="")
    assert read_folder(str(tmp_path)).hash == ""
    write(tmp_path, a_yaml="\n")
    assert read_folder(str(tmp_path)).hash != ""


def test_what_strict_reading_complains_about(tmp_path: Path) -> None:
    write(tmp_path, a_yaml="a: 1\nb: 2\na: 3\n", b_json='{"a":1,"a":2}')
    yaml, json = read_folder(str(tmp_path)).documents()
    assert yaml.complaints == ('yaml: unmarshal errors:\n  line 3: key "a" already set in map',)
    assert yaml.text == "a: 1\nb: 2\na: 3"
    assert list(json.document.members(json.document.value)) == [("a", 1), ("a", 2)]


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        (
            "a.yaml",
            "a: b: c",
            "error loading {file}: yaml: mapping values are not allowed in this context",
        ),
        (
            "a.json",
            "{a",
            "error loading {file}: couldn't get version/kind; json parse error: invalid character "
            "'a' looking for beginning of object key string",
        ),
        (
            "a.yaml",
            "a: 1\n--- b\n",
            'failed to split YAML documents in file "{file}": invalid Yaml document separator: b',
        ),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, name: str, text: str, why: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ManifestError) as wrong:
        list(read_folder(str(tmp_path)).documents())
    assert str(wrong.value) == why.format(file=tmp_path / name)


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as wrong:
        read_folder("/nonexistent")
    assert str(wrong.value) == (
        'failed to read manifest directory "/nonexistent": open /nonexistent: no such file or '
        "directory"
    )
    (tmp_path / "a.yaml").symlink_to(tmp_path / "gone")
    with pytest.raises(ManifestError, match=r"failed to read file .*: no such file or directory"):
        read_folder(str(tmp_path))
    (tmp_path / "a.yaml").unlink()
    (tmp_path / "a.yaml").symlink_to(tmp_path)
    with pytest.raises(ManifestError, match=r"failed to read file .*: read .*: is a directory"):
        read_folder(str(tmp_path))


def test_a_signature_is_another_when_a_file_is(tmp_path: Path) -> None:
    write(tmp_path, a_yaml="a: 1")
    seen = {folder_signature(str(tmp_path))}
    write(tmp_path, a_yaml="a: 12")
    seen.add(folder_signature(str(tmp_path)))
    (tmp_path / "a.yaml").rename(tmp_path / "b.yaml")
    seen.add(folder_signature(str(tmp_path)))
    (tmp_path / "b.yaml").unlink()
    seen.add(folder_signature(str(tmp_path)))
    assert len(seen) == 4
    assert folder_signature("/nonexistent") == ()
