#!/bin/bash
# Runs tests and counts them: `bazel test //...` (or what is given: options and targets), then a line
# "N passed, N failed" with the number of test cases, not of targets. Its status is that of the tests.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

targets=("$@")
[[ $# -gt 0 && "${*: -1}" != -* ]] || targets+=(//...)

# PoCL asks /sys for the machine's processors; a chroot may have none: describe a plain machine.
[[ -d /sys/devices/system/cpu ]] || export HWLOC_SYNTHETIC="NUMANode:1 core:$(nproc) pu:1"

events=$(mktemp)
trap 'rm -f "$events"' EXIT
bazel test --keep_going --build_event_json_file="$events" "${targets[@]}" < /dev/null
python3 tools/build/count_tests.py --status=$? "$events"
