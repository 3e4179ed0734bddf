"""Plants bugs, one at a time, and reports which of them tg-fuzz finds.

    planted_bugs.py --workspace=. --scratch=DIR [--seconds=60] [--only=NAME] [--build=OPTION ...]

The bugs are in planted_bugs.json: a name, a file, a text in it (there once) and what replaces it.
Each is applied to a copy of the workspace in DIR, which is kept between runs; tg-fuzz is built
there and runs until it finds something or its time is over. A bug that only a device sees says so.
The workspace is not changed. Exits with 1 where fewer than --wanted are found.
"""

import argparse
import filecmp
import json
import os
import re
import shutil
import subprocess
import sys
import time


def copy_workspace(workspace, scratch):
    """Makes `scratch` equal to the files that git knows or would add."""
    files = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=workspace, check=True, capture_output=True).stdout
    for name in filter(None, files.decode().split("\0")):
        source, target = os.path.join(workspace, name), os.path.join(scratch, name)
        if not os.path.isfile(source):
            continue
        if os.path.exists(target) and filecmp.cmp(source, target, shallow=False):
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(source, target)


def check_bugs(bugs, root):
    """Returns what is wrong with the list: texts that are not there exactly once."""
    problems = []
    for bug in bugs:
        path = os.path.join(root, bug["file"])
        count = 0
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                count = f.read().count(bug["search"])
        if count != 1:
            problems.append("%s: %s holds its text %d times" % (bug["name"], bug["file"], count))
    return problems


class Planter:
    """A scratch copy in which bugs are planted and searched."""

    def __init__(self, scratch, bazel, seconds, seed):
        self.scratch, self.bazel, self.seconds, self.seed = scratch, bazel, seconds, seed
        self.clean = os.path.join(scratch, "tg-fuzz-without-bugs")
        tool = self.build()
        if tool is None:
            sys.exit("tg-fuzz does not build")
        if os.path.exists(self.clean):
            os.remove(self.clean)
        shutil.copy(tool, self.clean)

    def build(self):
        """Returns the path of tg-fuzz, or None where it does not compile."""
        command = ["bazel", *self.bazel[0], "build", *self.bazel[1], "//tools:tg-fuzz"]
        built = subprocess.run(command, cwd=self.scratch, capture_output=True, text=True)
        if built.returncode != 0:
            sys.stderr.write(built.stderr[-3000:])
            return None
        info = ["bazel", *self.bazel[0], "info", "bazel-bin"]
        folder = subprocess.run(info, cwd=self.scratch, capture_output=True, text=True, check=True)
        return os.path.join(folder.stdout.strip(), "tools", "tg-fuzz")

    def run(self, tool, flags):
        """Runs the tool until it finds a failure that the tool without the bug does not find."""
        start, seed = time.time(), self.seed
        while time.time() - start < self.seconds:
            left = int(self.seconds - (time.time() - start)) + 1
            run = subprocess.run(
                [tool, "--seed=%d" % seed, "--count=1000000000", "--max-failures=1",
                 "--seconds=%d" % left] + flags, capture_output=True, text=True)
            match = re.search(r"--seed=(\d+): (.*)", run.stdout)
            if run.returncode == 0 or not match:
                break
            seed = int(match.group(1))
            clean = subprocess.run([self.clean, "--seed=%d" % seed, "--count=1"] + flags,
                                   capture_output=True, text=True)
            if clean.returncode == 0:
                said = "graph %d: %s" % (seed - self.seed + 1, match.group(2))
                return "found", said, time.time() - start
            seed += 1
        return "missed", "", time.time() - start

    def look(self, bug):
        """Returns ("found" | "missed" | "not built", what was said, seconds)."""
        path = os.path.join(self.scratch, bug["file"])
        with open(path, encoding="utf-8") as f:
            original = f.read()
        try:
            with open(path, "w", encoding="utf-8") as f:
                f.write(original.replace(bug["search"], bug["replace"]))
            tool = self.build()
            if tool is None:
                return "not built", "", 0
            return self.run(tool, bug.get("flags", []))
        finally:
            with open(path, "w", encoding="utf-8") as f:
                f.write(original)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workspace", default=".")
    parser.add_argument("--scratch", required=True)
    parser.add_argument("--bugs", help="another list of bugs")
    parser.add_argument("--only", action="append", help="a bug's name")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=500000)
    parser.add_argument("--keep", action="store_true", help="take the copy as it is")
    parser.add_argument("--wanted", type=int, default=18)
    parser.add_argument("--startup", action="append", default=[], help="an option before `build`")
    parser.add_argument("--build", action="append", default=[], help="an option of the build")
    options = parser.parse_args()
    workspace = os.path.abspath(options.workspace)
    listed = options.bugs or os.path.join(workspace, "tools/fuzz/planted_bugs.json")
    with open(listed, encoding="utf-8") as f:
        bugs = json.load(f)
    problems = check_bugs(bugs, workspace)
    if problems:
        sys.exit("\n".join(problems))
    if options.only:
        bugs = [bug for bug in bugs if bug["name"] in options.only]
    os.makedirs(options.scratch, exist_ok=True)
    if not options.keep:
        copy_workspace(workspace, os.path.abspath(options.scratch))
    planter = Planter(options.scratch, (options.startup, options.build), options.seconds,
                      options.seed)
    found = 0
    for bug in bugs:
        result, said, seconds = planter.look(bug)
        found += result == "found"
        print("%-9s %-28s %5.1f s  %s" % (result, bug["name"], seconds, said[:200]), flush=True)
    print("%d of %d found" % (found, len(bugs)))
    sys.exit(found < min(options.wanted, len(bugs)))


if __name__ == "__main__":
    main()
