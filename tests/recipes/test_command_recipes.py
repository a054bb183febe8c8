"""Recipes about commands and what they read and show."""

from __future__ import annotations

import json
import re

import pytest

from tests.recipes.copied import Copy

pytestmark = pytest.mark.thorough

POLICIES = ("-f", "examples/policies", "-f", "examples/cluster")

HELLO = '''\
"""`celadon greet`: says hello."""

from __future__ import annotations

import argparse

from celadon.cli import output
from celadon.cli.exit_codes import Exit

DESCRIPTION = "Say hello."
EPILOG = "examples:\\n  celadon greet Ada\\n\\nexit codes:\\n  0  said\\n"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("name", metavar="NAME", help="who is greeted")


def run(options: argparse.Namespace) -> Exit:
    """Do the work."""
    output.write(f"hello, {options.name}\\n")
    return Exit.OK
'''


def test_a_command(copy: Copy) -> None:
    copy.write("src/celadon/cli/commands/greet.py", HELLO)
    copy.insert(
        "src/celadon/cli/main.py",
        'Command("eval", "evaluate one CEL expression"),\n',
        '    Command("greet", "say hello"),\n',
    )
    section = "\n## celadon greet\n\nSays hello to `NAME`; `--help` tells more.\n\n"
    section += "```console\n$ celadon greet Ada\nhello, Ada\n```\n"
    document = copy.root / "docs" / "cli.md"
    document.write_text(document.read_text() + section)
    assert copy.celadon("greet", "Ada") == "hello, Ada\n"
    assert re.search(r"^  greet +say hello$", copy.celadon("--help"), re.MULTILINE)
    assert "who is greeted" in copy.celadon("greet", "--help")
    copy.pytest("tests/test_docs.py", "-k", "greet or (links and cli.md)")


def test_a_manifest(copy: Copy) -> None:
    copy.insert(
        "src/celadon/webhook/installation.py",
        '        "serviceAccountName": settings.name,\n',
        '        "priorityClassName": "system-cluster-critical",\n',
    )
    copy.insert(
        "deploy/helm/celadon/templates/deployment.yaml",
        "      serviceAccountName: {{ .Values.name }}\n",
        "      priorityClassName: system-cluster-critical\n",
    )
    assert "priorityClassName: system" in copy.celadon("webhook", "manifest", *POLICIES)
    copy.pytest("tests/webhook/installation/test_chart_values.py", "-k", "prints and files")


def test_an_output_format(copy: Copy) -> None:
    copy.write(
        "src/celadon/cli/report/finding_lines.py",
        '"""One line for each finding."""\n\n'
        "from __future__ import annotations\n\n"
        "from typing import Any\n\n"
        "from celadon.cli.report.report_model import ReportView\n\n\n"
        "def as_lines(view: ReportView[Any]) -> str:\n"
        '    """The level and the place of each."""\n'
        '    found = (f"{one.level.value} {one.place}\\n" for one in view.findings())\n'
        '    return "".join(found)\n',
    )
    copy.insert(
        "src/celadon/cli/report/report_model.py",
        '    "github": "sarif_junit_tap:as_github",\n',
        '    "lines": "finding_lines:as_lines",\n',
    )
    commands = {
        ("check", *POLICIES, "examples/manifests"): 1,
        ("lint", "examples/lint"): 1,
        ("test", "examples/policies", "--mutate", "--run", "pods.*::(n|p|an )"): 0,
        ("audit", *POLICIES, "examples/audit/dump.yaml"): 1,
    }
    for command, code in commands.items():
        lines = copy.celadon(*command, "--output", "lines", code=code).splitlines()
        found = json.loads(copy.celadon(*command, "--output", "sarif", code=code))
        assert len(lines) > 0
        assert {line.split()[0] for line in lines} == {
            one["level"] for one in found["runs"][0]["results"]
        }


def test_a_limit(copy: Copy) -> None:
    copy.insert(
        "src/celadon/cli/reading/documents.py",
        "from celadon.records import dataclass\n",
        "\nMAX_VARIABLES: Final = 2\n"
        '"""Variables of one `celadon eval`; ours. More are better put in a file."""\n',
    )
    options = "src/celadon/cli/commands/eval.py"
    copy.insert(
        options,
        "from celadon.cli.options import add_version, count\n",
        "from celadon.cli.reading.documents import MAX_VARIABLES\n",
    )
    copy.insert(
        options,
        "    bound: JsonDict = {}\n",
        "    if len(options.var) > MAX_VARIABLES:\n"
        '        raise WrongUseError(f"more than {MAX_VARIABLES} variables")\n',
    )
    at_the_limit = ("--var", "x=1", "--var", "y=2")
    assert copy.celadon("eval", "x + y", *at_the_limit) == "3\n"
    beyond = copy.celadon("eval", "x + y", *at_the_limit, "--var", "z=3", code=2)
    assert "more than 2 variables" in beyond


def test_a_notice(copy: Copy) -> None:
    copy.insert(
        "src/celadon/cli/check/check_report.py",
        '    NOT_EVALUATED = "not-evaluated"\n',
        '    SOMETHING = "something"\n',
    )
    notices = "src/celadon/cli/check/notices.py"
    copy.insert(
        notices,
        "    yield from _unknown_kinds(sightings)\n",
        "    yield from _something(sightings)\n",
    )
    copy.insert(
        notices,
        ' on objects with their defaults: leave out `--no-defaulting`",\n        )\n',
        "\n\ndef _something(sightings: Sightings) -> Iterator[Notice]:\n"
        "    if sightings.any:\n"
        '        yield Notice(NoticeReason.SOMETHING, Place(), "something is there")\n',
    )
    manifest = "examples/manifests/storefront.yaml"
    command = ("check", *POLICIES, manifest, "--no-generated-pods", "--output", "json")
    kinds = json.loads(copy.celadon(*command))["notices"]
    assert {"something is there"} <= {one["message"] for one in kinds}
    copy.celadon(*command, "--strict", code=3)


def test_a_yaml_shape(copy: Copy) -> None:
    """Keys in single quotes, which the complete reader had to read."""
    text = "'a b': 1\nc: 2\n"
    read = f"from celadon.goyaml.yaml_blocks import *; r = BlockReader().read({text!r})"
    assert "UnusualError" in copy.python("-c", read, code=1)
    blocks = "src/celadon/goyaml/yaml_blocks.py"
    copy.replace(
        blocks,
        r'|"[^"\\\n]{{1,200}}")' + " :\n",
        r"""|"[^"\\\n]{{1,200}}"|'[^'\n]{{1,200}}')""" + " :\n",
    )
    copy.replace(blocks, """    if key[0] == '"':\n""", """    if key[0] in "\\"'":\n""")
    copy.insert("tests/goyaml/test_yaml_blocks.py", "UNDERSTOOD = [\n", f"    {text!r},\n")
    copy.python("-c", f"{read}; assert r == {{'a b': 1, 'c': 2}}, r")
    copy.pytest("tests/goyaml/test_yaml_blocks.py", "-k", "understood")


def test_an_example(copy: Copy) -> None:
    document = copy.root / "README.md"
    document.write_text("```console\n$ celadon eval '1 + 2'\n```\n")
    copy.python("-m", "tests.docs", "README.md")
    assert document.read_text() == "```console\n$ celadon eval '1 + 2'\n3\n```\n"
