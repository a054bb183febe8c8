"""The few things that must be right about an object before anybody looks at its meaning.

The API server decodes metadata into typed fields and refuses what does not fit. The most frequent
accident has a help of its own: a label such as `enabled: yes`, which YAML reads as true.
"""

from __future__ import annotations

from celadon.cli.reading.documents import Document
from celadon.cli.reading.json_places import Path
from celadon.cli.reading.problems import Problem


def shape_problem(document: Document) -> Problem | None:
    """The first thing wrong with the metadata (or with a CRD's names), if any."""
    metadata = document.value.get("metadata")
    if metadata is None:
        return None
    if not isinstance(metadata, dict):
        return _problem(document, ("metadata",), "a map", metadata)
    for name in ("name", "generateName", "namespace", "uid"):
        value = metadata.get(name)
        if value is not None and not isinstance(value, str):
            return _problem(document, ("metadata", name), "text", value)
    for name in ("labels", "annotations"):
        problem = _texts_problem(document, name, metadata.get(name))
        if problem is not None:
            return problem
    if document.value["kind"] == "CustomResourceDefinition":
        return _definition_problem(document)
    return None


def _texts_problem(document: Document, name: str, texts: object) -> Problem | None:
    if texts is None:
        return None
    if not isinstance(texts, dict):
        return _problem(document, ("metadata", name), "a map", texts)
    for key, value in texts.items():
        if value is not None and not isinstance(value, str):
            return _problem(document, ("metadata", name, key), "text", value)
    return None


def _definition_problem(document: Document) -> Problem | None:
    """A CRD must tell its group, names and versions, or nothing can be known of its objects."""
    spec = document.value.get("spec")
    if not isinstance(spec, dict):
        return _problem(document, ("spec",), "a map", spec)
    names = spec.get("names")
    if not isinstance(spec.get("group"), str):
        return _problem(document, ("spec", "group"), "text", spec.get("group"))
    if not isinstance(names, dict):
        return _problem(document, ("spec", "names"), "a map", names)
    for name in ("plural", "kind"):
        if not isinstance(names.get(name), str):
            return _problem(document, ("spec", "names", name), "text", names.get(name))
    versions = spec.get("versions")
    if not isinstance(versions, list):
        return _problem(document, ("spec", "versions"), "a list", versions)
    for index, version in enumerate(versions):
        if not (isinstance(version, dict) and isinstance(version.get("name"), str)):
            return _problem(document, ("spec", "versions", index), "a map with a name", version)
    return None


def _problem(document: Document, path: Path, wanted: str, found: object) -> Problem:
    field = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)[1:]
    help = ""
    if wanted == "text" and isinstance(found, bool | int | float):
        help = "YAML reads some words as true, false or a number: put the value in quotes"
    return Problem(
        document.file,
        document.line(path),
        f"`{field}` must be {wanted}, not {_name_of(found)}",
        help,
    )


def _name_of(value: object) -> str:
    if value is None:
        return "absent"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a map"
    return (
        "a list"
        if isinstance(value, list)
        else f"the number {value}"
        if not isinstance(value, str)
        else "text"
    )
