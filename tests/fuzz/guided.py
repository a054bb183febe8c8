"""`python -m tests.fuzz.guided [READER ...]`: inputs that nobody thought of, for every reader.

    make fuzz-readers                                       100,000 for each, an hour or two
    python -m tests.fuzz.guided yaml --inputs 1000000 --seed 7
    python -m tests.fuzz.guided --fast --seconds 600        millions, without counting the work
    python -m tests.fuzz.guided yaml --atheris -runs=1000000    if atheris is installed

Prints what was found, made small. Exits with 1 if anything was.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
from typing import Any

from tests.fuzz.byte_reader import ByteReader
from tests.fuzz.byte_readers import READERS
from tests.fuzz.fast_search import FastSearch
from tests.fuzz.guided_search import search, wrong_with


def main(arguments: list[str] | None = None) -> int:
    options, others = _parser().parse_known_args(arguments)
    chosen = [one for one in READERS if one.name in (options.readers or [one.name])]
    if options.atheris:
        return _with_atheris(chosen[0], others)
    found = 0
    for reader in chosen:
        if options.fast:
            found += _fast(reader, options)
            continue
        finds = [one for one in search(reader, options.seed, options.inputs) if one is not None]
        found += len(finds)
        for one in finds:
            _write(f"{one.reader}: {one.wrong}\n    {one.data!r}")
        _write(f"{reader.name}: {options.inputs} inputs, {len(finds)} finds")
    return 1 if found else 0


def _fast(reader: ByteReader, options: argparse.Namespace) -> int:
    search = FastSearch(reader, options.seed)
    search.run(options.inputs, options.seconds)
    for wrong, data in search.finds.items():
        _write(f"{reader.name}: {wrong}\n    {data!r}")
    _write(
        f"{reader.name}: {search.inputs} inputs, {search.branches} branches, "
        f"{len(search.finds)} finds"
    )
    return len(search.finds)


def _with_atheris(reader: ByteReader, others: list[str]) -> int:
    """Much faster, but the work for an input is not counted. It ends the process at the first
    find, with a file that has the input."""
    atheris: Any = importlib.import_module("atheris")  # late: nothing else needs it

    def tried(data: bytes) -> None:
        wrong = wrong_with(reader, data)
        if wrong:
            raise AssertionError(wrong)

    atheris.instrument_all()
    atheris.Setup([sys.argv[0], *others], tried)
    atheris.Fuzz()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.guided", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("readers", nargs="*", metavar="READER")
    parser.add_argument("--inputs", type=int, default=100_000, metavar="N", help="for each reader")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--fast", action="store_true", help="nothing is traced line by line")
    parser.add_argument("--seconds", type=float, default=math.inf, help="with --fast, of each")
    parser.add_argument("--atheris", action="store_true", help="of one reader, until it is stopped")
    return parser


def _write(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
