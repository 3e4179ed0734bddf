"""Runs LLVM's lit on the files of one lit_tests() target.

Lays out a scratch copy (symbolic links) of the test files and their data with the paths of the
source tree, a folder with the tools, and starts lit there. lit writes its result per file where
Bazel looks for it (XML_OUTPUT_FILE), so that counts are those of files, not of targets.
Options other than those below go to lit; Bazel's --test_filter is lit's --filter.
"""

import argparse
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def link(source, target):
    """Makes `target` a symbolic link to the file that `source` finally names."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if not os.path.lexists(target):
        os.symlink(os.path.realpath(source), target)


def parse_arguments(argv):
    parser = argparse.ArgumentParser(fromfile_prefix_chars="@", allow_abbrev=False)
    parser.add_argument("--lit", required=True, help="folder that holds lit's Python package")
    parser.add_argument("--tool", action="append", default=[], help="goes on the PATH")
    parser.add_argument("--data", action="append", default=[], help="lies beside the tests")
    options, rest = parser.parse_known_args(argv)
    options.files = [a for a in rest if not a.startswith("-")]
    options.lit_options = [a for a in rest if a.startswith("-")]
    return options


def lay_out(options, scratch):
    """Fills `scratch` with suite/ and bin/; returns the test files as lit shall name them."""
    suite = os.path.join(scratch, "suite")
    for path in options.files + options.data:
        link(path, os.path.join(suite, path.replace("../", "external/")))
    # Not a link: lit finds the suite's folder through this file's real path.
    os.makedirs(suite, exist_ok=True)
    with open(os.path.join(HERE, "lit.cfg.py")) as source:
        with open(os.path.join(suite, "lit.cfg.py"), "w") as target:
            target.write(source.read())
    for tool in options.tool:
        link(tool, os.path.join(scratch, "bin", os.path.basename(tool)))
    return [os.path.join(suite, path) for path in options.files]


def main(argv):
    options = parse_arguments(argv)
    if not options.files:
        sys.exit("lit_runner.py: no test files")
    sys.path[:0] = [os.path.abspath(options.lit), HERE]
    import lit.main  # found only now

    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as scratch:
        # lit compares real paths.
        scratch = os.path.realpath(scratch)
        files = lay_out(options, scratch)
        os.environ["TG_LIT_SCRATCH"] = scratch
        arguments = ["-v", "--workers=2"] + options.lit_options
        if os.environ.get("TESTBRIDGE_TEST_ONLY"):
            arguments.append("--filter=" + os.environ["TESTBRIDGE_TEST_ONLY"])
        if os.environ.get("XML_OUTPUT_FILE"):
            arguments.append("--xunit-xml-output=" + os.environ["XML_OUTPUT_FILE"])
        sys.argv = ["lit"] + arguments + files
        lit.main.main()


if __name__ == "__main__":
    main(sys.argv[1:])
