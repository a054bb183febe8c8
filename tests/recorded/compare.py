"""How a recorded answer is compared: what differs from run to run is dropped first."""

from __future__ import annotations

import json
import re
from typing import Any

VOLATILE_META = {
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "managedFields",
    "deletionTimestamp",
    "selfLink",
}
VOLATILE_KEYS = {"lastTransitionTime"}
CLOCK_NAME = re.compile(r"\b([A-Z][A-Za-z]*)\d{4,}\b")


def normalise(value: Any, key: str | None = None, keep: tuple[str, ...] = ()) -> Any:
    if isinstance(value, dict):
        out = {}
        for name, member in value.items():
            volatile = name in VOLATILE_KEYS or (key == "metadata" and name in VOLATILE_META)
            if (volatile and name not in keep) or (name == "uid" and key == "details"):
                continue
            out[name] = normalise(member, name, keep)
        return out
    if key == "warning" and isinstance(value, str):
        return CLOCK_NAME.sub(r"\1#", value)
    if isinstance(value, list):
        return [normalise(item, None, keep) for item in value]
    return value


def differences(want: Any, got: Any, at: str = "") -> list[str]:
    if isinstance(want, dict) and isinstance(got, dict):
        out = []
        for key in sorted(set(want) | set(got)):
            if key not in got:
                out.append(f"{at}/{key}: missing, want {short(want[key])}")
            elif key not in want:
                out.append(f"{at}/{key}: unexpected {short(got[key])}")
            else:
                out += differences(want[key], got[key], f"{at}/{key}")
        return out
    if isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        pairs = zip(want, got, strict=True)
        return [d for i, (w, g) in enumerate(pairs) for d in differences(w, g, f"{at}/{i}")]
    same = want == got and type(want) is type(got)
    return [] if same else [f"{at}: want {short(want)}, got {short(got)}"]


def short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 400 else text[:400] + "…"


def drop(document: Any, pointer: str) -> None:
    """Remove what a JSON pointer names, if it is there."""
    *parents, last = (part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
    for part in parents:
        if isinstance(document, list) and part.isdigit() and int(part) < len(document):
            document = document[int(part)]
        else:
            document = document.get(part) if isinstance(document, dict) else None
    if isinstance(document, dict):
        document.pop(last, None)


def find(document: Any, pointer: str) -> Any:
    for part in pointer.strip("/").split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, list):
            document = document[int(key)] if key.isdigit() and int(key) < len(document) else None
        elif isinstance(document, dict):
            document = document.get(key)
        else:
            return None
    return document


def decoded(annotation: str) -> Any:
    """An annotation that holds JSON is compared as JSON: key order is no part of the contract."""
    if annotation[:1] in {"[", "{"}:
        try:
            return json.loads(annotation)
        except ValueError:
            pass
    return annotation


def masked(value: Any, pattern: re.Pattern[str]) -> Any:
    """The value with every match in one of its strings replaced."""
    if isinstance(value, str):
        return pattern.sub("<masked>", value)
    if isinstance(value, list):
        return [masked(item, pattern) for item in value]
    if isinstance(value, dict):
        return {key: masked(item, pattern) for key, item in value.items()}
    return value
