"""`kubectl celadon` for krew: `python -m tools.krew_plugin DIST URL`.

Beside the wheel in DIST are written an archive, with what the wheel holds and PyYAML without its
extension, and the manifest that names the archive below the URL. The same wheel gives the same
bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import yaml

from celadon import __version__
from tools.release_files import EPOCH, ROOT

PROGRAM: Final = "kubectl-celadon"
_SCRIPT: Final = """\
#!/usr/bin/env python3
import sys
from pathlib import Path

if sys.version_info < (3, 11):
    sys.exit("error: Celadon needs Python 3.11 or newer, python3 is %d.%d" % sys.version_info[:2])
sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from celadon.cli.main import main

sys.exit(main())
"""


def archive(wheel: Path) -> bytes:
    """The archive, packed by gzip: the program, and all else in `lib`."""
    files = {PROGRAM: _SCRIPT.encode(), **dict(_libraries(wheel))}
    tape = io.BytesIO()
    with tarfile.open(fileobj=tape, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            member.mtime = int(os.environ.get("SOURCE_DATE_EPOCH", EPOCH))
            member.mode = 0o755 if name == PROGRAM else 0o644
            tar.addfile(member, io.BytesIO(content))
    return gzip.compress(tape.getvalue(), mtime=0)


def _libraries(wheel: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(wheel) as package:
        for name in package.namelist():
            if name.startswith("celadon/") or "/licenses/" in name:
                yield f"lib/{name}", package.read(name)
    for file in Path(yaml.__file__).parent.glob("*.py"):
        yield f"lib/yaml/{file.name}", file.read_bytes()


def write(folder: Path, url: str) -> None:
    """Write the archive and the manifest."""
    (wheel,) = folder.glob("celadon-*.whl")
    packed = archive(wheel)
    (folder / f"celadon-krew-{__version__}.tar.gz").write_bytes(packed)
    text = (ROOT / "deploy" / "krew" / "celadon.yaml").read_text(encoding="utf-8")
    filled = {
        "VERSION": __version__,
        "SOURCE": url.rstrip("/"),
        "DIGEST": hashlib.sha256(packed).hexdigest(),
    }
    for word, value in filled.items():
        text = text.replace(word, value)
    manifest = text.partition("\n")[2]
    (folder / "celadon-krew.yaml").write_text(manifest, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.argv[2])
