"""The library of policies to start from: a folder for each in `policies`, with its page, its policy
and its test.

A page (`README.md`) begins with three lines of facts: the title, an empty one, and which topics the
policy belongs to, from which release on it has something to say, and which of its params nobody
can leave as they are. What else stands there is for people.

Params are the variables of a policy that are constants, as `['fast', 'standard']`: whoever takes a
policy writes their own values there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from celadon.cli import output
from celadon.cli.exit_codes import WrongUseError
from celadon.cli.options import did_you_mean

SHELF: Final = Path(__file__).parent / "policies"
"""Where the folders are."""

PAGE: Final = "README.md"

_FACTS: Final = re.compile(
    r"# (?P<title>[^\n]+)\n\n"
    r"\*Topics: (?P<topics>[a-z, -]+)\. Kubernetes (?P<since>1\.\d+) and later\."
    r"(?: Set (?P<own>`[^.]+`) first\.)?\*\n\n"
)


class LibraryPolicy(NamedTuple):
    """One policy, and what is known of it without reading it."""

    name: str
    title: str
    topics: tuple[str, ...]
    since: str
    """The first release with what it judges, as `1.30`."""
    own: tuple[str, ...]
    """The params whose values are nobody's but the cluster's owner's, as names of registries."""
    page: str
    """What the page tells below its facts."""

    @property
    def folder(self) -> Path:
        """Return the folder of its files."""
        return SHELF / self.name

    @property
    def policy_file(self) -> Path:
        """Return the file with the policy and its binding."""
        return self.folder / f"{self.name}.yaml"

    @property
    def policy_text(self) -> str:
        """Return the text of the file with the policy and its binding."""
        return self.policy_file.read_text(encoding="utf-8")


def library() -> dict[str, LibraryPolicy]:
    """Return all policies by name, in its order."""
    names = sorted(folder.name for folder in SHELF.iterdir() if (folder / PAGE).is_file())
    return {name: _policy(name) for name in names}


def _policy(name: str) -> LibraryPolicy:
    page = (SHELF / name / PAGE).read_text(encoding="utf-8")
    facts = _FACTS.match(page)
    if facts is None:
        raise ValueError(f"the page of {name} does not begin with its facts")
    topics = tuple(facts["topics"].split(", "))
    own = tuple(facts["own"].replace("`", "").split(", ")) if facts["own"] else ()
    return LibraryPolicy(name, facts["title"], topics, facts["since"], own, page[facts.end() :])


def topics_of(policies: Iterable[LibraryPolicy]) -> set[str]:
    """Return every topic that one of them belongs to."""
    return {topic for policy in policies for topic in policy.topics}


def groups(policies: Iterable[LibraryPolicy]) -> dict[str, list[LibraryPolicy]]:
    """Return policies by what they are mainly about, their first topic, in its order."""
    grouped: dict[str, list[LibraryPolicy]] = {}
    for policy in policies:
        grouped.setdefault(policy.topics[0], []).append(policy)
    return dict(sorted(grouped.items()))


def chosen(policies: Mapping[str, LibraryPolicy], words: Iterable[str]) -> list[LibraryPolicy]:
    """Return the policies that words name, and those of the topics that they name, each once.
    Raises WrongUseError."""
    result: dict[str, LibraryPolicy] = {}
    for word in words:
        if word in policies:
            result[word] = policies[word]
            continue
        of_topic = {name: policy for name, policy in policies.items() if word in policy.topics}
        if not of_topic:
            raise WrongUseError(unknown_name(word))
        result.update(of_topic)
    return list(result.values())


def unknown_name(word: str) -> str:
    """Return what to say of a word that is neither a policy of the library nor a topic."""
    policies = library()
    hint = did_you_mean(word, [*policies, *topics_of(policies.values())])
    return f"no policy `{word}` in the library{hint or ': see `celadon library list`'}"


def refuse_existing(policies: Iterable[LibraryPolicy], into: Path) -> None:
    """Check that nothing is overwritten. Raises WrongUseError if one of the files that `copy` would
    write is there."""
    for path in _copies(policies, into):
        if path.exists() or path.is_symlink():
            raise WrongUseError(f"`{path}` is there already: nothing was written")


def copy(policies: Iterable[LibraryPolicy], into: Path) -> list[Path]:
    """Copy the files of policies, each into a folder of its own, and return what was written.
    Raises WrongUseError: before the first one if any of them is there."""
    policies = tuple(policies)
    refuse_existing(policies, into)
    files = _copies(policies, into)
    for path, file in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as copied:
                copied.write(file.read_bytes())
        except OSError as error:
            raise WrongUseError(f"`{path}` {output.unwritten(error)}") from error
    return list(files)


def _copies(policies: Iterable[LibraryPolicy], into: Path) -> dict[Path, Path]:
    """Return for each path that is to be written the file that is copied there."""
    return {
        into / policy.name / file.name: file
        for policy in policies
        for file in sorted(policy.folder.iterdir())
        if file.suffix in (".yaml", ".md")
    }
