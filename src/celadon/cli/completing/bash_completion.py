"""Completion for bash, 3.2 and newer.

The script finds the command, then the option before the cursor, and offers what fits. `--option=`
is three words for bash, since `=` parts words.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Final

from celadon.cli.completing.command_words import CommandWords, Paths, Values

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
    """The whole script."""
    names = "|".join(shlex.quote(one.name) for one in commands if one.name)
    return _SCRIPT.format(names=names, cases="\n".join(map(_case, commands)))


def _case(command: CommandWords) -> str:
    options = shlex.quote(" ".join(name for one in command.options for name in one.names))
    lines = [
        f"        {'|'.join(one.names)}) {_offer(one.values)};;"
        for one in command.options
        if one.values is not None
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
    """The assignments that say what is offered."""
    parts = []
    if values.words:
        parts.append(f"words={shlex.quote(' '.join(values.words))} ")
    if values.are_listed:
        parts.append("listed=1 ")
    if values.paths in _COMPGEN:
        parts.append(f"paths={_COMPGEN[values.paths]} ")
    return "".join(parts)
