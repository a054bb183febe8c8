"""Completion for zsh: a function with `_arguments` for each command, and one that finds them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Final

from celadon.cli.completing.command_words import CommandWords, OptionWords, Paths, Values
from celadon.patterns import late_pattern

_SPECIAL: Final = late_pattern(r"([\\:\[\]])")
_FILES: Final = {Paths.FILES: "_files", Paths.FOLDERS: "_files -/"}


def zsh_script(commands: Sequence[CommandWords]) -> str:
    """The whole script: the file `_celadon` in a folder of `fpath`."""
    named = [one for one in commands if one.name]
    return "\n".join(
        [
            "#compdef celadon",
            "# zsh completion of celadon, written by `celadon completion zsh`",
            "",
            *map(_function, commands),
            "_celadon() {",
            '  [[ "$words[2]" == help ]] && { shift words; (( CURRENT -= 1 )); }',
            '  case "$words[2] $words[3]" in',
            *(_dispatch(one) for one in named),
            "    *) _celadon_ ;;",
            "  esac",
            "}",
            "",
            '_celadon "$@"',
            "",
        ]
    )


def _dispatch(command: CommandWords) -> str:
    """The command's function sees its own last word as the program."""
    count = len(command.name.split())
    pattern = shlex.quote(command.name) if count > 1 else f"'{command.name} '*"
    here = f"    {pattern}) (( CURRENT > {count + 1} )) && {{ shift {count} words;"
    return f"{here} (( CURRENT -= {count} )); _{_function_name(command)}; return; }} ;|"


def _function_name(command: CommandWords) -> str:
    return f"celadon_{command.name.replace(' ', '_')}"


def _function(command: CommandWords) -> str:
    specs = [spec for one in command.options for spec in _specs(one)]
    specs.append(f"*: :{_action(command.operands)}")
    lines = " \\\n    ".join(shlex.quote(one) for one in specs)
    return f"_{_function_name(command)}() {{\n  _arguments -S \\\n    {lines}\n}}\n"


def _specs(option: OptionWords) -> list[str]:
    """One for each name of the option; all are gone when one was used that is not repeated."""
    value = "" if option.values is None else f":value:{_action(option.values)}"
    summary = _SPECIAL.sub(r"\\\1", option.summary)
    before = "*" if option.is_repeated else f"({' '.join(option.names)})"
    return [
        f"{before}{name}{'=' if value and name.startswith('--') else ''}[{summary}]{value}"
        for name in option.names
    ]


def _action(values: Values) -> str:
    words = " ".join(values.words)
    files = _FILES.get(values.paths, "")
    if values.are_listed:
        return f"_sequence compadd - {words}"
    if words and files:
        return f"{{compadd - {words}; {files}}}"
    return f"({words})" if words else files
