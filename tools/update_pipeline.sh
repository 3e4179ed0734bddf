#!/bin/sh
# Writes testdata/pipeline/*/ anew from each 00-input.uop: what every stage prints, and the kernel.
set -eu
cd "$(dirname "$0")/.."
bazel build //tools:tg-opt
opt="$(bazel info bazel-bin 2>/dev/null)/tools/tg-opt"
default=kernelize,schedule,lower,expand,devectorize,linearize
no_opts=kernelize,schedule:none,lower,expand,devectorize,linearize
stages() { # folder, pipeline, target
  folder=testdata/pipeline/$1
  scratch=$(mktemp -d)
  "$opt" --pass="$2" --target="$3" --dump-dir="$scratch" "$folder/00-input.uop" -o "$scratch/out"
  rm "$scratch/out"
  cp "$scratch"/*.uop "$folder/"
  "$opt" --pass="$2" --target="$3" --emit=opencl "$folder/00-input.uop" -o "$folder/kernel.cl"
  rm -r "$scratch"
}
stages multiply-add "$default" cl-cpu
stages matmul "$default" cl-gpu
stages conv "$no_opts" cl-gpu
