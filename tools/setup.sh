#!/bin/bash
# Installs what tg needs on Debian or Ubuntu, and says what it does. Run it as often as you like:
# what is there already is left alone.
#
#   tools/setup.sh             everything, for working on tg and testing it
#   tools/setup.sh --run-only  only what building and running tg-run needs
#   tools/setup.sh --mpi       everything, and what tg-tune-mpi needs
#
# It needs root, or sudo. Without either, or on another system, it lists what is missing and stops.
set -euo pipefail

mpi=no
case "${1:-}" in
  "") tests=yes ;;
  --run-only) tests=no ;;
  --mpi) tests=yes mpi=yes ;;
  -h | --help) sed -n '2,/^set /p' "$0" | sed -n 's/^# \{0,1\}//p'; exit 0 ;;
  *) echo "setup.sh: unknown option '$1' (there are --run-only and --mpi)" >&2; exit 2 ;;
esac

# In the order in which third_party/llvm.bzl looks for them.
llvm_versions="19 22 21 20 18 17 16 15 14"

# --- What building and running needs --------------------------------------------------------------
packages=(
  # Bazel and its rule sets; with them Bazel downloads nothing.
  bazel-bootstrap bazel-platforms bazel-rules-cc bazel-rules-java bazel-rules-proto bazel-skylib
  g++ libabsl-dev
  # What LLVM's static Support library links (the last one before LLVM 19).
  zlib1g-dev libzstd-dev libncurses-dev
  # A malloc for tools that compile.
  libgoogle-perftools-dev
  # OpenCL: headers and loader.
  ocl-icd-opencl-dev
  # Reads protocol buffers, the format of ONNX files.
  libprotozero-dev
  # Reads and writes pictures.
  libstb-dev
  # Regular expressions and properties of characters, for tokenizers.
  libpcre2-dev libutf8proc-dev
  # Edits lines on a terminal.
  libedit-dev
  # HTTP: the headers of Boost.Asio and Boost.Beast.
  libboost-dev
)
# --- What the tests need besides ------------------------------------------------------------------
if [[ $tests == yes ]]; then
  packages+=(
    python3 libgtest-dev libgmock-dev libbenchmark-dev
    # What searches for schedules have measured.
    libsqlite3-dev
    # PoCL, an OpenCL device that is the CPU.
    pocl-opencl-icd
    # Proves the rewrite rules.
    libz3-dev
    # Exact values of mathematical functions.
    libmpfr-dev
    # Runs kernels under a checker of memory accesses and races.
    oclgrind
    # The format check, and clang with libFuzzer for --config=fuzz.
    clang-format-14 clang libclang-rt-14-dev
    # Builds and runs the examples from the packages.
    python3-numpy python3-venv cmake pkg-config
    # tools/replay compares commits.
    git
  )
fi

if [[ $mpi == yes ]]; then packages+=(libopenmpi-dev openmpi-bin); fi

if ! command -v apt-get dpkg-query > /dev/null; then
  cat >&2 <<EOF
setup.sh: this is neither Debian nor Ubuntu, so nothing was installed. tg needs:
  - Bazel 4.2.3 with rules_cc, rules_java, rules_proto, platforms and bazel_skylib below
    /usr/share/bazel (as Debian's bazel-bootstrap, bazel-rules-* and bazel-skylib lay them out)
  - a C++20 compiler (g++ 12 or newer)
  - LLVM 14 or newer with its static libraries, zlib, zstd and, before LLVM 19, ncurses
  - gperftools with libtcmalloc_minimal
  - protozero 1.7 or newer
  - PCRE2 with its library for 8-bit characters, and utf8proc
  - libedit with libbsd and libmd, and the headers of Boost 1.74 or newer (Asio, Beast)
  - stb_image and stb_image_write, as <stb/stb_image.h> and <stb/stb_image_write.h>
  - Abseil (20220623 or newer), the OpenCL headers and ICD loader
  - for tg-tune: SQLite 3; for tg-tune-mpi: Open MPI
  - for the tests: PoCL, python3, LLVM's FileCheck, not, split-file and lit, GoogleTest with gMock, Google
    Benchmark, Z3 with its C++ header, MPFR, Oclgrind, clang-format 14, clang with libFuzzer, git
EOF
  exit 1
fi

installed() {
  [[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2> /dev/null)" == installed ]]
}

available() {
  [[ -n "$(apt-cache policy "$1" 2> /dev/null | sed -n 's/^ *Candidate: //p' | grep -v '(none)')" ]]
}

# The LLVM packages of a version.
llvm_packages() {
  echo "llvm-$1-dev"
  if [[ $tests == yes ]]; then echo "llvm-$1-tools"; fi
}

# Prints the first version of LLVM all of whose packages pass the test "$1", if there is one.
first_llvm() {
  local version package
  for version in $llvm_versions; do
    for package in $(llvm_packages "$version"); do
      "$1" "$package" || continue 2
    done
    echo "$version"
    return
  done
}

missing=()
for package in "${packages[@]}"; do
  installed "$package" || missing+=("$package")
done
llvm=$(first_llvm installed)

if [[ ${#missing[@]} == 0 && -n $llvm ]]; then
  echo "setup.sh: everything is installed (LLVM $llvm)."
  exit 0
fi

as_root=()
if [[ $(id -u) != 0 ]]; then
  if ! command -v sudo > /dev/null; then
    [[ -n $llvm ]] || missing+=("llvm-19-dev and llvm-19-tools (or another version from 14)")
    echo "setup.sh: not root, and there is no sudo. Ask for these packages:" >&2
    printf '  %s\n' "${missing[@]}" >&2
    exit 1
  fi
  as_root=(sudo)
  # Without a terminal nobody can type a password.
  [[ -t 0 ]] || as_root=(sudo -n)
fi

apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 \
    -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" < /dev/null
}

echo "setup.sh: reading the package lists (apt-get update)"
apt update
if [[ -z $llvm ]]; then
  llvm=$(first_llvm available)
  if [[ -z $llvm ]]; then
    echo "setup.sh: no package of LLVM 14 or newer is available here" >&2
    exit 1
  fi
  for package in $(llvm_packages "$llvm"); do
    installed "$package" || missing+=("$package")
  done
fi
echo "setup.sh: installing ${missing[*]}"
apt install -y --no-install-recommends "${missing[@]}" > /dev/null
echo "setup.sh: done (LLVM $llvm)."
