"""Makes the wheel of tg: make_wheel.py MANIFEST OUTPUT_FOLDER.

A wheel is a zip file with the package, METADATA, and RECORD, which has the hash of each file. Its name says
for which systems it is: those whose glibc and libstdc++ have the symbols that the libraries need.
"""

import base64
import hashlib
import os
import sys
import tempfile
import zipfile

import package_files

LIBRARY, CODEGEN = "tg/lib/libtg.so.1", "tg/lib/libtg_codegen.so"
METADATA = """\
Metadata-Version: 2.1
Name: tg
Version: %s
Summary: A compiler and runtime for tensor programs
License: MIT
Requires-Python: >=3.9
Requires-Dist: numpy
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

%s"""
WHEEL = """\
Wheel-Version: 1.0
Generator: tg
Root-Is-Purelib: false
Tag: py3-none-%s
"""


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return "%s,sha256=%s,%d\n" % (name, digest, len(data))


def write_wheel(path, files, info):
    """`files`: {name: bytes}. The same files give the same bytes."""
    record = "".join(record_line(name, data) for name, data in sorted(files.items()))
    files = {**files, info + "/RECORD": (record + info + "/RECORD,,\n").encode()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, data in sorted(files.items(), key=lambda item: (item[0].startswith(info), item[0])):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o755 if ".so" in name else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)


def main(manifest, output):
    paths = package_files.read_manifest(manifest)
    version = package_files.version_of(paths.pop("version"))
    description = paths.pop("description")
    licence = paths.pop("LICENSE")
    shared = {os.path.basename(name): path for name, path in paths.items() if name.startswith("shared/")}
    paths = {name: path for name, path in paths.items() if not name.startswith("shared/")}
    for name, path in package_files.needed_of(paths[LIBRARY], shared).items():
        paths["tg/lib/" + name] = path
    libraries = [name for name in paths if name.startswith("tg/lib/")]
    info = "tg-%s.dist-info" % version
    tag = "manylinux_2_%d_%s" % (package_files.least_glibc([paths[name] for name in libraries]), os.uname().machine)
    with tempfile.TemporaryDirectory() as scratch:
        for name in libraries:
            paths[name] = package_files.strip(paths[name], scratch)
        files = {}
        for name, path in paths.items():
            with open(path, "rb") as source:
                files[name] = source.read()
    with open(description) as page, open(licence, "rb") as text:
        files[info + "/METADATA"] = (METADATA % (version, page.read())).encode()
        files[info + "/LICENSE"] = text.read()
    files[info + "/NOTICES"] = package_files.notices().encode()
    files[info + "/WHEEL"] = (WHEEL % tag).encode()
    os.makedirs(output, exist_ok=True)
    write_wheel(os.path.join(output, "tg-%s-py3-none-%s.whl" % (version, tag)), files, info)


if __name__ == "__main__":
    main(*sys.argv[1:])
