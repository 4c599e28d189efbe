#!/usr/bin/env bash
# usage: scripts/build.sh PRESET [TARGET...]: configures build/PRESET once, then builds.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset="${1:?usage: scripts/build.sh PRESET [TARGET...]}"
shift

# Warnings are errors with the compiler they were cleaned for; another one may know more of them.
options=()
compiler="$(g++ -dumpversion)"
if [ "${compiler%%.*}" != 12 ]; then
  options+=(-DASSAY_WERROR=OFF)
fi

ninja_file="build/$preset/build.ninja"
if [ ! -f "$ninja_file" ] || [ CMakePresets.json -nt "$ninja_file" ]; then
  cmake --preset "$preset" "${options[@]}"
fi
ninja -C "build/$preset" -j "$(nproc)" "$@"
