"""Finds libraries of the system with the C++ compiler's own search paths.

A static archive is preferred, so that our binaries need nothing but libc at run time where the
distribution ships archives; otherwise the shared library is linked by name.
"""

def missing(package, what):
    """Stops the build: `what` was not found, and `package` would bring it."""
    fail("\n%s was not found.\nRun tools/setup.sh once (it installs: %s)." % (what, package))

def compiler(ctx):
    return ctx.os.environ.get("CXX") or ctx.os.environ.get("CC") or "c++"

def find_archive(ctx, library):
    """Returns the absolute path of lib<library>.a, or None."""
    name = "lib%s.a" % library
    found = ctx.execute([compiler(ctx), "-print-file-name=" + name]).stdout.strip()
    return found if found.startswith("/") else None

def link_option(ctx, library, package):
    """Returns the linker option for `library`, or stops where there is neither archive nor .so."""
    archive = find_archive(ctx, library)
    if archive:
        return archive
    shared = "lib%s.so" % library
    if ctx.execute([compiler(ctx), "-print-file-name=" + shared]).stdout.strip() == shared:
        missing(package, "The library " + shared)
    return "-l" + library

def require_header(ctx, header, package):
    """Stops unless `#include <header>` works."""
    program = "echo '#include <%s>' | \"$0\" -x c++ -E -o /dev/null -" % header
    if ctx.execute(["sh", "-c", program, compiler(ctx)]).return_code != 0:
        missing(package, "The header <%s>" % header)

def _system_library_impl(ctx):
    for header in ctx.attr.headers:
        require_header(ctx, header, ctx.attr.package)
    build = ["load(\"@rules_cc//cc:defs.bzl\", \"cc_library\")", ""]
    for target, libraries in ctx.attr.targets.items():
        build += [
            "cc_library(",
            "    name = %r," % target,
            "    defines = %r," % ctx.attr.defines,
            "    linkopts = %r," % [link_option(ctx, l, ctx.attr.package) for l in libraries],
            "    visibility = [\"//visibility:public\"],",
            ")",
        ]
    ctx.file("BUILD", "\n".join(build) + "\n")

system_library_repository = repository_rule(
    implementation = _system_library_impl,
    attrs = {
        "defines": attr.string_list(doc = "Preprocessor definitions for whoever depends on it."),
        "headers": attr.string_list(doc = "Headers that must be found."),
        "package": attr.string(doc = "Debian packages that bring it, for the error message."),
        "targets": attr.string_list_dict(doc = "Target name -> libraries, in link order."),
    },
    environ = ["CC", "CXX", "PATH"],
    local = True,
)
