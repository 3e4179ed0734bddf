"""@absl//:absl: the system's Abseil, as one target."""

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
    ctx.file("BUILD", """load("@rules_cc//cc:defs.bzl", "cc_library")

cc_library(
    name = "absl",
    linkopts = %r,
    visibility = ["//visibility:public"],
)
""" % linkopts)

absl_repository = repository_rule(
    implementation = _absl_impl,
    environ = ["CC", "CXX", "PATH"],
    local = True,
)
