"""All that expressions may use, by release: functions with their overloads and texts, variables,
types, switches, and the formats.

`tests/cases/kube_library.txt` has it, rewritten by `pytest --update-golden`, then read like code.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from celadon.cel.declarations import Library
from celadon.kube.library import authz, ip_cidr_url, json_patches, semver
from celadon.kube.library.environments import BLOCKS, Block
from celadon.kube.library.format_and_regex import FORMATS, NamedFormat
from tests.paths import ROOT

TABLE = ROOT / "tests" / "cases" / "kube_library.txt"
TYPES = (
    *(authz.Authorizer, authz.PathCheck, authz.GroupCheck, authz.ResourceCheck, authz.Decision),
    *(NamedFormat, ip_cidr_url.IP, ip_cidr_url.CIDR, ip_cidr_url.URL, semver.Semver),
    *(json_patches.PatchObject, json_patches.PatchOperation),
)


def _block(block: Block) -> Iterator[str]:
    named = {"removed": block.removed, "since": block.since, "until": block.until}
    bounds = (f", {name} {release[0]}.{release[1]}" for name, release in named.items() if release)
    yield f"== {block.introduced[0]}.{block.introduced[1]}{''.join(bounds)}"
    for name, value in block.switches.items():
        yield f"{name}: {value}"
    for library in block.libraries:
        yield from _library(library)


def _library(library: Library) -> Iterator[str]:
    yield f"-- {library.name}"
    for variable in library.variables:
        yield f"{variable.name}: {variable.type}. {variable.doc}"
    for type_ in library.types:
        yield f"type {type_}"
    for made in library.objects:
        yield f"{made.name}{{{', '.join(f'{name}: {kind}' for name, kind in made.fields.items())}}}"
    for function in library.functions:
        for overload in function.overloads:
            first, *others = map(str, overload.params) if overload.params else ("",)
            receiver = f"{first}." if overload.member else ""
            arguments = others if overload.member else [first, *others]
            yield (
                f"{receiver}{function.name}({', '.join(arguments)}) -> {overload.result} "
                f"[{overload.id}] {overload.doc}".rstrip()
            )


def _table() -> str:
    lines = [line for block in BLOCKS for line in _block(block)]
    lines += ["== for some expressions alone"]
    for library in (semver.LIBRARY, semver.STRICT_LIBRARY, semver.OLDER_LIBRARY):
        lines += _library(library)
    lines += _library(json_patches.LIBRARY)
    lines += ["== what Go calls values", *(f"{type_.__name__}: {type_.go_name}" for type_ in TYPES)]
    lines += ["== formats, and the lengths of their patterns"]
    lines += [f"{name}: {rule.title} {rule.regex_size}" for name, rule in FORMATS.items()]
    return "\n".join(lines) + "\n"


def test_the_table(request: pytest.FixtureRequest) -> None:
    table = _table()
    if request.config.getoption("--update-golden"):
        TABLE.write_text(table, encoding="utf-8")
    assert table == TABLE.read_text(encoding="utf-8")
