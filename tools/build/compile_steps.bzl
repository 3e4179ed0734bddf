"""compile_steps(): the files that the compiler is called for to build a program, as a file, for a test."""

_StepsInfo = provider(doc = "What is compiled.", fields = {"sources": "depset of C++ files of this project"})

def _collect_impl(target, ctx):
    sources = []
    if not target.label.workspace_name and ctx.rule.kind in ("cc_library", "cc_binary"):
        sources = [f for f in ctx.rule.files.srcs if f.extension == "cc"]
    deps = [dep[_StepsInfo].sources for dep in getattr(ctx.rule.attr, "deps", []) if _StepsInfo in dep]
    return [_StepsInfo(sources = depset(sources, transitive = deps))]

_collect = aspect(
    implementation = _collect_impl,
    attr_aspects = ["deps"],
)

def _compile_steps_impl(ctx):
    sources = ctx.attr.program[_StepsInfo].sources.to_list()
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(output, "".join([f.short_path + "\n" for f in sources]))
    generated = [f for f in sources if not f.is_source]
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles(files = [output] + generated))]

compile_steps = rule(
    implementation = _compile_steps_impl,
    doc = "A file NAME: the paths of the files that are compiled for `program`, one a line. Its runfiles are " +
          "those of them that are generated.",
    attrs = {"program": attr.label(aspects = [_collect])},
)
