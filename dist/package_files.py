"""What the packages have in common: the files that they take, and the shared libraries of tg.

A manifest has a line for each file: where it goes in the package, a tab, and where it is. The rule of
packages.bzl writes it.
"""

import os
import re
import subprocess
import tempfile

# The oldest glibc whose distributions have this libstdc++, as the policies of auditwheel say.
GLIBC_OF_LIBSTDCXX = {28: 31, 29: 34, 30: 35, 31: 38, 32: 38, 33: 40, 34: 42}
# Of what is linked into the libraries and is not tg's; the packages of Debian that say how it is licensed.
NOTICES = """\
tg is under the MIT licence (LICENSE). The files of this package contain parts of

  LLVM         https://llvm.org           Apache License 2.0 with LLVM exceptions
  Abseil       https://abseil.io          Apache License 2.0
  zlib         https://zlib.net           zlib licence
  Zstandard    https://facebook.github.io/zstd  BSD licence
  PCRE2        https://www.pcre.org       BSD licence
  utf8proc     https://juliastrings.github.io/utf8proc  MIT licence
  protozero    https://github.com/mapbox/protozero  BSD licence
  stb          https://github.com/nothings/stb  public domain or MIT licence
"""
NOTICE_PACKAGES = re.compile(r"llvm-\d+-dev|libabsl-dev|zlib1g-dev|libzstd-dev|libpcre2-dev|libutf8proc-dev|"
                             r"libprotozero-dev|libstb-dev")


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def read_manifest(path):
    """Returns {place in the package: file}."""
    with open(path) as manifest:
        return dict(line.rstrip("\n").split("\t") for line in manifest)


def version_of(header):
    """The version that tools/driver/listing.h states."""
    with open(header) as source:
        return re.search(r'kVersion = "([\d.]+)"', source.read()).group(1)


def needed_by(library):
    return re.findall(r"\(NEEDED\).*\[(.*?)\]", run("readelf", "-d", library))


def needed_of(library, candidates):
    """Those of `candidates`, {name: path}, that the library needs, and that these need."""
    found, pending = {}, [library]
    while pending:
        for name in needed_by(pending.pop()):
            if name in candidates and name not in found:
                found[name] = candidates[name]
                pending.append(candidates[name])
    return found


def least_glibc(libraries):
    """The least N for which glibc 2.N, with the libstdc++ of its time, has all that the libraries need."""
    least = 17
    for library in libraries:
        versions = run("readelf", "-W", "--version-info", library)
        least = max([least] + [int(minor) for minor in re.findall(r"Name: GLIBC_2\.(\d+)", versions)])
        for minor in map(int, re.findall(r"Name: GLIBCXX_3\.4\.(\d+)", versions)):
            least = max(least, GLIBC_OF_LIBSTDCXX.get(minor, 17 if minor < 28 else 42))
    return least


def strip(library, folder):
    """Returns the path of a copy without symbols that no loader needs."""
    stripped = os.path.join(tempfile.mkdtemp(dir=folder), os.path.basename(library))
    run("strip", "--strip-unneeded", "-o", stripped, library)
    return stripped


def notices():
    """The text of NOTICES: the list, and what the system's packages say."""
    parts = [NOTICES]
    documents = "/usr/share/doc"
    for package in sorted(os.listdir(documents)) if os.path.isdir(documents) else []:
        path = os.path.join(documents, package, "copyright")
        if NOTICE_PACKAGES.fullmatch(package) and os.path.isfile(path):
            with open(path, errors="replace") as text:
                parts.append("%s\n%s\n\n%s" % ("=" * 80, package, text.read()))
    return "\n".join(parts)
