"""`celadon schema`: the fields of Kubernetes' types."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from celadon.cli import output
from celadon.cli.options import add_files
from celadon.cli.reading.documents import Exit

if TYPE_CHECKING:
    from celadon.cli.schemas import Found, Schemas
    from celadon.kube.schemas import SchemaPack

_PROGRAM: Final = "celadon schema"
_ACTIONS: Final = ("list", "show", "build")
_FORMATS: Final = ("text", "json", "yaml")

DESCRIPTION: Final = """\
Show the fields of Kubernetes' types, and of those that CustomResourceDefinitions define.

  list             every kind whose schema is known
  show KIND        its fields; KIND.FIELD.FIELD goes down, KIND may be a plural or short name
  build SOURCE     make a schema pack of a folder of OpenAPI v3 documents, or of a server's
"""

EPILOG: Final = """\
examples:
  celadon schema list
  celadon schema show deployment.spec.strategy
  celadon schema show apps/v1/Deployment -o json
  celadon schema show gizmo.spec -f crds/
  celadon schema build openapi/ --to cluster.pack
  celadon schema build http://127.0.0.1:8001 --to cluster.pack
  celadon schema list --pack cluster.pack

exit codes:
  0  done
  2  wrong usage, an unknown kind, or an input that cannot be read
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon schema --help` shows."""
    parser.add_argument("action", metavar="ACTION", choices=_ACTIONS, help="list, show or build")
    parser.add_argument("name", metavar="NAME", nargs="?", default="", help="a KIND or a SOURCE")
    add_files(parser, "CustomResourceDefinitions")
    parser.add_argument("--pack", metavar="FILE", help="a schema pack instead of the built-in one")
    parser.add_argument("-o", "--output", choices=_FORMATS, default="text", help="(default: text)")
    parser.add_argument("-r", "--recursive", action="store_true", help="fields of fields too")
    parser.add_argument("--to", metavar="FILE", help="where `build` writes the pack")
    parser.add_argument("--token-file", metavar="FILE", help="holds a bearer token for the server")
    parser.add_argument("--ca-file", metavar="FILE", help="CA certificates of the server")
    parser.add_argument("--insecure", action="store_true", help="trust any certificate")


def run(options: argparse.Namespace) -> Exit:
    """List, show or build."""
    if (options.action == "list") == bool(options.name):
        wants = "takes no name" if options.name else "needs a name"
        return output.usage_error(_PROGRAM, f"`{options.action}` {wants}")
    if (options.action == "build") != bool(options.to):
        return output.usage_error(_PROGRAM, "`build` and `--to` go together")
    if options.action == "build":
        return _build(options)
    schemas = _schemas(options)
    if schemas is None:
        return Exit.USAGE
    return _list(schemas, options) if options.action == "list" else _show(schemas, options)


def _schemas(options: argparse.Namespace) -> Schemas | None:
    from celadon.cli.schemas import Schemas, definitions, read_pack
    from celadon.kube.schemas import built_in

    pack = read_pack(options.pack) if options.pack else built_in()
    if isinstance(pack, str):
        output.complain(f"error: {options.pack}: {pack}")
        return None
    schemas = Schemas(pack)
    found, problems = definitions(options.files)
    for problem in problems:
        output.complain(f"error: {problem.text()}")
    for definition in found:
        schemas.add(definition)
    return None if problems else schemas


def _list(schemas: Schemas, options: argparse.Namespace) -> Exit:
    kinds = schemas.kinds()
    if options.output == "text":
        width = max((len(kind.kind) for kind in kinds), default=0)
        output.say("\n".join(f"{kind.kind:{width}}  {kind.api_version}" for kind in kinds))
    else:
        listed = [{"apiVersion": kind.api_version, "kind": kind.kind} for kind in kinds]
        _print(listed, options.output)
    return Exit.OK


def _show(schemas: Schemas, options: argparse.Namespace) -> Exit:
    from celadon.cli.options import did_you_mean
    from celadon.cli.schemas import UnknownName, document

    try:
        found = schemas.find(options.name)
    except UnknownName as error:
        hint = did_you_mean(error.word, error.choices)
        return output.usage_error(_PROGRAM, f"{error}{hint}")
    if options.output == "text":
        output.say(_text(found, schemas.pack, recursive=options.recursive))
    else:
        _print(document(found.schema, schemas.pack), options.output)
    return Exit.OK


def _text(found: Found, pack: SchemaPack, *, recursive: bool) -> str:
    from celadon.cli.schemas import rows, type_name

    lines = [f"KIND     {found.gvk.kind}", f"VERSION  {found.gvk.api_version}"]
    if found.fields:
        lines.append(f"FIELD    {'.'.join(found.fields)} <{type_name(found.schema, pack)}>")
    table = [
        ("  " * row.depth + row.name, f"<{row.type}>", row.notes)
        for row in rows(found.schema, pack, recursive=recursive)
    ]
    if table:
        lines += ["", "FIELDS"]
        width = max(len(name) for name, _, _ in table)
        middle = max(len(kind) for _, kind, _ in table)
        lines += [
            f"  {name:{width}}  {kind:{middle}}  {notes}".rstrip() for name, kind, notes in table
        ]
    return "\n".join(lines)


def _print(value: object, format: str) -> None:
    if format == "json":
        import json

        output.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
        return
    import yaml

    output.write(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=1000))


def _build(options: argparse.Namespace) -> Exit:
    from celadon.cli.schemas import access, build

    allowed = access(options)
    if isinstance(allowed, str):
        return output.usage_error(_PROGRAM, allowed)
    built = build(options.name, allowed, options.to)
    for problem in built.problems:
        output.complain(f"error: {problem.text()}")
    if built.problems:
        return Exit.USAGE
    output.write(f"{options.to}: {built.types} types, {built.kinds} kinds, {built.size} bytes\n")
    return Exit.OK
