# Sourced by the other scripts: the repository's root, the compiler cache, the CUDA compiler, stages with their minutes.
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

# Objects are shared by every build folder and survive its removal, once the folder of the cache is there: a first
# build would only pay for it.
export CCACHE_DIR="${CCACHE_DIR:-$root/build/ccache}"
# Sources share precompiled headers, which the cache keeps with this only.
export CCACHE_SLOPPINESS=pch_defines,time_macros
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE="${CCACHE_MAXSIZE:-3G}"
if command -v ccache >/dev/null && [ -d "$CCACHE_DIR" ]; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
fi

# A toolkit in its usual place is found although it is not on the path.
if [ -z "${CUDACXX:-}" ] && ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
  export CUDACXX=/usr/local/cuda/bin/nvcc
fi

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# The repository's own files, one a line, from git where there is a work tree and from the folder in a plain copy.
tree_files() {
  if [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$root" ]; then
    git ls-files --cached --others --exclude-standard -- "$@" | while read -r file; do
      [ -f "$file" ] && printf '%s\n' "$file"
    done
  else
    local names=() pattern
    for pattern in "$@"; do
      names+=(-o -name "${pattern##*/}")
    done
    find . -path ./build -prune -o -path ./bundle -prune -o -path ./.git -prune \
      -o -type f \( -false "${names[@]}" \) -print | sed 's|^\./||' | sort
  fi
}

stage_table=""

# stage NAME COMMAND...: runs it, ends the script with its status when it fails, notes its minutes.
stage() {
  local name="$1" start="$SECONDS" status=0 minutes
  shift
  printf '\n== %s\n' "$name"
  "$@" || status=$?
  minutes="$(awk -v s=$((SECONDS - start)) 'BEGIN { printf "%.1f", s / 60 }')"
  if [ "$status" -ne 0 ]; then
    printf '== %s: failed after %s minutes\n' "$name" "$minutes" >&2
    exit "$status"
  fi
  printf '== %s: %s minutes\n' "$name" "$minutes"
  stage_table+="$(printf '%-10s %6s' "$name" "$minutes")"$'\n'
}
