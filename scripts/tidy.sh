#!/usr/bin/env bash
# usage: scripts/tidy.sh [--all | FILE...]
#
# clang-tidy over the host sources that changed since the branch left main (ASSAY_BASE names another
# commit), over all of them, or over those named. A changed header is seen through a source that
# includes it. Needs a configured build/ci and its generated headers. What was clean is not read again
# while its preprocessed text stays the same: build/tidy holds one empty file for each such text.
# ASSAY_TIDY_MINUTES bounds it: files that are left then are named, and are no failure.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

compiler="$(g++ -dumpversion)"
if [ "${compiler%%.*}" != 12 ]; then
  echo "tidy: skipped, clang-tidy 14 does not read the standard library of g++ $compiler"
  exit 0
fi

clean=build/tidy
mkdir -p "$clean"
[ -f build/ci/compile_commands.json ] || die "build/ci is not configured: run scripts/build.sh ci first"

# clang-tidy reads no precompiled headers of g++: each source is read with what it includes itself.
commands="$clean/compile_commands.json"
sed -E 's/ -fpch-preprocess| -Winvalid-pch| -include [^ ]*cmake_pch\.hxx//g' build/ci/compile_commands.json >"$commands"

# A commit of main itself is compared with the one before it.
base_commit() {
  local candidate base head
  head="$(git rev-parse HEAD 2>/dev/null)" || return 1
  for candidate in ${ASSAY_BASE:-} origin/main main; do
    base="$(git merge-base HEAD "$candidate" 2>/dev/null)" || continue
    if [ "$base" != "$head" ]; then
      echo "$base"
      return 0
    fi
  done
  git rev-parse -q --verify HEAD~1
}

host_sources() {
  tree_files '*.cpp' | grep -E '^(proto|tuning|history|kernels|profiler|db|server|client)/' || true
}

# For each header on stdin its own source, else the first that includes it.
sources_of_headers() {
  local header sources
  while read -r header; do
    sources="$(host_sources | xargs -r grep -lF "#include \"$header\"" || true)"
    grep -xF "${header%.h}.cpp" <<<"$sources" || head -n 1 <<<"$sources"
  done
}

# Both committed and not, new files too.
changed() {
  {
    git diff --name-only --diff-filter=d "$base" -- "$1"
    git ls-files --others --exclude-standard -- "$1"
  } | grep -E '^(proto|tuning|history|kernels|profiler|db|server|client)/' || true
}

if [ $# -eq 0 ] && ! base="$(base_commit)"; then
  echo "tidy: no earlier commit to compare with; scripts/tidy.sh --all reads every source"
  exit 0
fi
if [ "${1:-}" = --all ]; then
  files="$(host_sources)"
elif [ $# -gt 0 ]; then
  files="$(printf '%s\n' "$@")"
else
  files="$({ changed '*.cpp' && changed '*.h' | sources_of_headers; } | sort -u | sed '/^$/d')"
fi
[ -n "$files" ] || { echo "tidy: no host source changed" && exit 0; }

# Only what the build compiles: sources of a backend that is not built have no command line.
known="$(sed -n 's|^ *"file": "\(.*\)",\{0,1\}$|\1|p' "$commands" | sed "s|^$root/||" | sort -u)"
files="$(grep -xF -f <(echo "$known") <<<"$files" || true)"
[ -n "$files" ] || { echo "tidy: no changed host source is compiled in build/ci" && exit 0; }

# All that the findings depend on. The launcher is left out of the command, and so are its outputs.
text_of() {
  local command
  command="$(grep -F -B 1 "\"file\": \"$root/$1\"" "$commands" |
    sed -n 's|^ *"command": "\(.*\)",$|\1|p' | head -n 1 |
    sed -E 's/\\(.)/\1/g; s/^.*ccache //; s/ -o [^ ]+ -c / -E -P -C -dD /')"
  clang-tidy-14 --version
  cat .clang-tidy
  (cd build/ci && eval "$command")
}

# The findings of one file in one piece, its seconds where any were needed.
tidy_one() {
  local file="$1" key output status=0 start="$SECONDS"
  key="$clean/$(text_of "$file" | sha256sum | cut -d ' ' -f 1)"
  [ ! -f "$key" ] || return 0
  if [ "$(date +%s)" -ge "$end" ]; then
    printf 'tidy: %s: not read, the time is used up\n' "$file"
    return 0
  fi
  output="$(clang-tidy-14 -p "$clean" --quiet "$file" 2>&1)" || status=$?
  if [ "$status" -ne 0 ]; then
    grep -vE '^[0-9]+ warnings? .*generated|^Suppressed|^Use -header-filter' <<<"$output"
    printf 'tidy: %s: findings, or clang-tidy failed with %d\n' "$file" "$status"
    return 1
  fi
  touch "$key"
  printf 'tidy: %s, %d s\n' "$file" "$((SECONDS - start))"
}

end=$(($(date +%s) + 60 * ${ASSAY_TIDY_MINUTES:-1000}))
export root commands clean end
export -f text_of tidy_one
echo "tidy: $(wc -l <<<"$files") files"
# shellcheck disable=SC2016
xargs -r -n 1 -P "$(nproc)" bash -c 'set -euo pipefail; tidy_one "$1"' tidy <<<"$files"
