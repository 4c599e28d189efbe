#!/usr/bin/env bash
# usage: OUT=FOLDER gpu_run.sh [tests|parity|sanitize|faults|cold|hot|all]...
#
# Runs on a GPU host, inside the folder that bundle.sh made, and writes what it found under $OUT: tests.log,
# sanitize.log, parity.txt, faults.txt, table_cold.md, table_hot.md, assay.db.tar.gz and assayd.log. A part that failed is
# named at the end, and the exit status is 1; the other parts run all the same.
set -uo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
out="${OUT:?OUT names the folder for the results}"
mkdir -p "$out"
device="${ASSAY_DEVICE:-cuda}"
assay="$here/bin/assay"
daemon_pid=""
scratch="$(mktemp -d)"
failures=()

# Waits for the daemon's own end, so that its database is whole when it is copied.
stop_daemon() {
  if [ -n "$daemon_pid" ] && kill -0 "$daemon_pid" 2>/dev/null; then
    kill -TERM "$daemon_pid"
    wait "$daemon_pid"
  fi
  daemon_pid=""
}

finish() {
  stop_daemon
  # With its log, if the daemon left one: the last commits are there.
  [ -f "$scratch/assay.db" ] && tar -czf "$out/assay.db.tar.gz" -C "$scratch" \
    $(cd "$scratch" && ls assay.db assay.db-wal 2>/dev/null)
  rm -rf "$scratch"
}
trap finish EXIT

start_daemon() {
  [ -n "$daemon_pid" ] && return 0
  export ASSAY_ADDRESS="unix:$scratch/assay.sock"
  "$here/bin/assayd" --db "$scratch/assay.db" --listen "$ASSAY_ADDRESS" "$@" >>"$out/assayd.log" 2>&1 &
  daemon_pid=$!
  local tries=0
  until [ -S "$scratch/assay.sock" ] && "$assay" devices >/dev/null 2>&1; do
    kill -0 "$daemon_pid" 2>/dev/null || return 1
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || return 1
    sleep 0.1
  done
}

run_tests() {
  local test status=0
  for test in "$here"/libexec/assay/tests/*_test; do
    echo "== $(basename "$test")"
    "$test" --gtest_brief=1 || status=1
  done >"$out/tests.log" 2>&1
  # A GPU host that shows no device has proved nothing.
  grep -q 'no CUDA device' "$out/tests.log" && status=1
  grep -E '^== |PASSED|FAILED|SKIPPED' "$out/tests.log"
  return "$status"
}

run_parity() {
  local status=0
  start_daemon || return 1
  for suite in parity mutants; do
    "$assay" check qsa_decode --suite "$suite" --device "$device" || status=1
  done >"$out/parity.txt" 2>&1
  grep -E '^(parity|mutants): ' "$out/parity.txt"
  return "$status"
}

# The kernels' own test under each tool: one workload for each variant and format.
run_sanitize() {
  local tool status=0
  for tool in memcheck racecheck; do
    echo "== $tool"
    compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 20 \
      "$here/libexec/assay/tests/kernels_qsa_decode_gpu_test" --gtest_filter='*.RunsEachVariantAndFormatOnOneWorkload' || status=1
  done >"$out/sanitize.log" 2>&1
  grep -E '^==|SUMMARY' "$out/sanitize.log"
  return "$status"
}

# A kernel that hangs is killed at its deadline, and the next experiment is fine: while the flag is there, every
# runner that starts spins in its first call.
run_faults() {
  local status=0
  stop_daemon
  cat >"$scratch/runner" <<END
#!/bin/sh
[ -e "$scratch/hang" ] && exec "$here/libexec/assay/assay-runner" --plant spin "\$@"
exec "$here/libexec/assay/assay-runner" "\$@"
END
  chmod +x "$scratch/runner"
  touch "$scratch/hang"
  start_daemon --runner "$scratch/runner" || return 1
  {
    "$assay" measure qsa_decode --variant one_cell --device "$device" --deadline 5s
    [ $? -eq 1 ] || status=1
    rm "$scratch/hang"
    "$assay" measure qsa_decode --variant one_cell --device "$device" || status=1
  } >"$out/faults.txt" 2>&1
  tail -n 5 "$out/faults.txt"
  stop_daemon
  return "$status"
}

# The table of the kernel's authors: both widths, every format, one to four queries, in one cache mode.
run_table() {
  local cache="$1" candidates=() merge cells
  start_daemon || return 1
  for merge in all_chunks bounded; do
    for cells in 1 2 4 8; do
      candidates+=(--candidate "two_cell:cells_per_step=$cells,merge=$merge")
    done
    candidates+=(--candidate "lane_cell:merge=$merge")
  done
  "$assay" compare qsa_decode --device "$device" --baseline one_cell "${candidates[@]}" --cache "$cache" \
    -a 'kv=[fp16,int8,q4_0,k8v4]' -a 'n_q=[1:4]' -a 'width=[2051,32768]' --format markdown >"$out/table_$cache.md"
  # Slower and undecided are results here; only a failure and a rejection are not.
  local status=$?
  grep -c '^| ' "$out/table_$cache.md"
  return "$status"
}

run_cold() {
  run_table cold
}

run_hot() {
  run_table hot
}

parts=("$@")
[ "${#parts[@]}" -gt 0 ] || parts=(all)
[ "${parts[0]}" = all ] && parts=(tests parity sanitize faults cold hot)
for part in "${parts[@]}"; do
  start=$SECONDS
  echo "== $part"
  "run_$part" || failures+=("$part")
  echo "== $part: $((SECONDS - start)) s"
done
[ "${#failures[@]}" -eq 0 ] || { echo "failed: ${failures[*]}" && exit 1; }
