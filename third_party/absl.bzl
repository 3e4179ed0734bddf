"""@absl//:absl: the system's Abseil, as one target; @absl//:shared: its shared libraries, which a shared
object of ours takes, since the archives of Debian are not position-independent."""

load("//third_party:system_library.bzl", "compiler", "missing", "require_header")

_PACKAGE = "libabsl-dev"

def _absl_impl(ctx):
    require_header(ctx, "absl/status/statusor.h", _PACKAGE)
    base = ctx.execute([compiler(ctx), "-print-file-name=libabsl_base.a"]).stdout.strip()
    if not base.startswith("/"):
        base = ctx.execute([compiler(ctx), "-print-file-name=libabsl_base.so"]).stdout.strip()
    if not base.startswith("/"):
        missing(_PACKAGE, "Abseil's library libabsl_base")
    suffix = base[base.rindex("."):]
    libraries = sorted([
        str(path)
        for path in ctx.path(base).dirname.readdir()
        if path.basename.startswith("libabsl_") and path.basename.endswith(suffix)
    ])

    # The archives depend on each other in an order that only a group spares us from spelling out.
    linkopts = ["-Wl,--start-group"] + libraries + ["-Wl,--end-group", "-lpthread"]
    if suffix == ".so":
        linkopts = ["-Wl,--as-needed"] + libraries + ["-lpthread"]
    folder = ctx.path(base).dirname
    shared = sorted([str(path) for path in folder.readdir() if path.basename.startswith("libabsl_") and
                                                              path.basename.endswith(".so")])

    # By the names that they have at run time, for packages: libabsl_base.so.20220623.
    names = [path for path in folder.readdir() if path.basename.startswith("libabsl_") and
                                                  ".so." in path.basename]
    for path in names:
        # One of the two names of a file: libabsl_base.so.20220623 and .so.20220623.0.0.
        if path.basename.split(".so.")[1].count(".") == 0:
            ctx.symlink(path, "lib/" + path.basename)
    shared_options = ["-Wl,--as-needed"] + shared
    ctx.file("BUILD", """load("@rules_cc//cc:defs.bzl", "cc_library")

cc_library(
    name = "absl",
    linkopts = %r,
    visibility = ["//visibility:public"],
    deps = select({
        "@tg//third_party/status:own": ["@tg//third_party/status"],
        "//conditions:default": [],
    }),
)

cc_library(
    name = "shared",
    linkopts = %r,
    visibility = ["//visibility:public"],
)

filegroup(
    name = "shared_files",
    srcs = glob(["lib/*"]),
    visibility = ["//visibility:public"],
)
""" % (linkopts, shared_options))

absl_repository = repository_rule(
    implementation = _absl_impl,
    environ = ["CC", "CXX", "PATH"],
    local = True,
)
