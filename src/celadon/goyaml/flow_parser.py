"""A parser whose work is linear however deep `[` and `{` nest.

libyaml looks at one possible key per open flow collection before every token, so that 20 KB of `[`
take it a second, and 3 MB hours. PyYAML's own parser does the same; here it looks at the oldest
possible key only. Keys are possible within one line and 1024 characters, so where the oldest one
is, the later ones are, too.

It is twenty times slower than libyaml for ordinary text: see `yaml_events` for when it is asked.
"""

from __future__ import annotations

import yaml
from yaml.scanner import ScannerError

_LONGEST_KEY = 1024
"""Characters from the beginning of a key to its colon."""


class FlowParser(yaml.SafeLoader):
    """The same events as libyaml's. `possible_simple_keys` is in the order of its tokens: a key
    that replaces another one of its level goes to the end."""

    def next_possible_simple_key(self) -> int | None:
        """The number of the token that the oldest possible key begins with."""
        for key in self.possible_simple_keys.values():
            number: int = key.token_number
            return number
        return None

    def stale_possible_simple_keys(self) -> None:
        """Forget keys that are none any more, the oldest first. Raises ScannerError where there
        must be a key."""
        keys = self.possible_simple_keys
        while keys:
            level = next(iter(keys))
            key = keys[level]
            if key.line == self.line and self.index - key.index <= _LONGEST_KEY:
                return
            if key.required:
                raise ScannerError(
                    "while scanning a simple key",
                    key.mark,
                    "could not find expected ':'",
                    self.get_mark(),
                )
            del keys[level]
