#!/usr/bin/env bash
# usage: tests/style/layering.sh [FOLDER...]: fails when a file includes what its folder may not, or starts with another
# header than its own. The table is the one of docs/development.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

abseil_status='absl/(status|strings|types)/'
abseil='absl/'
protobuf='google/protobuf/'
grpc='(grpc|grpcpp)/|google/protobuf/'
cuda='cuda|cooperative_groups|mma\.h'
cupti='cupti|generated_cuda|nvtx3/|nvml|nvperf'

# What a folder may include beside the C++ and POSIX headers, as one extended regular expression.
allowed() {
  case "$1" in
    proto) echo "proto/|$abseil|$protobuf|$grpc" ;;
    tuning) echo "tuning/|proto/|$abseil|xxhash" ;;
    history) echo "history/|proto/|$abseil" ;;
    kernels) echo "kernels/|$abseil_status" ;;
    profiler) echo "profiler/|proto/|tuning/|kernels/|$abseil|$protobuf|$cuda|$cupti|xxhash" ;;
    db) echo "db/|proto/|$abseil|$protobuf|sqlite3\.h" ;;
    server) echo "server/|proto/|tuning/|history/|db/|profiler/|$abseil|$grpc|httplib\.h|CLI/" ;;
    client) echo "client/|proto/|tuning/|history/|$abseil|$grpc|CLI/|nlohmann/|zlib\.h" ;;
    *) return 1 ;;
  esac
}

# A header of ours or of a library has a slash, an extension or one of these names; C and POSIX headers are free.
system='^(sys|linux|netinet|arpa|net|bits)/|^(cxxabi|dlfcn|errno|fcntl|poll|pthread|pwd|sched|semaphore|signal|spawn|stdio|stdlib|string|termios|time|unistd|syscall|limits|stdint|stddef|math|immintrin|cpuid|x86intrin|elf|link|getopt|sysexits)\.h$|^[a-z_0-9]+$'

# The daemon's part of the profiler: no device, no kernels.
device_half='^(kernels/|cuda|cupti|nvtx3/|nvml|generated_cuda)'

# The sources of assay_measure and assay_frames, without their ending.
pure_half=" $(grep -hoE '\b[a-z0-9_]+\.cpp\b' profiler/measure.cmake profiler/frames.cmake 2>/dev/null |
  sed 's/\.cpp$//' | sort -u | tr '\n' ' ' || true)"

# A header without a source has nothing to link and belongs to both halves.
is_pure() {
  local name="${1#profiler/}"
  name="${name%.h}"
  [[ "$pure_half" == *" $name "* || ! -f "profiler/$name.cpp" ]]
}

failed=0

complain() {
  printf '%s\n' "$1" >&2
  failed=1
}

includes_of() {
  sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]([^>"]+)[>"].*/\1/p' "$1"
}

check_file() {
  local folder="$1" file="$2" permitted include
  permitted="$(allowed "$folder")"
  case "$file" in
    *.cu | *.cuh | kernels/cuda_*.h | kernels/*/cuda_*.h) permitted="$permitted|$cuda" ;;
  esac
  while read -r include; do
    [ -n "$include" ] || continue
    if [[ "$include" == ../* || "$include" == ./* ]]; then
      complain "$file: includes \"$include\", not rooted at the repository"
    elif [[ ! "$include" =~ $system && ! "$include" =~ ^($permitted) ]]; then
      complain "$file: includes \"$include\", which $folder/ may not"
    elif [[ $folder == server && "$include" == profiler/* ]] && ! is_pure "$include"; then
      complain "$file: includes \"$include\" of the profiler's device half"
    fi
  done < <(includes_of "$file")

  # A source that starts with its header proves that the header compiles on its own; one for an instruction set
  # first asks whether it is there.
  local header="${file%.*}.h"
  if [[ "$file" == *.cpp && "$file" != *_avx2.cpp && -f "$header" && "$(includes_of "$file" | head -1)" != "$header" ]]; then
    complain "$file: its first include is not \"$header\""
  fi
}

# Nothing that the daemon links may reach a device: the sources of assay_measure name no device header.
check_pure_half() {
  local name file include
  for name in $pure_half; do
    for file in "profiler/$name.cpp" "profiler/$name.h"; do
      [ -f "$file" ] || continue
      while read -r include; do
        if [[ "$include" =~ $device_half ]] ||
          { [[ "$include" == profiler/* ]] && ! is_pure "$include"; }; then
          complain "$file: includes \"$include\" in the pure half"
        fi
      done < <(includes_of "$file")
    done
  done
}

folders=("$@")
[ "${#folders[@]}" -gt 0 ] || folders=(proto tuning history kernels profiler db server client)
for folder in "${folders[@]}"; do
  allowed "$folder" >/dev/null || complain "$folder: no rule for this folder"
  while read -r file; do
    check_file "$folder" "$file"
  done < <(find "$folder" -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) | sort)
  [ "$folder" = profiler ] && check_pure_half
done
exit "$failed"
