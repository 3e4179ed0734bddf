"""cxx_command(): how Bazel calls the C++ compiler, for rules that call it themselves."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

# What a rule that calls cxx_command() needs: rule(attrs = dict(CXX_ATTRS, ...), **CXX_RULE).
CXX_ATTRS = {
    "deps": attr.label_list(providers = [CcInfo], doc = "What the sources depend on."),
    "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
}
CXX_RULE = {
    "fragments": ["cpp"],
    "toolchains": ["@bazel_tools//tools/cpp:toolchain_type"],
}

def cxx_command(ctx, **variables):
    """The command that compiles a source which depends on the rule's `deps`.

    Args:
      ctx: of a rule with CXX_ATTRS and CXX_RULE.
      **variables: more arguments of cc_common.create_compile_variables, such as source_file.
    Returns:
      A struct: the `compiler`, its `options`, the `environment`, the toolchain's `files` (a depset), and the
      `context`, a CompilationContext of the deps.
    """
    toolchain = find_cpp_toolchain(ctx)
    context = cc_common.merge_cc_infos(
        direct_cc_infos = [dep[CcInfo] for dep in ctx.attr.deps],
    ).compilation_context
    of_action = {
        "feature_configuration": cc_common.configure_features(
            ctx = ctx,
            cc_toolchain = toolchain,
            requested_features = ctx.features,
            unsupported_features = ctx.disabled_features,
        ),
        "action_name": ACTION_NAMES.cpp_compile,
    }
    compile_variables = cc_common.create_compile_variables(
        feature_configuration = of_action["feature_configuration"],
        cc_toolchain = toolchain,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts,
        include_directories = context.includes,
        quote_include_directories = context.quote_includes,
        system_include_directories = context.system_includes,
        preprocessor_defines = context.defines,
        **variables
    )
    return struct(
        compiler = cc_common.get_tool_for_action(**of_action),
        context = context,
        environment = cc_common.get_environment_variables(variables = compile_variables, **of_action),
        files = toolchain.all_files,
        options = cc_common.get_memory_inefficient_command_line(variables = compile_variables, **of_action),
    )
