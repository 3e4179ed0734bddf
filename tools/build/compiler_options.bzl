"""compiler_options(): how Bazel calls the C++ compiler, as a file, for tests that call it themselves."""

load(":cxx_command.bzl", "CXX_ATTRS", "CXX_RULE", "cxx_command")

def _compiler_options_impl(ctx):
    command = cxx_command(ctx)
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(output, "\n".join([command.compiler] + command.options) + "\n")
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles(files = [output]))]

compiler_options = rule(
    implementation = _compiler_options_impl,
    doc = "A file NAME: the compiler, and the options for sources that depend on `deps`, one a line. " +
          "Paths in them are relative to Bazel's execution root.",
    attrs = CXX_ATTRS,
    **CXX_RULE
)
