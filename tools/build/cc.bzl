"""cc_library, cc_test and cc_binary of this project, which read the large headers from a precompiled one.

Reading the headers of the standard library, Abseil and LLVM takes more than half of a compile, so
`-include` names a header that GCC has read already (tools/build/BUILD says which). It changes no
meaning: every file still includes what it uses, as `--config=nopch`, other compilers and the debug build,
which read headers as text, demand.
"""

load("@rules_cc//cc:defs.bzl", _cc_binary = "cc_binary", _cc_library = "cc_library", _cc_test = "cc_test")
load(":cxx_command.bzl", "CXX_ATTRS", "CXX_RULE", "cxx_command")

_LIBRARY_HEADERS = "//tools/build:library_headers"
_TEST_HEADERS = "//tools/build:test_headers"

def _precompiled_header_impl(ctx):
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    ctx.actions.write(header, "".join(["#include <%s>\n" % h for h in ctx.attr.headers]))

    # The options must be those of the compiles that use it, or GCC reads the text instead.
    precompiled = ctx.actions.declare_file(ctx.label.name + ".h.gch")
    command = cxx_command(ctx, source_file = header.path, output_file = precompiled.path, use_pic = True)
    context = command.context
    ctx.actions.run(
        executable = command.compiler,
        arguments = ["-x", "c++-header"] + command.options,
        env = command.environment,
        inputs = depset([header], transitive = [context.headers, command.files]),
        outputs = [precompiled],
        mnemonic = "PrecompileHeader",
        progress_message = "Precompiling %s" % header.short_path,
    )

    # Headers only: who uses it links what it names in its own deps.
    headers = depset([header, precompiled], transitive = [context.headers])
    return [
        DefaultInfo(
            files = depset([header, precompiled]),
            runfiles = ctx.runfiles(files = [header]),
        ),
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = headers,
            includes = context.includes,
            quote_includes = context.quote_includes,
            system_includes = context.system_includes,
            defines = context.defines,
        )),
    ]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    doc = "NAME.h, which includes `headers`, and NAME.h.gch, which GCC made of it.",
    attrs = dict(CXX_ATTRS, headers = attr.string_list(doc = "What it includes; `deps` have it.")),
    **CXX_RULE
)

# A precompiled header that does not fit the compile's options is an error (-Winvalid-pch), where GCC would
# read the text. GCC 12 warns falsely inside std::string once its headers are no longer known as the system's.
# It collects no garbage until it has a gigabyte, which saves an eighth of its time.
_OPTIONS = ["--param=ggc-min-heapsize=1000000", "-Winvalid-pch", "-Wno-array-bounds", "-Wno-restrict", "-Wno-stringop-overflow", "-Wno-stringop-overread"]

def _with_headers(label, copts, deps):
    name = label[2:].replace(":", "/")
    return {
        "copts": copts + select({
            "//tools/build:precompiled": ["-include", name + ".h"] + _OPTIONS,
            "//conditions:default": [],
        }),
        "deps": deps + select({
            "//tools/build:precompiled": [label],
            "//conditions:default": [],
        }),
    }

def _unit_source_impl(ctx):
    source = ctx.actions.declare_file(ctx.label.name + ".cc")
    ctx.actions.write(source, "".join(["#include \"%s\"\n" % f.short_path for f in ctx.files.srcs]))
    return [DefaultInfo(files = depset([source]))]

_unit_source = rule(
    implementation = _unit_source_impl,
    doc = "NAME.cc, which includes `srcs`.",
    attrs = {"srcs": attr.label_list(allow_files = [".cc"])},
)

def _unit(name, srcs, testonly):
    """Declares a library's unit.

    Args:
      name: of the library.
      srcs: its sources and private headers.
      testonly: as the library's.

    Returns:
      What replaces `srcs`, and the sources that are now included.
    """
    sources = [s for s in srcs if s.endswith(".cc")]
    if len(sources) < 2:
        return srcs, []
    _unit_source(name = name + "_unit", testonly = testonly, srcs = sources)
    return [s for s in srcs if not s.endswith(".cc")] + [":%s_unit" % name], sources

def cc_library(name, srcs = [], textual_hdrs = [], copts = [], deps = [], testonly = False, precompiled = True, **kwargs):
    """As Bazel's; with --config=units one file that includes the sources is compiled instead of each.

    Args:
      name: of the library.
      srcs: as Bazel's.
      textual_hdrs: as Bazel's.
      copts: as Bazel's.
      deps: as Bazel's.
      testonly: as Bazel's.
      precompiled: False for a library whose options a precompiled header does not fit.
      **kwargs: as Bazel's.
    """
    headers = _TEST_HEADERS if testonly else _LIBRARY_HEADERS
    how = _with_headers(headers, copts, deps) if precompiled else {"copts": copts, "deps": deps}
    unit, included = _unit(name, srcs, testonly)
    _cc_library(
        name = name,
        srcs = select({"//tools/build:units": unit, "//conditions:default": srcs}),
        textual_hdrs = textual_hdrs + select({"//tools/build:units": included, "//conditions:default": []}),
        testonly = testonly,
        **dict(kwargs, **how)
    )

def cc_binary(name, copts = [], deps = [], **kwargs):
    _cc_binary(name = name, **dict(kwargs, **_with_headers(_LIBRARY_HEADERS, copts, deps)))

def cc_test(name, copts = [], deps = [], **kwargs):
    _cc_test(name = name, **dict(kwargs, **_with_headers(_TEST_HEADERS, copts, deps)))
