#!/usr/bin/env bash
# Installs what is missing, builds and runs every check, cheapest first. The first failure stops.
#
#   format, layering, the web page, build and tests (preset ci), clang-tidy on changed files, ASan + UBSan, TSan
#
# Needs no GPU: tests that want one are skipped, and say so.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

logs=build/logs
mkdir -p "$logs"

# run_tests PRESET: the tests of one preset, their output kept for the summary at the end.
run_tests() {
  ctest --preset "$1" -j "$(nproc)" 2>&1 | tee "$logs/ctest-$1.log"
  return "${PIPESTATUS[0]}"
}

# The lines with which ctest itself ends.
summary() {
  printf '\n%s\n' "$1:"
  sed -n '/tests passed, .* tests failed out of/,$p' "$logs/ctest-$1.log"
}

sanitized() {
  scripts/build.sh "$1" assay_tests && run_tests "$1"
}

stage setup scripts/setup.sh
stage format scripts/format.sh
stage layering tests/style/layering.sh
stage page scripts/dashboards.sh check
stage build scripts/build.sh ci
stage tests run_tests ci
# Many changed files are many minutes of clang-tidy; the whole has to end in time.
stage tidy env ASSAY_TIDY_MINUTES=2 scripts/tidy.sh
stage asan sanitized asan
stage tsan sanitized tsan

printf '\nstage      minutes\n%s' "$stage_table"
summary tsan
summary asan
summary ci
