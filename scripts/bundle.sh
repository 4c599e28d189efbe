#!/usr/bin/env bash
# Builds preset ci and gathers under bundle/ everything that a GPU host without our libraries needs:
# programs, GPU tests, goldens, shared libraries and gpu_run.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

bundle="$root/bundle"
limit_mib=50

# The host's own: the C and C++ libraries, and what belongs to the driver or the toolkit.
left_out='^(ld-linux|libc\.so|libm\.so|libpthread|libdl|librt|libresolv|libgcc_s|libstdc\+\+|linux-vdso|libcuda|libcupti|libnvperf|libnvidia)'

scripts/build.sh ci assayd assay assay-runner assay_gpu_tests
grep -q '^ASSAY_CUDA:BOOL=ON' build/ci/CMakeCache.txt || die "needs a CUDA toolkit: build/ci has no CUDA backend"

rm -rf "$bundle"
cmake --install build/ci --prefix "$bundle" --strip
cmake --install build/ci --prefix "$bundle" --component gpu_tests --strip
install -m 755 scripts/gpu_run.sh scripts/gpu_trust.sh scripts/gpu_sweeps.sh scripts/attention_table.py "$bundle/"
mkdir -p "$bundle/sources"
install -m 644 scripts/gpu_sources/* docs/examples/scale* "$bundle/sources/"
# The competition's script, where it lies beside the repository.
peers=../shared/peers/attention_peers.py
[ ! -f "$peers" ] || install -m 644 "$peers" "$bundle/"

mkdir -p "$bundle/lib/assay"
find "$bundle/bin" "$bundle/libexec" -type f -perm -u+x -print0 | xargs -0 ldd |
  awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u | while read -r library; do
  [[ "$(basename "$library")" =~ $left_out ]] || install -m 644 "$library" "$bundle/lib/assay/"
done

# The same kernels lie in every test, which a window as large as all of them packs once.
XZ_OPT=-9 tar -cJf "$bundle/tests.tar.xz" -C "$bundle/libexec/assay" tests
rm -r "$bundle/libexec/assay/tests"

# Debug information of the distribution's libraries is already apart; what is left must fit.
size_mib="$(du -sm "$bundle" | cut -f1)"
[ "$size_mib" -lt "$limit_mib" ] || die "bundle/ is $size_mib MiB, the limit is $limit_mib MiB"
echo "bundle: $size_mib MiB in bundle/, run bundle/gpu_run.sh on the GPU host"
