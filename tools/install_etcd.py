"""Put etcd into a folder: `python tools/install_etcd.py .venv/bin`.

Tests of the store on etcd start clusters of it. Debian and its relatives have it as a package, of
which only the program is taken: nothing is installed on the machine, and no service is started.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

PACKAGE: Final = "etcd-server"
PROGRAM: Final = "usr/bin/etcd"


def main() -> None:
    """Download, unpack, try."""
    target = Path(sys.argv[1]) / "etcd"
    with tempfile.TemporaryDirectory() as folder:
        package = downloaded(Path(folder))
        subprocess.run(["dpkg-deb", "--extract", package, folder], check=True)  # fixed arguments
        program = Path(folder) / PROGRAM
        subprocess.run([program, "--version"], check=True, stdout=subprocess.DEVNULL)
        draft = target.with_name(".etcd.draft")
        shutil.copy2(program, draft)
        draft.replace(target)


def downloaded(folder: Path) -> Path:
    """The package. Who may refresh the lists of packages does so if they are missing or too old."""
    fetch = ["apt-get", "download", "--quiet", PACKAGE]
    if subprocess.run(fetch, cwd=folder, stdout=subprocess.DEVNULL).returncode:  # fixed arguments
        if os.getuid():
            raise SystemExit(1)
        subprocess.run(["apt-get", "update", "--quiet"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(fetch, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (package,) = folder.glob("*.deb")
    return package


if __name__ == "__main__":
    main()
