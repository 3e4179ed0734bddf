"""small_binary(): a program as --config=small builds it, for a test of its size in every configuration."""

def _bool_flag_impl(_ctx):
    return []

bool_flag = rule(
    implementation = _bool_flag_impl,
    doc = "A setting that a command, .bazelrc or a transition gives.",
    build_setting = config.bool(flag = True),
)

# The options of .bazelrc for that configuration and the ones that it includes.
_SMALL = {
    "//command_line_option:compilation_mode": "opt",
    "//command_line_option:copt": [
        "-DNDEBUG",
        "-Os",
        "-fno-semantic-interposition",
        "-fvisibility=hidden",
        "-fomit-frame-pointer",
        "-fno-stack-protector",
        "-fno-asynchronous-unwind-tables",
        "-fno-unwind-tables",
        "-Wno-maybe-uninitialized",
    ],
    "//command_line_option:linkopt": ["-s", "-fuse-ld=gold", "-Wl,--icf=safe"],
    "//command_line_option:per_file_copt": [],
    "//command_line_option:strip": "always",
    "//third_party/status:own_status": True,
    "//tools/build:as_units": True,
}

def _transition_impl(_settings, _attr):
    return _SMALL

_small = transition(implementation = _transition_impl, inputs = [], outputs = _SMALL.keys())

def _small_binary_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = output, target_file = ctx.files.program[0], is_executable = True)
    return [DefaultInfo(files = depset([output]), executable = output)]

small_binary = rule(
    implementation = _small_binary_impl,
    doc = "The cc_binary `program`, which needs no files where it runs.",
    executable = True,
    attrs = {
        "program": attr.label(cfg = _small, mandatory = True),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)
