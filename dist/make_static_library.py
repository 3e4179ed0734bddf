"""Merges libraries into an archive: make_static_library.py PARTS ARCHIVE COMPILER

Each part becomes an object that has all the code it needs but the system's libraries, and in which only
the names of its pattern are visible: a program may have another Abseil or another LLVM. PARTS has these lines:

    part PATTERN     begins a part: what its names look like
    whole ARCHIVE    all of its objects are linked
    archive ARCHIVE  the objects are linked that are needed
    flag OPTION      of the linker
"""

import fnmatch
import os
import re
import subprocess
import sys
import tempfile

# What programs link too (tg.pc.in, tg-config.cmake.in).
FROM_THE_SYSTEM = r"-l(c|dl|m|pthread|rt|stdc\+\+)"
# What capi/opencl_loader.cc and capi/system_functions.cc have instead.
REPLACED = r"(-l|.*/lib)(OpenCL|ncurses|tinfo)(\.a)?"
LEFT_OUT = re.compile(FROM_THE_SYSTEM + "|" + REPLACED)


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if result.returncode != 0:
        sys.exit("%s failed: %d" % (command[0], result.returncode))  # it has said why
    return result.stdout


def read_parts(path):
    """Yields (pattern, archives to link whole, other operands) of each part."""
    parts = []
    with open(path) as manifest:
        for line in manifest:
            kind, value = line.rstrip("\n").split(" ", 1)
            if kind == "part":
                parts.append((value, [], []))
            elif kind == "whole":
                parts[-1][1].append(value)
            elif kind == "archive":
                parts[-1][2].append(value)
            elif value.endswith(".a") and not LEFT_OUT.fullmatch(value):
                parts[-1][2].append(value)
            elif value.startswith("-l") and not LEFT_OUT.fullmatch(value):
                sys.exit("%s: there is no archive of %s for a static library" % (path, value))
    return parts


def defined_in(files):
    """The names that objects or archives define for others, with their kinds."""
    lines = run("nm", "--extern-only", "--defined-only", *files).splitlines()
    return {fields[2]: fields[1] for fields in map(str.split, lines) if len(fields) == 3}


def edit(object_file, option, names, *more):
    with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(object_file)) as listed:
        listed.write("\n".join(names) + "\n")
        listed.flush()
        run("objcopy", "%s=%s" % (option, listed.name), *more, object_file)


def merge(compiler, pattern, whole, others, merged):
    roots = [name for name in defined_in(whole) if fnmatch.fnmatchcase(name, pattern)]
    if not roots:
        sys.exit("nothing is named %s in %s" % (pattern, ", ".join(whole)))
    # Templates that several objects have are put in once, as in a program: the names are local then.
    run(compiler, "-r", "-nostdlib", "-fuse-ld=bfd", "-Wl,--force-group-allocation", "-Wl,--gc-sections",
        *["-Wl,-u," + name for name in roots], "-o", merged,
        "-Wl,--whole-archive", *whole, "-Wl,--no-whole-archive",
        "-Wl,--start-group", *others, "-Wl,--end-group")
    # Unique names, of variables in templates, become local only as weak ones.
    edit(merged, "--weaken-symbols", [name for name, kind in defined_in([merged]).items() if kind == "u"])
    edit(merged, "--keep-global-symbols", roots, "--strip-unneeded")
    left = defined_in([merged])
    if set(left) != set(roots):
        sys.exit("visible in %s: %s" % (merged, ", ".join(sorted(set(left) ^ set(roots)))))


def main(manifest, archive, compiler):
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(archive))) as scratch:
        objects = []
        for pattern, whole, others in read_parts(manifest):
            objects.append(os.path.join(scratch, re.sub(r"\W", "", pattern.rstrip("_*")) + ".o"))
            merge(compiler, pattern, whole, others, objects[-1])
        if os.path.exists(archive):
            os.remove(archive)
        run("ar", "rcsD", archive, *objects)


if __name__ == "__main__":
    main(*sys.argv[1:])
