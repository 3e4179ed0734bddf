"""fuzz_target(): one LLVMFuzzerTestOneInput, replayed by every test run, fuzzed on request.

`bazel test //...` runs it on its corpus and on pseudo-random inputs (replay_main.cc). For real,
with clang, libFuzzer and the address sanitizer:

    bazel run --config=fuzz //ir:parser_fuzz -- -max_total_time=600
"""

load("//tools/build:cc.bzl", "cc_test")

def fuzz_target(name, srcs, deps = [], corpus = [], runs = 1000, mutations = 0, size = "small", **kwargs):
    """A fuzzer that is also a test.

    Args:
      name: of the test.
      srcs: sources, one of which defines LLVMFuzzerTestOneInput.
      deps: what it links.
      corpus: files that are replayed first.
      runs: how many pseudo-random inputs an ordinary test run adds.
      mutations: how many damaged copies of each file of the corpus it adds.
      size: Bazel's test size.
      **kwargs: as for cc_test.
    """
    cc_test(
        name = name,
        size = size,
        srcs = srcs,
        args = select({
            "//tools/build:fuzzing": ["-max_total_time=30"] + (
                ["-seed_inputs=" + ",".join(["$(rootpath %s)" % f for f in corpus])] if corpus else []
            ),
            "//conditions:default": ["--random=%d" % runs, "--mutations=%d" % mutations] + ["$(rootpath %s)" % f for f in corpus],
        }),
        data = corpus,
        linkopts = select({
            "//tools/build:fuzzing": ["-fsanitize=fuzzer"],
            "//conditions:default": [],
        }),
        deps = deps + select({
            "//tools/build:fuzzing": [],
            "//conditions:default": ["//tools/build:replay_main"],
        }),
        **kwargs
    )
