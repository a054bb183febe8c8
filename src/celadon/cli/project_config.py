"""The settings that the commands of a project share: the top of celadon.toml, `[tool.celadon]` of
pyproject.toml, a profile in it, and which files of its folders are no manifests.

    policies = ["policies"]
    cluster = ["cluster", "crds/*.yaml"]
    kubernetes-version = "1.35"
    exclude = ["policies/drafts"]

    [profiles.ci]
    cluster = ["production"]
    kubernetes-version = "1.36"

Paths are relative to the file. The lists of a profile are added to those at the top; its version
replaces the one there.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import glob
import os
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from celadon import private_files
from celadon.cli.exit_codes import WrongUseError
from celadon.cli.options import DEFAULT_VERSION, did_you_mean, kubernetes_version
from celadon.cli.reading import documents
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.releases import enter_release
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

# --- Config files ------------------------------------------------------------
#
# The configuration of commands: what stands in celadon.toml, or below `[tool.celadon]` of
# pyproject.toml.
#
# What all commands share stands at the top (`project_config`); a command's own table has the
# name of the command. The nearest file that has what is looked for counts, from the working
# directory upwards; in one folder celadon.toml goes before pyproject.toml.

_FILES: Final = (("celadon.toml", ()), ("pyproject.toml", ("tool", "celadon")))
FILE_NAMES: Final = tuple(name for name, _ in _FILES)
"""What files with configuration are called."""
TABLES: Final = ("fmt", "lint")
"""The tables that one command has for itself."""


class ConfigError(WrongUseError):
    """A file of settings is wrong; the text names it, and says why."""


@dataclass(frozen=True, slots=True)
class SharedTable:
    """A file says these values to all commands, below these keys of its text."""

    path: Path
    text: str
    keys: tuple[str, ...]
    values: JsonObject


def nearest_table(folder: Path, name: str) -> tuple[Path, JsonObject] | None:
    """Return the table of that name that applies in a folder, and its file. Raises
    `ConfigError`."""
    for path, keys in _paths(folder):
        _, table = _table(path, (*keys, name))
        if table is not None:
            return path, table
    return None


def nearest_shared(folder: Path) -> SharedTable | None:
    """Return what applies in a folder to all commands. Raises `ConfigError`."""
    for path, keys in _paths(folder):
        text, table = _table(path, keys)
        values = {key: value for key, value in (table or {}).items() if key not in TABLES}
        if values:
            return SharedTable(path, text, keys, values)
    return None


def _paths(folder: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield where there may be configuration, nearest first, and below which keys."""
    for parent in (folder, *folder.parents):
        for file, keys in _FILES:
            yield parent / file, keys


def _table(path: Path, keys: tuple[str, ...]) -> tuple[str, JsonDict | None]:
    """Return the text of a file, and the table in it; None if there is none."""
    if path.is_dir():
        raise ConfigError(f"{path}: is a folder, a file is expected")
    if not path.is_file():
        return "", None
    try:
        text = private_files.content(path).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {str(error).lower()}") from error
    if _is_of_others(keys, text):
        return text, None
    # late: most folders have no such file
    import tomllib

    line = too_deep(text)
    if line:
        raise ConfigError(f"{path}:{line}: a key of more than {DEEPEST} parts")
    try:
        loads: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_misspelled(path, str(error))) from error
    except (ValueError, RecursionError) as error:  # too many digits, dates, brackets
        raise ConfigError(f"{path}: {str(error).partition(';')[0].lower()}") from error
    for depth, key in enumerate(keys, 1):
        loads = loads.get(key)
        if loads is None:
            return text, None
        if not isinstance(loads, dict):
            raise ConfigError(f"{path}: `{'.'.join(keys[:depth])}` must be a table")
    return text, dict(loads)


def _is_of_others(keys: tuple[str, ...], text: str) -> bool:
    """Return whether a file that other programs have settings in, too, says nothing of Celadon:
    then it need not be understood, which takes a fiftieth of a short command. Only a key with
    escapes says a word without its letters."""
    return keys[:1] == ("tool",) and "celadon" not in text and "\\" not in text


def _misspelled(path: Path, message: str) -> str:
    """Return what tomllib says, with the place in front, as compilers write it."""
    place = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    if place is None:
        return f"{path}: {message.lower()}"
    return f"{path}:{place[1]}:{place[2]}: {message[: place.start()].lower()}"


_PROFILES: Final = "profiles"
_VERSION: Final = "kubernetes-version"
_PATHS: Final = ("policies", "cluster")
PROFILE_KEYS: Final = (*_PATHS, "exclude", _VERSION)
"""What a profile may have, and the top of the file too."""


@dataclass(frozen=True, slots=True)
class Project:
    """All commands are told this, ready to be used in the working directory."""

    file: str = ""
    """Empty if there is none."""
    profile: str = ""
    files: tuple[str, ...] = ()
    """What `-f` gives to commands."""
    exclude: tuple[str, ...] = ()
    version: str = ""
    """Empty if the file says nothing."""

    @property
    def summary(self) -> str:
        """Return which file was used and what it adds, in a line; empty if there was none."""
        if not self.file:
            return ""
        profile = f", profile {self.profile}" if self.profile else ""
        options = [
            *(f"-f {file}" for file in self.files),
            *(f"--exclude {text}" for text in self.exclude),
            *([f"--{_VERSION} {self.version}"] if self.version else []),
        ]
        return f"configuration: {self.file}{profile}: {' '.join(options) or 'nothing'}"


NO_PROJECT: Final = Project()


def find_project(folder: Path, profile: str = "", *, reads_files: bool = True) -> Project:
    """Return what applies in a folder. Only if it `reads_files`, the paths must lead somewhere.
    Raises `ConfigError`."""
    shared = nearest_shared(folder)
    if shared is not None:
        return _Reader(shared, folder).project(profile, reads_files=reads_files)
    if profile:
        raise ConfigError(f"`--profile {profile}`: there is no celadon.toml with profiles")
    return NO_PROJECT


class _Reader:
    """Judges a file as a whole, then says what of it counts."""

    __slots__ = ("_display_path", "_folder", "_shared")

    def __init__(self, shared: SharedTable, folder: Path) -> None:
        self._shared = shared
        self._folder = folder
        self._display_path = os.path.relpath(shared.path, folder)

    def project(self, profile: str, *, reads_files: bool) -> Project:
        """Return the settings with a profile, or without one if its name is empty."""
        values = self._shared.values
        self._refuse_unknown((), values, (*PROFILE_KEYS, _PROFILES, *TABLES))
        self._check((), values)
        profiles = values.get(_PROFILES, {})
        if not isinstance(profiles, dict):
            self._refuse((_PROFILES,), "must be a table, with a table for each profile")
        for name, table in profiles.items():
            if not isinstance(table, dict):
                self._refuse((_PROFILES, name), "must be a table")
            self._refuse_unknown((_PROFILES, name), table, PROFILE_KEYS)
            self._check((_PROFILES, name), table)
        parts: list[tuple[tuple[str, ...], JsonObject]] = [((), values)]
        if profile:
            if profile not in profiles:
                hint = did_you_mean(profile, profiles)
                self._refuse((_PROFILES,), f"there is no profile `{profile}`{hint}")
            parts.append(((_PROFILES, profile), profiles[profile]))
        return Project(
            self._display_path,
            profile,
            tuple(self._files(parts, must_exist=reads_files)),
            tuple(
                self._pattern(pattern) for _, part in parts for pattern in part.get("exclude", ())
            ),
            next((_release(part) for _, part in reversed(parts) if _VERSION in part), ""),
        )

    def _refuse_unknown(
        self, above: tuple[str, ...], table: JsonObject, names: tuple[str, ...]
    ) -> None:
        for key in table:
            if key not in names:
                self._refuse((*above, key), f"there is no such key{did_you_mean(key, names)}")

    def _check(self, above: tuple[str, ...], table: JsonObject) -> None:
        """Check the types of all values."""
        for key in (*_PATHS, "exclude"):
            values = table.get(key, [])
            if not isinstance(values, list):
                self._refuse((*above, key), "must be a list of texts")
            for number, value in enumerate(values):
                if not isinstance(value, str) or not value:
                    self._refuse((*above, key, number), "must be a text that is not empty")
                if value == "-" and key in _PATHS:
                    text = "standard input (`-`) can only be given on the command line"
                    self._refuse((*above, key, number), text)
        if _VERSION not in table:
            return
        if not isinstance(table[_VERSION], str):
            self._refuse((*above, _VERSION), 'must be a text like "1.36"')
        try:
            _release(table)
        except argparse.ArgumentTypeError as error:
            self._refuse((*above, _VERSION), str(error))

    def _files(
        self, parts: Iterable[tuple[tuple[str, ...], JsonObject]], *, must_exist: bool
    ) -> Iterable[str]:
        """Return files as they are called from the folder, each once."""
        result: dict[str, None] = {}
        for above, part in parts:
            for key in _PATHS:
                for number, value in enumerate(part.get(key, ())):
                    path = self._moved(value)
                    if must_exist and not _leads_somewhere(path, self._folder):
                        self._refuse((*above, key, number), f"`{value}` does not exist")
                    result[path] = None
        return result

    def _moved(self, path: str) -> str:
        """Return a path relative to the file, as it is called from the folder."""
        if os.path.isabs(path):
            return path
        return os.path.relpath(self._shared.path.parent / path, self._folder)

    def _pattern(self, pattern: str) -> str:
        """Return a pattern of files relative to the file, as it must be in the folder. A name, and
        what begins with a star, matches anywhere."""
        return self._moved(pattern) if "/" in pattern.strip("/") and pattern[0] != "*" else pattern

    def _refuse(self, path: tuple[str | int, ...], message: str) -> NoReturn:
        """Say what is wrong with a key, or an item, and where it stands."""
        full_path = (*self._shared.keys, *path)
        place = key_places(self._shared.text).get(full_path)
        position = (
            self._display_path if place is None else f"{self._display_path}:{place[0]}:{place[1]}"
        )
        key = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in full_path)
        raise ConfigError(f"{position}: `{key.removeprefix('.')}`: {message}")


def _release(table: JsonObject) -> str:
    return kubernetes_version(table[_VERSION])


def _leads_somewhere(path: str, folder: Path) -> bool:
    """Return whether there is such a file or folder, or a file that the pattern matches."""
    if os.path.exists(folder / path):  # which a name that is too long is no error for
        return True
    try:
        return glob.has_magic(path) and bool(private_files.matching(path, folder))
    except private_files.TooManyNamesError:
        return True  # reading them says more


# --- Places in TOML ----------------------------------------------------------
#
# Where the keys of a TOML text stand: tomllib does not tell.
#
# The text must be one that tomllib has taken; so what is walked over here is known to be right,
# and patterns that would let mistakes pass are good enough.

KeyPath = tuple[str | int, ...]
"""Keys from the top, and numbers of items in arrays."""

DEEPEST: Final = 100
"""Parts that a key may have; tomllib takes time and memory in proportion to their square."""
PLACED: Final = 20
"""Parts of a path that has a place; nobody looks for longer ones."""

_PART: Final = r"""(?:"(?:\\.|[^"\\\n])*+"|'[^'\n]*+'|[\w-]++)"""
_ONE_PART: Final = late_pattern(_PART)
_DEEP: Final = late_pattern(rf"(?<![\w-])(?:{_PART}[ \t]*+\.[ \t]*+){{{DEEPEST}}}")
_KEY: Final = late_pattern(rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*")
_BLANK: Final = late_pattern(r"(?:[ \t\r\n]|#[^\n]*)*")
_SCALAR: Final = late_pattern(
    r'''"""(?s:\\.|[^\\])*?"{3,5}'''
    r"""|'''(?s:.)*?'{3,5}"""
    r"""|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|[^,\]}#\n]+"""
)


def key_places(text: str) -> dict[KeyPath, tuple[int, int]]:
    """Line and column, from 1, of each key and each item of an array. A key that is written several
    times, as in the headers of tables, has the first place."""
    walk = _Walk(text)
    walk.document()
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    result = {}
    for path, offset in walk.places.items():
        line = bisect_right(starts, offset)
        result[path] = line, offset - starts[line - 1] + 1
    return result


def too_deep(text: str) -> int:
    """Return the line of a key with more parts than anybody may write, 0 if there is none; of a
    text that may be no TOML."""
    match = _DEEP.search(text)
    return 0 if match is None else text.count("\n", 0, match.start()) + 1


class _Walk:
    """Goes over a text once, from its beginning to its end."""

    __slots__ = ("_offset", "_text", "places")

    def __init__(self, text: str) -> None:
        self._text = text
        self._offset = 0
        self.places: dict[KeyPath, int] = {}

    def document(self) -> None:
        """Read the whole text: headers of tables, and pairs below them."""
        table: KeyPath = ()
        self._blank()
        while self._offset < len(self._text):
            if self._next() == "[":
                self._skip("[ \t")
                table = self._key(())
                self._skip("] \t")
            else:
                self._pair(table)
            self._blank()

    def _pair(self, table: KeyPath) -> None:
        path = self._key(table)
        self._skip("= \t")
        self._value(path)

    def _key(self, table: KeyPath) -> KeyPath:
        """Return the path of the key that stands here, or of the last part of a dotted one."""
        start = self._offset
        match = _KEY.match(self._text, start)
        assert match is not None, "tomllib has taken the text"
        self._offset = match.end()
        path = table
        for name in _names(match[0]):
            path = (*path, name)[:PLACED]
            self.places.setdefault(path, start)
        return path

    def _value(self, path: KeyPath) -> None:
        match self._next():
            case "[":
                self._items(path)
            case "{":
                self._inline_table(path)
            case _:
                match = _SCALAR.match(self._text, self._offset)
                assert match is not None, "tomllib has taken the text"
                self._offset = match.end()

    def _items(self, path: KeyPath) -> None:
        self._offset += 1
        number = 0
        self._blank()
        while self._next() != "]":
            item_path = (*path, number)[:PLACED]
            self.places.setdefault(item_path, self._offset)
            self._value(item_path)
            number += 1
            self._comma()
        self._offset += 1

    def _inline_table(self, path: KeyPath) -> None:
        self._offset += 1
        self._blank()
        while self._next() != "}":
            self._pair(path)
            self._comma()
        self._offset += 1

    def _comma(self) -> None:
        self._blank()
        if self._next() == ",":
            self._offset += 1
            self._blank()

    def _next(self) -> str:
        return self._text[self._offset : self._offset + 1]

    def _blank(self) -> None:
        match = _BLANK.match(self._text, self._offset)
        assert match is not None, "it matches nothing, too"
        self._offset = match.end()

    def _skip(self, characters: str) -> None:
        while self._next() and self._next() in characters:
            self._offset += 1


def _names(key: str) -> list[str]:
    """Return the parts of a dotted key, without their quotes."""
    return [_unquoted(part) for part in _ONE_PART.findall(key)]


def _unquoted(part: str) -> str:
    if part[0] not in "\"'":
        return part
    import tomllib  # late: as above

    (name,) = tomllib.loads(f"{part} = 0")
    return name


# --- Files that are no manifests ---------------------------------------------
#
# Somebody who names a folder means the manifests in it. What else lies there is passed over, and
# counted; a file that is named itself is read, whatever it is. A text in which nothing looks like
# `apiVersion` or `kind` is no manifest, however broken; one in which something does is.

_KUSTOMIZE: Final = "parts of kustomizations"
_VALUES: Final = "values of Helm charts"
_NAMES: Final = {
    "kustomization": _KUSTOMIZE,
    "chart": "Helm charts",
    "artifacthub-pkg": "packages of Artifact Hub",
    "artifacthub-repo": "packages of Artifact Hub",
}
"""By the name of the file, without its ending and in lower case."""
_OF_VALUES: Final = late_pattern(r"(?:\A|[-_.])values(?:[-_.]|\Z)")
"""`values-production`, and the schema of values."""
_OTHERS: Final = "other files"
_TEMPLATES: Final = "templates of Helm charts"
_REMEDIES: Final = {
    _TEMPLATES: "to judge what a chart makes: `helm template CHART | celadon {} -`",
    _KUSTOMIZE: "to judge what they make: `kubectl kustomize FOLDER | celadon {} -`",
}
"""What to type so that what such files make is judged."""
_TESTS: Final = "tests"
_EXPECTATIONS: Final = "expectations of tests"
_OF_EXPECTATIONS: Final = late_pattern(r"\d+-(?:assert|errors?)(?:-[^.]+)?\Z", re.ASCII)
"""`00-assert`, as KUTTL and Chainsaw have it."""
UNFINISHED: Final = frozenset({_TEMPLATES, _KUSTOMIZE, _VALUES, _EXPECTATIONS})
"""What is no object yet, or a piece of one, whatever its kind."""
_CONFIGURATIONS: Final = "configurations of programs"
_OF_PROGRAMS: Final = frozenset(
    {
        *("apiserver.config.k8s.io", "kubeadm.k8s.io", "kubelet.config.k8s.io"),
        *("kubeproxy.config.k8s.io", "kubescheduler.config.k8s.io", "kubectl.config.k8s.io"),
        *("apiserver.k8s.io", "audit.k8s.io", "client.authentication.k8s.io"),
        *("credentialprovider.kubelet.k8s.io", "pod-security.admission.config.k8s.io"),
        *("eventratelimit.admission.k8s.io", "resourcequota.admission.k8s.io"),
        *("kind.x-k8s.io", "k3d.io", "ctlptl.dev", "kuttl.dev", "eksctl.io", "skaffold"),
        *("vendir.k14s.io", "kbld.k14s.io", "kapp.k14s.io", "imgpkg.carvel.dev"),
    }
)
"""Groups of files that programs read, and no API server serves."""
_VERSIONS_AT_TOP: Final = late_pattern(
    r"""^["']?apiVersion["']?[ \t]*:[ \t]*["']?([^\s"'#]+)""", re.MULTILINE | re.ASCII
)
_LIKE_A_MANIFEST: Final = late_pattern(r"""["']?\b(?:apiVersion|kind)["']?[ \t]*:""", re.ASCII)
_AT_THE_TOP: Final = late_pattern(r"""^["']?(apiVersion|kind)["']?[ \t]*:""", re.MULTILINE)
_TOOLS: Final = late_pattern(
    r"""^[ ]*["']?apiVersion["']?[ \t]*:[ \t]*["']?"""
    r"(?:(kustomize\.config\.k8s\.io/|builtin\b)|(?:cli|chainsaw)\.kyverno\.io/|test\.gatekeeper\.sh/)",
    re.MULTILINE | re.ASCII,
)
_UNIT_TESTS: Final = "\nsuite:"
"""How tests of Helm's plugin unittest begin."""


def passed_over(text: documents.Text, named: Sequence[str]) -> str:
    """Return what a file of a folder is, if it is no manifest; empty if it is one, or is among
    those that were named."""
    if text.file in named:
        return ""
    folder, name = os.path.split(text.file)
    stem = os.path.splitext(name)[0].lower()
    subject = _NAMES.get(stem, "")
    if _OF_VALUES.search(stem):
        subject = _VALUES
    elif _UNIT_TESTS in f"\n{text.content}":
        subject = _TESTS
    if subject and len(set(_AT_THE_TOP.findall(text.content))) < 2:
        return subject
    if _is_template(folder, text.content):
        return _TEMPLATES
    if _OF_EXPECTATIONS.match(stem):
        return _EXPECTATIONS
    if part := _part(text.file):
        return part
    if _LIKE_A_MANIFEST.search(text.content) is None:
        return _OTHERS if text.content.strip() else ""
    return _of_tool(text.content)


def _of_tool(content: str) -> str:
    """Return what a text with manifests' first members is, if it is for a tool. Where something
    stands at the left edge, what is written further to the right is data of it."""
    versions = _VERSIONS_AT_TOP.findall(content)
    if versions and _OF_PROGRAMS.issuperset(version.partition("/")[0] for version in versions):
        return _CONFIGURATIONS
    for tool in _TOOLS.finditer(content):
        if not versions or not tool[0].startswith(" "):
            return _KUSTOMIZE if tool[1] else _TESTS
    return ""


def _is_template(folder: str, content: str) -> bool:
    """Return whether a file stands below `templates/` of a chart, with something to be filled
    in."""
    if "{{" not in content:
        return False
    while (name := os.path.basename(folder)) and name != "templates":
        folder = os.path.dirname(folder)
    return bool(name) and os.path.isfile(os.path.join(os.path.dirname(folder), "Chart.yaml"))


# What a kustomization names is found line by line, since its comments count, too: an operator's
# project begins with patches that are commented out, which are no manifests either; nor is what a
# test of Chainsaw expects.

_PARTS: Final = frozenset(
    {
        *("patches", "patchesStrategicMerge", "patchesJson6902", "replacements", "configurations"),
        *("configMapGenerator", "secretGenerator", "generators", "transformers", "validators"),
    }
)
"""The members of a kustomization whose files are no manifests of their own."""
_NAMING: Final = {
    **dict.fromkeys(("kustomization.yaml", "kustomization.yml", "Kustomization"), _KUSTOMIZE),
    **dict.fromkeys(("chainsaw-test.yaml", "chainsaw-test.yml"), _EXPECTATIONS),
}
_STEP: Final = late_pattern(
    r"[ \t]*(?:-[ \t]+)?(assert|error|apply|create|patch|update|delete):[ \t]*(?:#.*)?\Z"
)
_MEMBER: Final = late_pattern(r"(#[ \t]*)?([A-Za-z]\w*):", re.ASCII)
_NAME: Final = r"[^\s\"'\[\]{},:=#]"
_FILE: Final = late_pattern(rf"(?<!{_NAME}){_NAME}+\.(?:ya?ml|json)\b", re.ASCII)


def _part(file: str) -> str:
    """Return what a file is that another beside it, or in a folder above it, names as what it
    changes manifests with, or compares them with; empty if none does."""
    folder = os.path.dirname(file)
    while True:
        for name, subject in _NAMING.items():
            with contextlib.suppress(OSError):
                naming = os.path.join(folder, name)
                changed = os.stat(naming).st_mtime_ns
                if os.path.relpath(file, folder or os.curdir) in _parts(naming, changed):
                    return subject
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above


@functools.lru_cache(maxsize=256)
def _parts(naming: str, _changed: int) -> frozenset[str]:
    """Return the files, seen from its folder, that a file names as parts, and not as manifests."""
    text = documents.read_text(naming)
    lines = () if isinstance(text, documents.Problem) else text.content.split("\n")
    steps = _NAMING[os.path.basename(naming)] == _EXPECTATIONS
    files: dict[bool, set[str]] = {True: set(), False: set()}
    for is_part, line in (_of_chainsaw if steps else _of_kustomization)(lines):
        files[is_part].update(map(os.path.normpath, _FILE.findall(line)))
    return frozenset(files[True] - files[False])


def _of_kustomization(lines: Iterable[str]) -> Iterator[tuple[bool, str]]:
    member = of_comments = ""
    for line in lines:
        comment = line.startswith("#")
        if member_match := _MEMBER.match(line):
            # A sentence with a colon is no member.
            if not comment:
                member = of_comments = member_match[2]
            elif member_match[2] in _PARTS or member_match[2] == "resources":
                of_comments = member_match[2]
        yield (of_comments if comment else member) in _PARTS, line


def _of_chainsaw(lines: Iterable[str]) -> Iterator[tuple[bool, str]]:
    step = ""
    for line in lines:
        if step_match := _STEP.match(line):
            step = step_match[1]
        elif line.lstrip(" -").startswith("file:"):
            yield step in ("assert", "error"), line


def read_manifests(
    arguments: Sequence[str],
    problems: list[documents.Problem],
    exclusion: documents.Exclusion = documents.NOTHING_EXCLUDED,
) -> Iterator[documents.Document | documents.Problem]:
    """Yield the documents of all files that the arguments mean, and what is wrong with files. What
    was passed over is added to `problems`."""
    reader = documents.DocumentReader()
    for text in documents.read_texts(arguments, exclusion):
        if isinstance(text, documents.Problem):
            yield text
        elif other := passed_over(text, arguments):
            problems.append(other_file(text.file, other))
        else:
            yield from reader.read(text)


def other_file(file: str, subject: str) -> documents.Problem:
    """Return that a file was passed over, as a problem for whoever wants none."""
    return documents.Problem(file, 0, f"no manifest: it is among the {subject}")


def summary(problems: Iterable[documents.Problem], command: str = "check") -> str:
    """Return one line about all that was passed over, for the command that would read it."""
    kinds = Counter(problem.message.rpartition("among the ")[2] for problem in problems)
    total = sum(kinds.values())
    files = "1 file that is no manifest" if total == 1 else f"{total} files that are no manifests"
    counts = ", ".join(f"{key}: {count}" for key, count in kinds.items())
    remedy = "".join(
        f"; {text.format(command)}" for subject, text in _REMEDIES.items() if subject in kinds
    )
    return f"passed over: {files} ({counts}){remedy}"


# --- Project options ---------------------------------------------------------
#
# `--profile` and `--no-config`, and what they take from the configuration of a project into the
# options of a command.


def add_project(parser: argparse.ArgumentParser) -> None:
    """Declare the options that choose a configuration file."""
    group = parser.add_argument_group("configuration")
    group.add_argument(
        "--profile", default="", metavar="NAME", help="also use [profiles.NAME] of celadon.toml"
    )
    group.add_argument(
        "--no-config", action="store_true", help="ignore celadon.toml and pyproject.toml"
    )


def add_verbose(parser: argparse.ArgumentParser) -> None:
    """Declare `--verbose` for a command that has nothing else to say at length."""
    parser.add_argument(
        "-v",
        "--verbose",
        action="count",
        default=0,
        help="say which configuration file was used, and what it adds",
    )


def project_of(
    options: argparse.Namespace, complain: Callable[[str], None], *, reads_files: bool = True
) -> Project:
    """Return what the options choose of the configuration; with `--verbose`, `complain` is told
    which file that is. Raises ConfigError."""
    if options.no_config:
        if options.profile:
            raise ConfigError("`--profile` and `--no-config` exclude each other")
        return NO_PROJECT
    project = find_project(Path.cwd(), options.profile, reads_files=reads_files)
    if options.verbose and project.summary:
        complain(project.summary)
    return project


def use_project(options: argparse.Namespace, complain: Callable[[str], None]) -> tuple[str, ...]:
    """Complete the options: a release that is given counts, patterns come behind those of the file.
    It is the current release from now on. What comes back are the files that go before what `-f`
    gives. Raises ConfigError."""
    project = project_of(options, complain)
    options.exclude = [*project.exclude, *options.exclude]
    options.kubernetes_version = options.kubernetes_version or project.version or DEFAULT_VERSION
    enter_release(options.kubernetes_version)
    return project.files


# --- Policies of other engines -----------------------------------------------

_ENGINES: Final = {"kyverno.io": "Kyverno", "gatekeeper.sh": "Gatekeeper"}
"""Engines whose policies can be translated, by the end of their groups."""
_PROGRAMMED: Final = {"kubewarden.io": "Kubewarden", "jspolicy.com": "jsPolicy"}
"""Engines whose policies are programs, likewise."""


def to_translate(given: Iterable[documents.Document]) -> str:
    """Return what to type for the first policy of another engine; empty if there is none."""
    for document in given:
        group, kind = document.group_kind
        engine, file = _engine(group, _ENGINES), document.file
        if engine:
            return f"{file} has a {kind} of {engine}: `celadon migrate {file}` translates it"
        if text := programmed(document):
            return f"{file} has {text}: write it anew, or ask its webhook (`--call-webhooks`)"
    return ""


def programmed(document: documents.Document) -> str:
    """Return what a document is, if it is a policy that is a program, which is not translated."""
    group, kind = document.group_kind
    engine = _engine(group, _PROGRAMMED)
    return f"a {kind} of {engine}, which is a program" if engine else ""


def _engine(group: str, engines: Mapping[str, str]) -> str:
    return engines.get(".".join(group.split(".")[-2:]), "")
