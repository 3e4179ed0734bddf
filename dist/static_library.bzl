"""static_library(): an archive for programs of others, with all that its parts need but the system's libraries."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _archive_of(library):
    return library.pic_static_library or library.static_library

def _lines(part, exports):
    """What make_static_library.py reads of a part, and the files that these lines name."""
    lines, files = ["part %s" % exports], []
    for linked in part[CcInfo].linking_context.linker_inputs.to_list():
        for library in linked.libraries:
            archive = _archive_of(library)
            files.append(archive)
            lines.append("%s %s" % ("whole" if library.alwayslink else "archive", archive.path))
        lines.extend(["flag " + flag for flag in linked.user_link_flags])
    return lines, files

def _static_library_impl(ctx):
    manifest = ctx.actions.declare_file(ctx.label.name + ".parts")
    lines, inputs = [], []
    for part, exports in ctx.attr.parts.items():
        more, files = _lines(part, exports)
        lines += more
        inputs += files
    ctx.actions.write(manifest, "\n".join(lines) + "\n")
    toolchain = find_cpp_toolchain(ctx)
    ctx.actions.run(
        executable = "python3",
        arguments = [ctx.file._main.path, manifest.path, ctx.outputs.archive.path, toolchain.compiler_executable],
        inputs = depset(inputs + [manifest, ctx.file._main], transitive = [toolchain.all_files]),
        outputs = [ctx.outputs.archive],
        env = {"PYTHONDONTWRITEBYTECODE": "1"},
        use_default_shell_env = True,
        mnemonic = "StaticLibrary",
        progress_message = "Merging %s" % ctx.label,
    )

static_library = rule(
    implementation = _static_library_impl,
    doc = "`archive`, with an object for each of `parts`.",
    attrs = {
        "archive": attr.output(mandatory = True),
        "parts": attr.label_keyed_string_dict(
            doc = "Libraries, and the pattern of the names by which other objects find what is in each.",
            providers = [CcInfo],
        ),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_main": attr.label(default = ":make_static_library.py", allow_single_file = True),
    },
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
