"""@llvm//:support (LLVM's Support and ADT), @llvm//:codegen (the code generator for this machine's
processor, with what it needs) and @llvm//:FileCheck, :not, :split-file, :lit."""

load("//third_party:system_library.bzl", "find_archive", "missing")

# 19 is what we test with most; then the newest.
_VERSIONS = [19, 22, 21, 20, 18, 17, 16, 15, 14]
_TOOLS = ["FileCheck", "not", "split-file"]
_HEADERS = ["ADT", "Config", "Demangle", "Support", "TargetParser"]

def _find(ctx, has, package, what):
    """Returns the prefix of the first LLVM, in order of preference, for which has(prefix)."""
    names = [ctx.os.environ.get("LLVM_CONFIG", "")]
    names += ["llvm-config-%d" % v for v in _VERSIONS] + ["llvm-config"]
    for name in names:
        config = ctx.which(name) if name and "/" not in name else name
        if not config:
            continue
        run = ctx.execute([config, "--version", "--prefix"])
        if run.return_code != 0:
            continue
        version, prefix = run.stdout.split("\n")[:2]
        if int(version.split(".")[0]) >= _VERSIONS[-1] and has(ctx, prefix):
            return str(config), prefix
    missing(package, what)
    return None

def _has_support(ctx, prefix):
    return ctx.path(prefix + "/lib/libLLVMSupport.a").exists

def _system_link_options(ctx, config):
    """What libLLVMSupport.a needs of the system, static where possible."""
    names = ctx.execute([config, "--link-static", "--system-libs", "support"]).stdout
    options = []
    for name in names.replace("\n", " ").split(" "):
        # llvm-config names what any part of LLVM needs; Support uses neither of these two.
        if not name or "z3" in name or "xml2" in name:
            continue
        archive = name.startswith("-l") and find_archive(ctx, name[2:])
        in_libc = name in ["-lrt", "-ldl", "-lm", "-lpthread"]
        options.append(archive if archive and not in_libc else name)
    return options + ["-lpthread"]

def _shared_link_options(options):
    """The same for a shared object: ncurses' archives are not position-independent."""
    curses = ["tinfo", "ncurses"]
    return [
        "-l" + n[0] if n else option
        for option in options
        for n in [[c for c in curses if option.endswith("lib%s.a" % c)]]
    ]

# What machine code is made with, as llvm-config names it.
_CODEGEN = ["nativecodegen", "asmparser", "scalaropts", "instcombine"]

def _codegen_archives(ctx, config, library):
    """Links the archives of _CODEGEN into lib, but for those of :support; returns their names."""
    names = ctx.execute([config, "--link-static", "--libnames"] + _CODEGEN).stdout
    own = ["libLLVMSupport.a", "libLLVMDemangle.a"]
    archives = [n for n in names.replace("\n", " ").split(" ") if n and n not in own]
    for name in archives:
        ctx.symlink(library + "/" + name, "lib/" + name)
    return archives

def _llvm_impl(ctx):
    config, prefix = _find(
        ctx,
        _has_support,
        "llvm-19-dev (or any version from 14)",
        "LLVM 14 or newer with libLLVMSupport.a",
    )
    include = ctx.execute([config, "--includedir"]).stdout.strip()
    library = ctx.execute([config, "--libdir"]).stdout.strip()
    ctx.symlink(include + "/llvm", "include/llvm")
    ctx.symlink(include + "/llvm-c", "include/llvm-c")
    ctx.symlink(library + "/libLLVMSupport.a", "lib/libLLVMSupport.a")
    ctx.symlink(library + "/libLLVMDemangle.a", "lib/libLLVMDemangle.a")
    headers = ["include/llvm/%s/**" % h for h in _HEADERS] + ["include/llvm-c/**"]
    options = _system_link_options(ctx, config)
    archives = ["lib/" + name for name in _codegen_archives(ctx, config, library)]
    aliases = "\n".join([
        "alias(name = %r, actual = %r, visibility = [\"//visibility:public\"])" %
        (tool, "@llvm_tools//:" + tool)
        for tool in _TOOLS + ["lit"]
    ])
    ctx.file("BUILD", """load("@rules_cc//cc:defs.bzl", "cc_library")

cc_library(
    name = "demangle",
    srcs = ["lib/libLLVMDemangle.a"],
)

# For libraries that link nothing of LLVM.
cc_library(
    name = "headers",
    hdrs = glob(%r),
    includes = ["include"],
    visibility = ["//visibility:public"],
)

cc_library(
    name = "support_files",
    srcs = ["lib/libLLVMSupport.a"],
    deps = [":demangle", ":headers"],
)

cc_library(
    name = "support",
    linkopts = %r,
    visibility = ["//visibility:public"],
    deps = [":support_files"],
)

cc_library(
    name = "codegen_files",
    srcs = %r,
    hdrs = glob(["include/llvm/**"]),
)

# For a shared object.
cc_library(
    name = "codegen",
    linkopts = %r,
    visibility = ["//visibility:public"],
    deps = [":codegen_files", ":support_files"],
)

# For a program.
cc_library(
    name = "codegen_in_program",
    visibility = ["//visibility:public"],
    deps = [":codegen_files", ":support"],
)

%s
""" % (headers, options, archives, _shared_link_options(options), aliases))

llvm_repository = repository_rule(
    implementation = _llvm_impl,
    environ = ["CC", "CXX", "LLVM_CONFIG", "PATH"],
    local = True,
)

def _has_tools(ctx, prefix):
    files = ["/bin/" + tool for tool in _TOOLS] + ["/build/utils/lit/lit.py"]
    return all([ctx.path(prefix + f).exists for f in files])

def _llvm_tools_impl(ctx):
    _, prefix = _find(ctx, _has_tools, "llvm-19-tools", "LLVM's FileCheck, not, split-file and lit")
    for tool in _TOOLS:
        ctx.symlink(prefix + "/bin/" + tool, tool)
    ctx.symlink(prefix + "/build/utils/lit/lit", "lit_package/lit")
    ctx.file("BUILD", """exports_files(%r)

# Python package `lit`: its parent folder goes on the import path.
filegroup(
    name = "lit",
    srcs = glob(["lit_package/lit/**/*.py"]),
    visibility = ["//visibility:public"],
)
""" % _TOOLS)

llvm_tools_repository = repository_rule(
    implementation = _llvm_tools_impl,
    environ = ["LLVM_CONFIG", "PATH"],
    local = True,
)
