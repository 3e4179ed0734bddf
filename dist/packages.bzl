"""package_folder(): a folder that a Python script fills with a package, whose name depends on what is in it."""

def _package_folder_impl(ctx):
    output = ctx.actions.declare_directory(ctx.label.name)
    manifest = ctx.actions.declare_file(ctx.label.name + ".manifest")
    lines, inputs = [], []
    for target, place in ctx.attr.files.items():
        for file in target.files.to_list():
            inputs.append(file)
            lines.append("%s\t%s" % (place + file.basename if place.endswith("/") else place, file.path))
    ctx.actions.write(manifest, "\n".join(sorted(lines)) + "\n")
    ctx.actions.run(
        executable = "python3",
        arguments = [ctx.file.main.path, manifest.path, output.path],
        inputs = inputs + ctx.files.modules + [manifest, ctx.file.main],
        outputs = [output],
        env = {"PYTHONDONTWRITEBYTECODE": "1"},
        use_default_shell_env = True,
        mnemonic = "Package",
        progress_message = "Packaging %s" % ctx.label,
    )
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

package_folder = rule(
    implementation = _package_folder_impl,
    doc = "The folder NAME, which `main MANIFEST FOLDER` has filled.",
    attrs = {
        "files": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "Where each file goes; for a place that ends in '/', under its own name.",
        ),
        "main": attr.label(allow_single_file = [".py"]),
        "modules": attr.label_list(allow_files = [".py"], doc = "What `main` imports."),
    },
)
