"""Builds the wheel with nothing but Python (PEP 517): libcoop.so is in it, and its platform in the wheel's name.

The library is the file that COOP_LIBRARY names, or that of the newest build of this repository. Without one the wheel has
none either, and the package finds an installed library when it is used.
"""

import base64
import hashlib
import os
import sysconfig
import tarfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAME = "coop_sandbox"
VERSION = "0.1.0"
METADATA = f"""Metadata-Version: 2.1
Name: coop-sandbox
Version: {VERSION}
Summary: Run commands and an agent's tools in coop, an unprivileged Linux sandbox
License: Apache-2.0
Requires-Python: >=3.9
Classifier: Operating System :: POSIX :: Linux
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

"""


def library():
    named = os.environ.get("COOP_LIBRARY")
    if named:
        return Path(named).resolve(strict=True)
    built = sorted(HERE.glob("../../build/*/lib/libcoop.so"), key=lambda file: file.stat().st_mtime)
    return built[-1].resolve() if built else None


def tag(found):
    # No Python code is compiled: any Python 3 of this platform can load the library.
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_") if found else "any"
    return f"py3-none-{platform}"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    found = library()
    name = f"{NAME}-{VERSION}-{tag(found)}.whl"
    information = f"{NAME}-{VERSION}.dist-info"
    contents = {f"coop/{file.name}": file.read_bytes() for file in sorted((HERE / "coop").glob("*.py"))}
    contents["coop/py.typed"] = b""
    if found:
        contents["coop/libcoop.so.1"] = found.read_bytes()
    contents[f"{information}/METADATA"] = (METADATA + (HERE / "README.md").read_text("utf-8")).encode()
    contents[f"{information}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: coop\nRoot-Is-Purelib: {'false' if found else 'true'}\nTag: {tag(found)}\n"
    ).encode()
    record = "".join(f"{path},sha256={_digest(data)},{len(data)}\n" for path, data in contents.items())
    contents[f"{information}/RECORD"] = f"{record}{information}/RECORD,,\n".encode()
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in contents.items():
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))  # the same input gives the same file
            entry.external_attr = (0o100755 if path.endswith(".so.1") else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    base = f"{NAME}-{VERSION}"
    with tarfile.open(Path(sdist_directory) / f"{base}.tar.gz", "w:gz") as archive:
        for file in ("pyproject.toml", "README.md", "build_backend.py"):
            archive.add(HERE / file, f"{base}/{file}")
        for file in sorted((HERE / "coop").glob("*.py")) + [HERE / "coop" / "py.typed"]:
            archive.add(file, f"{base}/coop/{file.name}")
    return f"{base}.tar.gz"


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
