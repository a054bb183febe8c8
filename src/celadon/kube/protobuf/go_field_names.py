"""What Go calls the fields of its structs, for the complaints about wrong wire types.

A JSON name in Go's spelling: capitalized, with its leading word in capitals when Go has it so.
Fields that upstream names in no such way keep the name made by these rules.
"""

from __future__ import annotations

from typing import Final

from celadon.patterns import late_pattern

_INITIALISMS: Final = frozenset(
    {
        *("api", "ca", "cidr", "cidrs", "csi", "dns", "fc", "fs", "gce", "gmsa", "grpc", "http"),
        *("id", "ip", "iqn", "iscsi", "json", "nfs", "os", "qos", "rbd", "tcp", "tls", "ttl"),
        *("tty", "uid", "url"),
    }
)
"""Words that Go writes in capitals (the plural of one keeps its small s)."""

_LEADING: Final = late_pattern("[a-z]+")


def go_field_name(name: str, type_: str) -> str:
    """`type_` is the full name of the message, or a scalar."""
    short = type_.rpartition(".")[2]
    if name.startswith("("):
        return short
    if name == "metadata":
        return short
    match = _LEADING.match(name)
    word = match.group() if match is not None else ""
    singular = word.removesuffix("s")
    if word in _INITIALISMS:
        return word.upper() + name[len(word) :]
    if singular in _INITIALISMS:
        return f"{singular.upper()}s{name[len(word) :]}"
    return name[:1].upper() + name[1:]
