"""Installs the wheel into a new folder of this process, for tests: as `pip install --target` does."""

import base64
import glob
import hashlib
import os
import sys
import tempfile
import zipfile


def wheel_of(folder):
    """The path of the one wheel in a folder."""
    (wheel,) = glob.glob(os.path.join(folder, "*.whl"))
    return wheel


def install(wheel, target):
    """Unpacks the wheel and checks each file against RECORD."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
        (record,) = [name for name in archive.namelist() if name.endswith(".dist-info/RECORD")]
        lines = [line.rsplit(",", 2) for line in archive.read(record).decode().splitlines()]
        if {name for name, _, _ in lines} != set(archive.namelist()):
            raise ValueError("RECORD does not list the files of " + wheel)
        for name, digest, size in lines:
            data = archive.read(name)
            if name == record:
                continue
            expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            if (digest, size) != ("sha256=" + expected, str(len(data))):
                raise ValueError("RECORD is wrong about " + name)


def use(folder):
    """Makes `import tg` import the wheel in `folder`."""
    target = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
    install(wheel_of(folder), target)
    sys.path.insert(0, target)
    return target
