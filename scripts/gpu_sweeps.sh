# Parts of gpu_run.sh, which sources this: launch parameters and kernels that people bring themselves.
#
# sweeps: the spaces of each operator's launch parameters, then the tuning table as JSON, header and list. SWEEPS="qsa tree
# block" picks operators, WORKLOADS="q1 q7" their workloads, SPILL="[auto,run,group,slice]" more of the space. Writes sweeps.txt, tunings.json, tuned.h.
# bits: the checks of the three operators. Writes bits.txt.
# sources: kernels from source: old against new code, configurations that crash and hang, sums by atomics.
# history: a kernel from source that becomes 10 % slower at its seventh commit and is mended at its thirteenth: found, confirmed
# by a run of the same code, acknowledged, fixed, told by trend, list, query and receipt. Writes history.txt.
# rate: configurations a second of a sweep of 200, beside a loop that compiles and launches seven times.
# many: 5,000 kernels, half of which cannot be launched, and what memory they leave. Each writes to its NAME.txt.

sweep_axes() {
  case "$1" in
    # What is left open follows the table that these sweeps fill: only values that say something themselves are walked.
    qsa) echo "qsa_decode --variant two_cell -a cells_per_step=[1,2,4,8] -a merge_batch=[4,8,16,32]" \
      "-a merge_blocks=[1,2,4,8] -a prefetch=[off,l2]" ;;
    tree | block) echo "$1_attention --variant warpgroup -a pairs=[16,64,128] -a stages=[2:6]" \
      "-a spill=${SPILL:-auto} -a pdl=[on,off]" ;;
  esac
}

sweep_workloads() {
  case "$1" in
    qsa) echo "${WORKLOADS:-q1 q7}" ;;
    tree) echo "${WORKLOADS:-t1 t4 t9}" ;;
    block) echo "${WORKLOADS:-b2 b7 b10}" ;;
  esac
}

run_sweeps() {
  local status=0 which workload words rc
  start_daemon || return 1
  for which in ${SWEEPS:-qsa tree block}; do
    read -ra words <<<"$(sweep_axes "$which")"
    for workload in $(sweep_workloads "$which"); do
      echo "== assay sweep ${words[*]} --workload $workload"
      within "$assay" sweep "${words[@]}" --workload "$workload" --device "$device" --format markdown
      rc=$?
      [ "$rc" -eq 0 ] || status=1
      echo "exit status $rc"
    done
  done >"$out/sweeps.txt" 2>"$out/sweeps.log"
  {
    echo "== assay tuning list"
    "$assay" tuning list --format markdown
  } >>"$out/sweeps.txt"
  "$assay" tuning export --format json -o "$out/tunings.json" --overwrite || status=1
  "$assay" tuning export --format header -o "$out/tuned.h" --overwrite || status=1
  grep -E '^(==|winner|ties|exit|[0-9,]+ configurations?)' "$out/sweeps.txt"
  return "$status"
}

# Bits of everything that the checks of the three operators cover.
run_bits() {
  local operator status=0
  start_daemon || return 1
  for operator in qsa_decode tree_attention block_attention; do
    echo "== assay check $operator"
    within "$assay" check "$operator" --device "$device" || status=1
  done >"$out/bits.txt" 2>&1
  show_checks "$out/bits.txt"
  return "$status"
}

# measure_chain COMMIT...: the kernel in $scratch/chain, once for each commit.
measure_chain() {
  local commit
  for commit in "$@"; do
    "$assay" measure --spec "$scratch/chain/chain.json" --device "$device" --commit "$commit" --branch main \
      --label kernel=chain >"$scratch/measured" 2>&1 || { cat "$scratch/measured"; return 1; }
  done
}

# await_regressions STATE: one is in that state within a minute.
await_regressions() {
  local tries=0
  until "$assay" regressions --state "$1" --format csv 2>/dev/null | tail -n +2 | grep -q .; do
    tries=$((tries + 1))
    [ "$tries" -lt 120 ] || { "$assay" regressions --all; return 1; }
    sleep 0.5
  done
}

tell_history() {
  local operator newest
  echo "== old code"
  measure_chain 1111111 1111112 1111113 1111114 1111115 1111116 || return 1
  echo "== 10 % more steps"
  sed -i 's/kSteps = 4000/kSteps = 4400/' "$scratch/chain/chain.cu"
  measure_chain 2222221 2222222 2222223 2222224 2222225 2222226 || return 1
  await_regressions confirmed || return 1
  "$assay" regressions
  "$assay" regressions --fail-on confirmed >/dev/null
  [ $? -eq 6 ] || return 1
  "$assay" regressions acknowledge 1 --reason "more steps, on purpose" || return 1
  echo "== old code again"
  sed -i 's/kSteps = 4400/kSteps = 4000/' "$scratch/chain/chain.cu"
  measure_chain 3333331 3333332 3333333 3333334 3333335 3333336 || return 1
  await_regressions fixed || return 1
  "$assay" regressions --all
  operator="$("$assay" query "SELECT DISTINCT operator_name FROM series WHERE operator_name LIKE 'chain@%'" --format csv | tail -1)"
  "$assay" trend "$operator" || return 1
  "$assay" list --label kernel=chain --limit 3 || return 1
  "$assay" query "SELECT kind, count(*) FROM changes GROUP BY kind" || return 1
  "$assay" bits history --operator "$operator" || return 1
  newest="$("$assay" list --label kernel=chain --limit 1 --format csv | awk -F, 'NR == 2 { print $1 }')"
  "$assay" receipt "$newest" --format markdown -o "$scratch/receipt.md" || return 1
  "$assay" receipt --verify "$scratch/receipt.md"
}

run_history() {
  local status=0
  start_daemon || return 1
  mkdir -p "$scratch/chain"
  cp "$here"/sources/chain.* "$scratch/chain/"
  tell_history >"$out/history.txt" 2>&1 || status=1
  cat "$out/history.txt"
  return "$status"
}

run_sources() {
  local status=0
  start_daemon || return 1
  {
    echo "== old code against new code"
    "$assay" compare --spec "$here/sources/scale.json" --candidate new -a 'n=[1000,1000000,100000000]' --device "$device" ||
      status=1
    echo "== a crash and a hang in a sweep, and what comes after it"
    "$assay" sweep --spec "$here/sources/faults.json" --device "$device" --deadline 10s
    [ $? -eq 0 ] || status=1
    "$assay" measure --spec "$here/sources/faults.json" --device "$device" || status=1
    "$assay" devices || status=1
    echo "== a reference that is not deterministic"
    "$assay" compare --spec "$here/sources/atomics.json" --candidate again --device "$device"
    [ $? -eq 3 ] || status=1
  } >"$out/sources.txt" 2>&1
  grep -vE '^experiment [0-9]+: running' "$out/sources.txt"
  return "$status"
}

run_rate() {
  local status=0
  start_daemon || return 1
  {
    echo "== assay sweep, exhaustive"
    time "$assay" sweep --spec "$here/sources/tune.json" --device "$device" --format markdown || status=1
    echo "== assay sweep, 60 of them by the genetic strategy"
    time "$assay" sweep --spec "$here/sources/tune.json" --device "$device" --strategy genetic --budget 60 --seed 1 || status=1
    echo "== a plain loop"
    stop_daemon
    python3 "$here/sources/plain_loop.py" "$here/sources/tune.json" || status=1
  } >"$out/rate.txt" 2>&1
  grep -vE '^experiment [0-9]+: running' "$out/rate.txt" | grep -E '^(==|real|winner|ties|[0-9]+ conf|fastest|\||strategy)'
  return "$status"
}

# Used device memory, and the resident memory of the runner and of its compiler, in MiB.
memory_line() {
  local pid rss=""
  for pid in $(pgrep -f 'assay-runner --(device|compile)'); do
    rss+=" $(($(awk '/VmRSS/ { print $2 }' "/proc/$pid/status" 2>/dev/null || echo 0) / 1024))"
  done
  echo "$SECONDS s: device $(nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits | head -1) MiB, processes$rss MiB"
}

run_many() {
  local status=0 pid
  start_daemon || return 1
  mkdir -p "$scratch/many"
  cp "$here/sources/many.cu" "$scratch/many/"
  python3 -c 'import json
n = {"dtype": "i32", "value": "n"}
print(json.dumps({
    "name": "many", "summary": "small kernels, half of which ask for too much shared memory", "files": [{"name": "many.cu"}],
    "axes": [{"name": "n", "default_value": 4096, "min": 1, "max": 1000000}],
    "parameters": [{"name": "TAG", "values": [str(i) for i in range(2500)]}, {"name": "BYTES", "values": ["1024", "1048576"]}],
    "tensors": [{"name": "x", "dtype": "i32", "role": "input", "shape": ["n"], "fill": {"kind": "index"}},
                {"name": "y", "dtype": "i32", "role": "output", "shape": ["n"]}],
    "stages": [{"name": "add", "kernel": "add_tag", "arguments": [{"tensor": "x"}, {"tensor": "y"}, n],
                "grid": ["(n + 255) // 256"], "block": ["256"], "shared_bytes": "BYTES"}]}))' >"$scratch/many/many.json"
  {
    # Once before, so that the context and the compiler are there.
    "$assay" measure --spec "$scratch/many/many.json" --device "$device" --cache hot --rounds 1 --calls 3 >/dev/null || status=1
    memory_line
    "$assay" measure --spec "$scratch/many/many.json" --device "$device" --cache hot --rounds 1 --calls 3 \
      -a TAG=[0:2499] -a BYTES=[1024,1048576] --format csv >"$scratch/many.csv" 2>"$scratch/many.log" &
    pid=$!
    while kill -0 "$pid" 2>/dev/null && [ "$SECONDS" -lt "$part_end" ]; do
      sleep 15
      memory_line
      tail -n 1 "$scratch/many.log"
    done
    "$assay" list --limit 1
    python3 -c 'import collections, csv, sys
print(collections.Counter(row["outcome"] for row in csv.DictReader(sys.stdin)))' <"$scratch/many.csv"
    sed -n 2,3p "$scratch/many.csv" | cut -c 1-400
    "$assay" devices
  } >"$out/many.txt" 2>&1
  cat "$out/many.txt"
  return "$status"
}
