"""Makes a tar file or a Debian package of tg: make_archive.py MANIFEST OUTPUT_FOLDER.

Both hold one tree: bin, include, lib, share/doc/tg; in the Debian package it is in /usr. The place `kind` of the
manifest is a file whose name says which. The same files give the same bytes.
"""

import gzip
import hashlib
import io
import os
import sys
import tarfile
import tempfile

import package_files

LIBRARY = "lib/libtg.so.1"
CONTROL = """\
Package: tg
Version: %s
Architecture: %s
Maintainer: tg <tg@localhost>
Installed-Size: %d
Depends: %s
Recommends: ocl-icd-libopencl1 | libopencl1
Section: libs
Priority: optional
Description: compiler and runtime for tensor programs
 The library libtg with its header, the CPU's code generator, and the tools
 tg-opt, tg-run and tg-compile.
"""
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def is_code(name):
    """Whether the place is that of a program or a shared library."""
    return name.startswith("bin/") or (name.startswith("lib/lib") and not name.endswith(".a"))


def add_file(tar, name, data, mode):
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), mode
    entry.uname = entry.gname = "root"
    tar.addfile(entry, io.BytesIO(data))


def write_tar(files, links, prefix):
    """The bytes of a compressed tar of {name: (bytes, mode)} and {name: target}."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as compressed:
        with tarfile.open(fileobj=compressed, mode="w", format=tarfile.GNU_FORMAT) as tar:
            folders = set()
            for name in list(files) + list(links):
                parts = (prefix + name).split("/")[:-1]
                folders.update("/".join(parts[:i]) for i in range(1, len(parts) + 1))
            for folder in sorted(folders - {"", "."}):
                entry = tarfile.TarInfo(folder)
                entry.type, entry.mode, entry.uname, entry.gname = tarfile.DIRTYPE, 0o755, "root", "root"
                tar.addfile(entry)
            for name, (data, mode) in sorted(files.items()):
                add_file(tar, prefix + name, data, mode)
            for name, target in sorted(links.items()):
                entry = tarfile.TarInfo(prefix + name)
                entry.type, entry.linkname, entry.uname, entry.gname = tarfile.SYMTYPE, target, "root", "root"
                tar.addfile(entry)
    return out.getvalue()


def write_deb(path, control, files, links):
    sums = "".join("%s  usr/%s\n" % (hashlib.md5(data).hexdigest(), name) for name, (data, _) in sorted(files.items()))
    members = [("debian-binary", b"2.0\n"),
               ("control.tar.gz", write_tar({"control": (control.encode(), 0o644),
                                             "md5sums": (sums.encode(), 0o644),
                                             "triggers": (b"activate-noawait ldconfig\n", 0o644)}, {}, "./")),
               ("data.tar.gz", write_tar(files, links, "./usr/"))]
    with open(path, "wb") as deb:
        deb.write(b"!<arch>\n")
        for name, data in members:
            deb.write(b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name.encode(), 0, 0, 0, b"100644", len(data)))
            deb.write(data + b"\n" * (len(data) % 2))


def main(manifest, output):
    paths = package_files.read_manifest(manifest)
    kind = os.path.basename(paths.pop("kind")).split(".")[0]
    version = package_files.version_of(paths.pop("version"))
    shared = {os.path.basename(name): path for name, path in paths.items() if name.startswith("shared/")}
    paths = {name: path for name, path in paths.items() if not name.startswith("shared/")}
    needed = package_files.needed_of(paths[LIBRARY], shared)
    glibc = package_files.least_glibc([paths[name] for name in paths if is_code(name)])
    if kind == "tarball":
        paths.update(("lib/" + name, path) for name, path in needed.items())
    files = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name, path in paths.items():
            with open(package_files.strip(path, scratch) if is_code(name) else path, "rb") as source:
                data = source.read()
            if path.endswith(".in"):
                data = data.replace(b"@VERSION@", version.encode())
            files[name] = (data, 0o755 if is_code(name) else 0o644)
    files["share/doc/tg/NOTICES"] = (package_files.notices().encode(), 0o644)
    links = {"lib/libtg.so": "libtg.so.1"}
    os.makedirs(output, exist_ok=True)
    machine = os.uname().machine
    if kind == "tarball":
        stem = "tg-%s-linux-%s" % (version, machine)
        with open(os.path.join(output, stem + ".tar.gz"), "wb") as tar:
            tar.write(write_tar(files, links, stem + "/"))
        return
    # Abseil's package of Debian is named after the library's version.
    versions = sorted({"libabsl" + name.split(".so.")[1] for name in needed})
    depends = ", ".join(["libc6 (>= 2.%d)" % glibc, "libstdc++6", "libgcc-s1"] + versions)
    architecture = ARCHITECTURES.get(machine, machine)
    size = sum(len(data) for data, _ in files.values()) // 1024 + 1
    write_deb(os.path.join(output, "tg_%s_%s.deb" % (version, architecture)),
              CONTROL % (version, architecture, size, depends), files, links)


if __name__ == "__main__":
    main(*sys.argv[1:])
