#!/usr/bin/env bash
# usage: scripts/format.sh [--fix]: checks the layout of every source, or repairs it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mode=(--dry-run --Werror)
[ "${1:-}" = --fix ] && mode=(-i)
tree_files '*.h' '*.cpp' '*.cu' '*.cuh' | xargs -r -n 16 -P "$(nproc)" clang-format-14 "${mode[@]}"
