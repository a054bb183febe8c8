"""`celadon completion`: scripts that complete command lines of Celadon in a shell."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Final

from celadon.cli import output
from celadon.cli.exit_codes import Exit
from celadon.cli.lint import EVERY_RULE
from celadon.cli.main import COMMANDS, Command, parser_of
from celadon.cli.options import VERSIONS
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

# --- What completes a line ---------------------------------------------------

# What can stand in a command line of Celadon, from the parsers of its commands.
#
# `METAVARS` says what values there are behind a metavar; what is not in it is free text.


class Paths(Enum):
    """An argument is offered this of the file system."""

    NONE = "none"
    FILES = "files"
    FOLDERS = "folders"


@dataclass(frozen=True, slots=True)
class Values:
    """A place of a command line is offered these values; nothing if anything may stand there. Where
    values `are_listed`, there may be several of them, with commas."""

    words: tuple[str, ...] = ()
    are_listed: bool = False
    paths: Paths = Paths.NONE


@dataclass(frozen=True, slots=True)
class OptionWords:
    """An option. `values` is None where it takes none."""

    names: tuple[str, ...]
    values: Values | None
    summary: str
    is_repeated: bool


@dataclass(frozen=True, slots=True)
class CommandWords:
    """A command. `operands` are for all places where no option stands."""

    name: str
    summary: str
    options: tuple[OptionWords, ...]
    operands: Values


_FILES: Final = Values(paths=Paths.FILES)
_FOLDERS: Final = Values(paths=Paths.FOLDERS)
_RULES: Final = tuple(word for rule in EVERY_RULE for word in (rule.code, rule.name))
METAVARS: Final = {
    **dict.fromkeys(("FILE", "LOGS", "PATH", "PATHS", "POLICY", "RESOURCES", "SOURCES"), _FILES),
    **dict.fromkeys(("DIR", "FOLDER"), _FOLDERS),
    "RULE": Values(_RULES),
    "RULE[,RULE]": Values(_RULES, are_listed=True),
    "VERSION": Values(VERSIONS),
    "policy|namespace|label=KEY": Values(("policy", "namespace", "label=")),
}


def every_command() -> list[CommandWords]:
    """Return all commands, those of more words first: `test init` before `test`."""
    ordered = sorted(COMMANDS, key=lambda command: (-len(command.name.split()), command.name))
    return [*map(_command, ordered), _overview()]


def _overview() -> CommandWords:
    """`celadon` alone, which has no name; `celadon help` is told as one of its words."""
    words = tuple(command.name for command in COMMANDS if " " not in command.name)
    options = (
        OptionWords(("-h", "--help"), None, "show the commands", is_repeated=False),
        OptionWords(("--version",), None, "show the version", is_repeated=False),
    )
    return CommandWords("", "", options, Values((*words, "help")))


def _command(command: Command) -> CommandWords:
    actions = parser_of(command)._actions
    options = [_option(action) for action in actions if action.option_strings]
    operands = [_values(action) for action in actions if not action.option_strings]
    subcommands = [
        subcommand.name.split()[1]
        for subcommand in COMMANDS
        if subcommand.name.startswith(f"{command.name} ")
    ]
    values = _together([Values(tuple(subcommands)), *operands])
    return CommandWords(command.name, command.summary, tuple(options), values)


def _option(action: argparse.Action) -> OptionWords:
    return OptionWords(
        tuple(action.option_strings),
        None if action.nargs == 0 else _values(action),
        action.help or "",
        is_repeated=isinstance(action, argparse._AppendAction | argparse._CountAction),
    )


def _values(action: argparse.Action) -> Values:
    if action.choices is not None:
        return Values(tuple(map(str, action.choices)))
    return METAVARS.get(str(action.metavar), Values())


def _together(values: Iterable[Values]) -> Values:
    choices = list(values)
    paths = next((values.paths for values in choices if values.paths is not Paths.NONE), Paths.NONE)
    return Values(tuple(word for values in choices for word in values.words), paths=paths)


# --- Bash completion ---------------------------------------------------------
#
# Completion for bash, 3.2 and newer.
#
# The script finds the command, then the option before the cursor, and offers what fits.
# `--option=` is three words for bash, since `=` parts words.

_SCRIPT: Final = r"""# bash completion of celadon, written by `celadon completion bash`

_celadon() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} option=${{COMP_WORDS[COMP_CWORD-1]}}
  local command='' word words='' options='' paths='' listed='' before=''
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $option == '=' ]]; then
    option=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    [[ $word == help && -z $command ]] && continue
    case "${{command:+$command }}$word" in
      {names}) command="${{command:+$command }}$word" ;;
      *) break ;;
    esac
  done
  case "$command" in
{cases}
  esac
  COMPREPLY=()
  if [[ $current == -* && -n $options ]]; then
    words=$options paths=''
  elif [[ -n $listed && $current == *,* ]]; then
    before=${{current%,*}},
  fi
  while IFS= read -r word; do
    COMPREPLY+=("$before$word")
  done < <(compgen -W "$words" -- "${{current#"$before"}}")
  if [[ -n $paths ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r word; do
      COMPREPLY+=("$word")
    done < <(compgen "$paths" -- "$current")
  fi
}}

complete -F _celadon celadon
"""
_COMPGEN: Final = {Paths.FILES: "-f", Paths.FOLDERS: "-d"}


def bash_script(commands: Sequence[CommandWords]) -> str:
    """Return the whole script."""
    names = "|".join(shlex.quote(command.name) for command in commands if command.name)
    return _SCRIPT.format(names=names, cases="\n".join(map(_case, commands)))


def _case(command: CommandWords) -> str:
    options = shlex.quote(" ".join(name for option in command.options for name in option.names))
    lines = [
        f"        {'|'.join(option.names)}) {_offer(option.values)};;"
        for option in command.options
        if option.values is not None
    ]
    return "\n".join(
        [
            f"    {shlex.quote(command.name)})",
            '      case "$option" in',
            *lines,
            f"        *) options={options} {_offer(command.operands)};;",
            "      esac ;;",
        ]
    )


def _offer(values: Values) -> str:
    """Return the assignments that say what is offered."""
    parts = []
    if values.words:
        parts.append(f"words={shlex.quote(' '.join(values.words))} ")
    if values.are_listed:
        parts.append("listed=1 ")
    if values.paths in _COMPGEN:
        parts.append(f"paths={_COMPGEN[values.paths]} ")
    return "".join(parts)


# --- Fish completion ---------------------------------------------------------
#
# Completion for fish: a line for each option, under the condition that its command was named.

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
_FISH_COMPLETION_FOLDERS: Final = "(__fish_complete_directories)"


def fish_script(commands: Sequence[CommandWords]) -> str:
    """Return the whole script."""
    names = " ".join(_quoted(command.name) for command in commands if command.name)
    lines = [line for command in commands for line in _lines(command)]
    return _HEAD.format(names=names) + "\n".join(lines) + "\n"


def _lines(command: CommandWords) -> Iterator[str]:
    begin = f"complete -c celadon -n {_quoted(f'__celadon_is {_quoted(command.name)}')}"
    if command.operands.words or command.operands.paths is not Paths.NONE:
        yield f"{begin} {_fish_completion_offer(command.operands)}"
    for option in command.options:
        yield f"{begin} {_names(option)}{_value(option)} -d {_quoted(option.summary)}"


def _names(option: OptionWords) -> str:
    return " ".join(
        f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names
    )


def _value(option: OptionWords) -> str:
    if option.values is None:
        return ""
    return f" -r {_fish_completion_offer(option.values)}"


def _fish_completion_offer(values: Values) -> str:
    if values.are_listed:
        listed = f"(__fish_append , {' '.join(values.words)})"
        return f"-f -a {_quoted(listed)}"
    words = [*values.words, *([_FISH_COMPLETION_FOLDERS] if values.paths is Paths.FOLDERS else [])]
    files = "-F" if values.paths is Paths.FILES else "-f"
    return f"{files} -a {_quoted(' '.join(words))}" if words else files


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


# --- Zsh completion ----------------------------------------------------------
#
# Completion for zsh: a function with `_arguments` for each command, and one that finds them.

_SPECIAL: Final = late_pattern(r"([\\:\[\]])")
_ZSH_COMPLETION_FILES: Final = {Paths.FILES: "_files", Paths.FOLDERS: "_files -/"}


def zsh_script(commands: Sequence[CommandWords]) -> str:
    """Return the whole script: the file `_celadon` in a folder of `fpath`."""
    named = [command for command in commands if command.name]
    return "\n".join(
        [
            "#compdef celadon",
            "# zsh completion of celadon, written by `celadon completion zsh`",
            "",
            *map(_function, commands),
            "_celadon() {",
            '  [[ "$words[2]" == help ]] && { shift words; (( CURRENT -= 1 )); }',
            '  case "$words[2] $words[3]" in',
            *(_dispatch(words) for words in named),
            "    *) _celadon_ ;;",
            "  esac",
            "}",
            "",
            '_celadon "$@"',
            "",
        ]
    )


def _dispatch(command: CommandWords) -> str:
    """Call the command's function, which sees its own last word as the program."""
    count = len(command.name.split())
    pattern = shlex.quote(command.name) if count > 1 else f"'{command.name} '*"
    shift = f"    {pattern}) (( CURRENT > {count + 1} )) && {{ shift {count} words;"
    return f"{shift} (( CURRENT -= {count} )); _{_function_name(command)}; return; }} ;|"


def _function_name(command: CommandWords) -> str:
    return f"celadon_{command.name.replace(' ', '_')}"


def _function(command: CommandWords) -> str:
    specs = [spec for option in command.options for spec in _specs(option)]
    specs.append(f"*: :{_action(command.operands)}")
    lines = " \\\n    ".join(shlex.quote(spec) for spec in specs)
    return f"_{_function_name(command)}() {{\n  _arguments -S \\\n    {lines}\n}}\n"


def _specs(option: OptionWords) -> list[str]:
    """Return one for each name of the option; all are gone when one was used that is not
    repeated."""
    value = "" if option.values is None else f":value:{_action(option.values)}"
    summary = _SPECIAL.sub(r"\\\1", option.summary)
    before = "*" if option.is_repeated else f"({' '.join(option.names)})"
    return [
        f"{before}{name}{'=' if value and name.startswith('--') else ''}[{summary}]{value}"
        for name in option.names
    ]


def _action(values: Values) -> str:
    words = " ".join(values.words)
    files = _ZSH_COMPLETION_FILES.get(values.paths, "")
    if values.are_listed:
        return f"_sequence compadd - {words}"
    if words and files:
        return f"{{compadd - {words}; {files}}}"
    return f"({words})" if words else files


# --- The command -------------------------------------------------------------

DESCRIPTION: Final = """\
Print a script with which a shell completes command lines of celadon: commands, options and their
values, files, releases of Kubernetes, lint rules.
"""

EPILOG: Final = """\
examples:
  celadon completion bash > ~/.local/share/bash-completion/completions/celadon
  celadon completion zsh > "${fpath[1]}/_celadon"
  celadon completion fish > ~/.config/fish/completions/celadon.fish

exit codes:
  0  the script was printed
  2  wrong usage
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the shell."""
    parser.add_argument(
        "shell", choices=("bash", "zsh", "fish"), metavar="SHELL", help="bash, zsh or fish"
    )


def run(options: argparse.Namespace) -> Exit:
    """Print the script."""
    scripts = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}
    output.write(scripts[options.shell](every_command()))
    return Exit.OK
