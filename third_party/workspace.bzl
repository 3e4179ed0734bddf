"""All external repositories, each found on this machine; nothing is downloaded.

A workspace that takes tg as its repository @tg calls third_party_repositories() too (docs/embedding.md).
"""

load("//third_party:absl.bzl", "absl_repository")
load("//third_party:bazel_rules.bzl", "bazel_rules_repository", "no_coverage_repository")
load("//third_party:llvm.bzl", "llvm_repository", "llvm_tools_repository")
load("//third_party:system_library.bzl", "system_library_repository")

def third_party_repositories():
    # Bazel's rule sets: without these names Bazel would download its built-in defaults.
    bazel_rules_repository(name = "rules_cc", path = "rules/cc")
    bazel_rules_repository(name = "rules_java", path = "rules/java")
    bazel_rules_repository(name = "rules_proto", path = "rules/proto")
    bazel_rules_repository(name = "platforms", path = "tools/platforms")
    bazel_rules_repository(name = "bazel_skylib", path = "tools/skylib")
    no_coverage_repository(name = "remote_coverage_tools")

    # What tg itself links.
    llvm_repository(name = "llvm")
    absl_repository(name = "absl")
    system_library_repository(
        name = "opencl",
        defines = ["CL_TARGET_OPENCL_VERSION=300"],
        headers = ["CL/cl.h"],
        package = "ocl-icd-opencl-dev",
        targets = {"opencl": ["OpenCL"]},
    )

    # Regular expressions and properties of characters, for tokenizers.
    system_library_repository(
        name = "pcre2",
        headers = ["pcre2posix.h"],
        package = "libpcre2-dev",
        targets = {"pcre2": ["pcre2-8"]},
    )
    system_library_repository(
        name = "utf8proc",
        headers = ["utf8proc.h"],
        package = "libutf8proc-dev",
        targets = {"utf8proc": ["utf8proc"]},
    )

    # What searches for schedules have measured.
    system_library_repository(
        name = "sqlite",
        headers = ["sqlite3.h"],
        package = "libsqlite3-dev",
        targets = {"sqlite": ["sqlite3"]},
    )

    # Searches on many machines; only what is named needs it.
    system_library_repository(
        name = "mpi",
        # Without the bindings for C++, which MPI 3 has removed.
        defines = ["OMPI_SKIP_MPICXX=1"],
        headers = ["mpi/mpi_portable_platform.h"],
        package = "libopenmpi-dev openmpi-bin",
        targets = {"mpi": ["mpi"]},
    )

    # Lines that are edited on a terminal.
    system_library_repository(
        name = "libedit",
        headers = ["editline/readline.h"],
        package = "libedit-dev",
        targets = {"edit": ["edit", "tinfo", "bsd", "md"]},
    )

    # HTTP and sockets; headers only.
    system_library_repository(
        name = "boost",
        headers = ["boost/asio/io_context.hpp", "boost/beast/http/parser.hpp"],
        package = "libboost-dev",
        targets = {"boost": ["pthread"]},
    )

    # Headers only: runtime/media compiles what it uses.
    system_library_repository(
        name = "stb",
        headers = ["stb/stb_image.h", "stb/stb_image_write.h"],
        package = "libstb-dev",
        targets = {"stb": []},
    )

    # A faster malloc than glibc's, for tools that compile.
    system_library_repository(
        name = "tcmalloc",
        headers = ["gperftools/malloc_extension.h"],
        package = "libgoogle-perftools-dev",
        targets = {"tcmalloc_minimal": ["tcmalloc_minimal", "pthread"]},
    )

    # What only the tests link.
    llvm_tools_repository(name = "llvm_tools")
    system_library_repository(
        name = "gtest",
        headers = ["gtest/gtest.h", "gmock/gmock.h"],
        package = "libgtest-dev libgmock-dev",
        targets = {
            "gtest": ["gmock", "gtest", "pthread"],
            "gtest_main": ["gtest_main", "gmock", "gtest", "pthread"],
        },
    )
    system_library_repository(
        name = "protozero",
        headers = ["protozero/pbf_reader.hpp"],
        package = "libprotozero-dev",
        targets = {"protozero": []},
    )
    system_library_repository(
        name = "benchmark",
        headers = ["benchmark/benchmark.h"],
        package = "libbenchmark-dev",
        targets = {
            "benchmark": ["benchmark", "pthread"],
            "benchmark_main": ["benchmark_main", "benchmark", "pthread"],
        },
    )
    system_library_repository(
        name = "z3",
        headers = ["z3++.h"],
        package = "libz3-dev",
        targets = {"z3": ["z3"]},
    )
    system_library_repository(
        name = "mpfr",
        headers = ["mpfr.h"],
        package = "libmpfr-dev",
        targets = {"mpfr": ["mpfr", "gmp"]},
    )
