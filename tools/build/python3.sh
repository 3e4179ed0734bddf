#!/bin/sh
# What a python_test() starts; Bazel 4's own py_test wants a `python` that Debian does not have.
exec python3 "$@"
