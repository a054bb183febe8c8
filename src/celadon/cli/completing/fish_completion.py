"""Completion for fish: a line for each option, under the condition that its command was named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from celadon.cli.completing.command_words import CommandWords, OptionWords, Paths, Values

_HEAD: Final = """\
# fish completion of celadon, written by `celadon completion fish`

function __celadon_is
    set -l words (commandline -opc)
    set -e words[1]
    test "$words[1]" = help; and set -e words[1]
    set -l found ''
    for name in {names}
        if string match -q -- "$name *" "$words "
            set found $name
            break
        end
    end
    test "$found" = "$argv[1]"
end

complete -c celadon -f
"""
_FOLDERS: Final = "(__fish_complete_directories)"


def fish_script(commands: Sequence[CommandWords]) -> str:
    """The whole script."""
    names = " ".join(_quoted(one.name) for one in commands if one.name)
    lines = [line for one in commands for line in _lines(one)]
    return _HEAD.format(names=names) + "\n".join(lines) + "\n"


def _lines(command: CommandWords) -> Iterator[str]:
    begin = f"complete -c celadon -n {_quoted(f'__celadon_is {_quoted(command.name)}')}"
    if command.operands.words or command.operands.paths is not Paths.NONE:
        yield f"{begin} {_offer(command.operands)}"
    for option in command.options:
        yield f"{begin} {_names(option)}{_value(option)} -d {_quoted(option.summary)}"


def _names(option: OptionWords) -> str:
    return " ".join(
        f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names
    )


def _value(option: OptionWords) -> str:
    if option.values is None:
        return ""
    return f" -r {_offer(option.values)}"


def _offer(values: Values) -> str:
    if values.are_listed:
        listed = f"(__fish_append , {' '.join(values.words)})"
        return f"-f -a {_quoted(listed)}"
    words = [*values.words, *([_FOLDERS] if values.paths is Paths.FOLDERS else [])]
    files = "-F" if values.paths is Paths.FILES else "-f"
    return f"{files} -a {_quoted(' '.join(words))}" if words else files


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
