"""python_test(): a Bazel test that runs the unittest cases of one Python file with python3."""

def python_test(name, main, args = [], data = [], **kwargs):
    """Runs `main`, which sees `args` in sys.argv, in the runfiles folder; counts its cases."""
    native.sh_test(
        name = name,
        srcs = ["//tools/build:python3.sh"],
        args = [
            "$(rootpath //tools/build:python_test_main.py)",
            "$(rootpath %s)" % main,
        ] + args,
        data = [main, "//tools/build:python_test_main.py"] + data,
        **kwargs
    )
