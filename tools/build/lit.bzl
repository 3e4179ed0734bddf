"""lit_tests(): LLVM's lit over a folder of test files, as one Bazel test with a count per file.

A test file says how it is run and what must come out:

    // RUN: tg-opt --pass=simplify %s | FileCheck %s
    // CHECK: %0 = const

lit's documentation explains the lines (%s is the file, %S its folder, %t a scratch name) and
FileCheck's explains CHECK. On the PATH are FileCheck, not, split-file and `tools`, each by its file
name. A file that asserts nothing fails: see lit.cfg.py.
"""

def _runfiles_path(file):
    """Where a test, started in its runfiles folder, finds `file`."""
    return file.short_path

def _lit_test_impl(ctx):
    tools = ctx.files.tools + ctx.files._llvm_tools
    lit_main = [f for f in ctx.files._lit if f.path.endswith("/lit/main.py")][0]
    arguments = ["--lit=" + _runfiles_path(lit_main)[:-len("/lit/main.py")]]
    arguments += ["--tool=" + _runfiles_path(f) for f in tools]
    arguments += ["--data=" + _runfiles_path(f) for f in ctx.files.data]
    arguments += [_runfiles_path(f) for f in ctx.files.srcs]

    # Arguments go through a file: a folder may hold more tests than a command line.
    argument_file = ctx.actions.declare_file(ctx.label.name + ".args")
    ctx.actions.write(argument_file, "\n".join(arguments) + "\n")
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(
        script,
        "#!/bin/sh\nexec python3 %s @%s \"$@\"\n" % (
            _runfiles_path(ctx.file._runner),
            _runfiles_path(argument_file),
        ),
        is_executable = True,
    )
    runfiles = ctx.runfiles(
        files = tools + ctx.files.srcs + ctx.files.data + ctx.files._lit +
                ctx.files._support + [argument_file],
    )
    for target in ctx.attr.tools + ctx.attr.data:
        runfiles = runfiles.merge(target[DefaultInfo].default_runfiles)
    return [DefaultInfo(executable = script, runfiles = runfiles)]

_lit_test = rule(
    implementation = _lit_test_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = True, mandatory = True),
        "data": attr.label_list(allow_files = True),
        "tools": attr.label_list(allow_files = True),
        "_lit": attr.label(default = "@llvm//:lit"),
        "_llvm_tools": attr.label_list(
            default = ["@llvm//:FileCheck", "@llvm//:not", "@llvm//:split-file"],
            allow_files = True,
        ),
        "_support": attr.label(default = "//tools/build:lit_support"),
        "_runner": attr.label(default = "//tools/build:lit_runner.py", allow_single_file = True),
    },
    test = True,
)

def lit_tests(
        name = "lit_tests",
        srcs = None,
        tools = ["//tools:tg-opt"],
        data = None,
        size = "small",
        **kwargs):
    """One Bazel test that runs lit on `srcs`.

    Args:
      name: of the test.
      srcs: the test files; by default every .uop file below test/ that is not in an Inputs folder.
      tools: binaries or scripts that RUN lines call by name.
      data: further files, found relative to the test as in the source tree (%S/Inputs/x);
        by default the files of every Inputs folder below test/.
      size: Bazel's test size.
      **kwargs: as for every Bazel test.
    """
    if srcs == None:
        srcs = native.glob(["test/**/*.uop"], exclude = ["test/**/Inputs/**"])
    if data == None:
        data = native.glob(["test/**/Inputs/**"])
    if not srcs:
        fail("lit_tests(%s): no test files" % name)
    _lit_test(name = name, srcs = srcs, tools = tools, data = data, size = size, **kwargs)
