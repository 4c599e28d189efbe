#!/usr/bin/env bash
# usage: OUT=FOLDER gpu_run.sh [PART]...
#
# Runs on a GPU host, inside the folder that bundle.sh made, and writes what it found under $OUT, at most 8 files: a log or
# table for each part, assay.db.tar.gz and assayd.log. A part that failed is named at the end, and the exit status is 1;
# the other parts run all the same.
#
# all (the default): tests parity sanitize faults cold hot
# attention: tree block attention_sanitize attention_times peers; the last two also write attention_table.md
# trust: bench modes controls planted ncu busy counters (gpu_trust.sh says what each is)
# sweeps bits sources history rate many (gpu_sweeps.sh)
#
# Each attention part ends by itself after PART_SECONDS (570) and says what it has not run. SHAPES="T2 T4 B5" picks the
# shapes of attention_times and peers, ARMS="warpgroup:result=skip" the variants of the former, PEERS="triton,cudnn" the
# peers of the latter; run both in one go, since cards and days differ.
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
  # More than what comes back from a GPU host in one file.
  if [ "$(stat -c %s "$out/assay.db.tar.gz" 2>/dev/null || echo 0)" -gt 16777216 ]; then
    rm "$out/assay.db.tar.gz"
    echo "assay.db.tar.gz is over 16 MiB and left out"
  fi
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

unpack_tests() {
  [ -d "$here/libexec/assay/tests" ] || tar -xJf "$here/tests.tar.xz" -C "$here/libexec/assay"
}

run_tests() {
  local test status=0
  unpack_tests || return 1
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
  unpack_tests || return 1
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
  local cache="$1" candidates=() merge cells plain=merge_batch=16,merge_blocks=1,prefetch=off
  start_daemon || return 1
  for merge in all_chunks bounded; do
    for cells in 1 2 4 8; do
      candidates+=(--candidate "two_cell:cells_per_step=$cells,merge=$merge,$plain")
    done
    candidates+=(--candidate "lane_cell:merge=$merge,$plain")
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

# ---- attention: every part within its time ----

part_seconds="${PART_SECONDS:-570}"
part_end=0

# Runs a command until the part's time is up; 124 when it was cut off.
within() {
  local left=$((part_end - SECONDS))
  [ "$left" -gt 0 ] || return 124
  timeout --kill-after=10 "$left" "$@"
}

# Everything that the check suites cover, then each form against the simplest kernel on shapes around the edges of a
# group: equal bits whatever the launch. Slower and undecided are no failures, a rejection is one.
check_attention() {
  local operator="$1" status=0 words
  shift
  start_daemon || return 1
  echo "== assay check $operator"
  within "$assay" check "$operator" --device "$device" || status=1
  while [ "$#" -gt 0 ]; do
    echo "== assay compare $operator --baseline direct $1"
    read -ra words <<<"$1"
    within "$assay" compare "$operator" --device "$device" --baseline direct --cache hot --rounds 1 --calls 3 \
      "${words[@]}" || status=1
    shift
  done
  [ "$SECONDS" -lt "$part_end" ] || echo "NOT RUN: what is left of $operator after $part_seconds s"
  return "$status"
}

show_checks() {
  grep -E '^(==|NOT RUN|invariances: |mutants: |goldens: |parity: |[0-9,]+ configurations?)' "$1" | tail -n 40
}

# Four warps with many or large tiles ahead need more shared memory than a block has, so small tiles go with deep rings.
run_tree() {
  local status=0 edges='-a streams=3 -a rows=[1,9] -a committed=[511,5000]' forms='-a form=[auto,four_warp,one_warp]'
  check_attention tree_attention \
    "--candidate warpgroup -a pairs=[16,64,128] -a stages=[2,4] -a spill=[auto,run,group,slice] -a sms=[0,7,47] $edges" \
    "--candidate warpgroup -a pdl=[on,off] -a result=[store,skip] $edges" \
    "--candidate staged $forms -a slots=[0,1,3,16] -a stages=[2,3,4] -a tile=16 $edges" \
    "--candidate staged $forms -a spill=[group,run] -a sms=[0,7,132,1000] -a tile=[16,32,64] -a stages=2 $edges" \
    "--candidate staged -a shared=[on,off] -a capacity=[0,262144] -a merge_batch=[1,4,16] -a blocks_per_sm=[0,2] $edges" \
    "--candidate wide -a tiles=[0,1,3] -a slots=[0,1,2] -a spill=[group,run] -a sms=[0,47] $edges" \
    >"$out/tree.txt" 2>&1 || status=1
  show_checks "$out/tree.txt"
  return "$status"
}

run_block() {
  local status=0 edges='-a streams=3 -a width=[7,16] -a context=5000 -a window=[64,2047] -a causal=[yes,no]'
  check_attention block_attention \
    "--candidate warpgroup -a pairs=[16,64,128] -a stages=[2,4] -a spill=[auto,run,group,slice] -a sms=[0,7,47] $edges" \
    "--candidate warpgroup -a pdl=[on,off] -a result=[store,skip] $edges" \
    "--candidate staged -a stages=[2,3,4] -a tile=16 -a skip=[on,off] $edges" \
    "--candidate staged -a spill=[group,run] -a sms=[0,7,132,1000] -a merge_batch=[1,16] -a tile=[16,32,64] -a stages=2 $edges" \
    >"$out/block.txt" 2>&1 || status=1
  show_checks "$out/block.txt"
  return "$status"
}

# Racecheck takes minutes for a kernel that runs for milliseconds: it gets the test that is made for it.
run_attention_sanitize() {
  local status=0 operator tool tests run="$scratch/sanitize.log"
  unpack_tests || return 1
  for tool in memcheck racecheck; do
    tests='*.RunsEachVariantOnOneWorkload'
    [ "$tool" = memcheck ] && tests+=':*.AGraphCapturedAtOneLengthServesOthers:*.NoStreamsLaunchNothing'
    for operator in tree_attention block_attention; do
      echo "== $tool $operator"
      within compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 20 \
        "$here/libexec/assay/tests/kernels_${operator}_gpu_test" --gtest_filter="$tests" >"$run" 2>&1
      case $? in
        # A filter that finds nothing and a host without a device prove nothing.
        0) grep -qE 'PASSED  \] [1-9]' "$run" && ! grep -q 'no CUDA device' "$run" || echo "NOT RUN: $tool $operator" ;;
        124 | 137) echo "NOT RUN: the rest of $tool $operator" ;;
        *) echo "FAILED: $tool $operator" ;;
      esac
      cat "$run"
    done
  done >"$out/attention_sanitize.log" 2>&1
  grep -qE '^(NOT RUN|FAILED): ' "$out/attention_sanitize.log" && status=1
  grep -E '^(== |NOT RUN|FAILED)|SUMMARY' "$out/attention_sanitize.log"
  return "$status"
}

# A list of JSON documents in one file.
join_json() {
  python3 -c 'import json, sys
print(json.dumps([json.load(open(path)) for path in sys.argv[1:]]))' "$@"
}

write_attention_table() {
  local file files=()
  for file in "$out/attention_times.json" "$out/peers.json"; do
    [ -f "$file" ] && files+=("$file")
  done
  python3 "$here/attention_table.py" "${files[@]}" >"$out/attention_table.md" && cat "$out/attention_table.md"
}

# What the operator's description says: `arms`, which need not copy the result that only checks look at, or the `workload`
# of a shape, whose letter is small in some operators.
described() {
  "$assay" operators "$1" --device "$device" --format json | python3 -c 'import json, sys
operator = json.load(sys.stdin)
if sys.argv[2] == "arms":
    named = [v["name"] for v in operator["variants"] if any(p["name"] == "result" for p in v["parameters"])]
    print(*[name + ":result=skip" for name in named])
else:
    print(next(w["name"] for w in operator["workloads"] if w["name"].upper() == sys.argv[3]))' "$@"
}

all_shapes="T1 T2 T3 T4 T5 T6 T8 T9 T10 T12 T13 B1 B2 B3 B4 B6 B7 B9 B10 B12 B13 B14 B5 B8 T7 T11 T14 T15 B11 T16 T17"
# The peers have no B12. Those of the shapes behind are not tuned: they have one mask only.
tuned_shapes="T1 T2 T3 T4 T5 T6 T8 T9 T10 T11 T12 T13 T14 B3 B5 B7 B9"
peer_shapes="$tuned_shapes B1 B2 B4 B6 B8 B10 B13 B14 T7 T15 T17 T16 B11"

run_attention_times() {
  local status=0 shape operator workload arm axes file files=()
  start_daemon || return 1
  for shape in ${SHAPES:-$all_shapes}; do
    operator=tree_attention axes=()
    [[ "$shape" == B* ]] && operator=block_attention axes=(-a 'causal=[no,yes]')
    workload="$(described "$operator" workload "$shape")" || {
      status=1
      echo "NOT RUN: $operator has no $shape"
      continue
    }
    for arm in ${ARMS:-$(described "$operator" arms)}; do
      file="$scratch/$shape.$arm.json"
      # Bits come first, so an arm that is rejected stays in the table without a time.
      within "$assay" measure "$operator" --variant "$arm" --workload "$workload" "${axes[@]}" --device "$device" \
        --cache cold --launch-mode graph --rounds 12 --deadline 300s --format json >"$file" 2>>"$out/assayd.log" || {
        status=1
        echo "NOT RUN or not sound: $shape $arm"
      }
      python3 -m json.tool "$file" >/dev/null 2>&1 && files+=("$file")
    done
  done
  [ "${#files[@]}" -gt 0 ] || return 1
  join_json "${files[@]}" >"$out/attention_times.json" || status=1
  write_attention_table || status=1
  return "$status"
}

run_peers() {
  local status=0 shape operator file files=() options
  # The card is the peers' alone.
  stop_daemon
  for shape in ${SHAPES:-$peer_shapes}; do
    operator=tree
    [[ "$shape" == B* ]] && operator=block
    file="$scratch/peers.$shape.json"
    options=()
    [ -n "${PEERS:-}" ] && options+=(--peers "$PEERS")
    [[ " $tuned_shapes " == *" $shape "* ]] || options+=(--mask full)
    within python3 "$here/attention_peers.py" "$operator" --shapes "$shape" --json "$file" "${options[@]}"
    if [ -s "$file" ]; then
      files+=("$file")
    else
      status=1
      echo "NOT RUN: peers on $shape"
    fi
  done
  [ "${#files[@]}" -gt 0 ] || return 1
  join_json "${files[@]}" >"$out/peers.json" || status=1
  write_attention_table || status=1
  return "$status"
}

source "$here/gpu_trust.sh"
source "$here/gpu_sweeps.sh"

parts=()
for part in "${@:-all}"; do
  case "$part" in
    all) parts+=(tests parity sanitize faults cold hot) ;;
    attention) parts+=(tree block attention_sanitize attention_times peers) ;;
    trust) parts+=(bench modes controls planted ncu busy counters) ;;
    *) parts+=("$part") ;;
  esac
done
for part in "${parts[@]}"; do
  declare -F "run_$part" >/dev/null || { echo "no part \`$part\`; see the head of this script" && exit 2; }
done
for part in "${parts[@]}"; do
  start=$SECONDS
  part_end=$((SECONDS + part_seconds))
  echo "== $part"
  "run_$part" || failures+=("$part")
  # What was cut off goes on in the daemon, and the next part is not to wait for it.
  [ "$SECONDS" -lt "$part_end" ] || stop_daemon
  echo "== $part: $((SECONDS - start)) s"
done
[ "${#failures[@]}" -eq 0 ] || { echo "failed: ${failures[*]}" && exit 1; }
