"""Bazel's rule sets (rules_cc, bazel_skylib, ...) as Debian packages them."""

load("//third_party:system_library.bzl", "missing")

_ROOT = "/usr/share/bazel/"

# Debian 12's rules_cc is newer than its Bazel: these files load a function that Bazel 4 lacks.
_CPP_TOOLCHAIN_USERS = [
    "cc/private/rules_impl/cc_flags_supplier.bzl",
    "cc/private/rules_impl/compiler_flag.bzl",
]

def _has_use_cpp_toolchain(ctx):
    utils = Label("@bazel_tools//tools/cpp:toolchain_utils.bzl")
    return "def use_cpp_toolchain" in ctx.read(ctx.path(utils))

def _bazel_rules_impl(ctx):
    source = ctx.path(_ROOT + ctx.attr.path)
    if not source.exists:
        missing("bazel-rules-cc bazel-rules-java bazel-rules-proto bazel-platforms bazel-skylib",
                "Bazel's rule set %s" % source)
    copy = ctx.execute(["cp", "-r", "--no-preserve=mode", str(source) + "/.", "."])
    if copy.return_code != 0:
        fail("copying %s: %s" % (source, copy.stderr))
    for path in _CPP_TOOLCHAIN_USERS:
        if not ctx.path(path).exists or _has_use_cpp_toolchain(ctx):
            continue
        text = ctx.read(path)
        text = text.replace(", \"use_cpp_toolchain\")", ")")
        text = text.replace("use_cpp_toolchain()", "[\"@bazel_tools//tools/cpp:toolchain_type\"]")
        ctx.file(path, text, executable = False)

bazel_rules_repository = repository_rule(
    implementation = _bazel_rules_impl,
    attrs = {"path": attr.string(doc = "Folder below " + _ROOT)},
    local = True,
)

def _no_coverage_impl(ctx):
    ctx.file("BUILD", """filegroup(
    name = "coverage_report_generator",
    visibility = ["//visibility:public"],
)
""")

no_coverage_repository = repository_rule(
    implementation = _no_coverage_impl,
    doc = "`bazel test` asks for this target even when no coverage is collected; Bazel would download it.",
    local = True,
)
