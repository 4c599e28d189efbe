# Parts of gpu_run.sh, which sources this: what the numbers of a device are worth. `trust` is all of them.
#
# bench: ceilings. modes: a copy that fits into the L2, hot and cold, launched and in graphs. controls: 200 A/A of kernels from
# 1 us to 1 ms. planted: 100 times a slow-down of 2 % of a kernel of 20 us. ncu: one kernel by activity, events, graphs and ncu.
# busy: what a runner says under another profiler. counters: counters and rooflines of each operator's large workload.
# Each writes to trust_NAME.txt.

# Fast enough to be one experiment: so many chains of rounds, evenly spread by length.
control_steps() {
  python3 -c 'import itertools
wanted = [round(10 * 15000 ** (i / 199)) for i in range(200)]
print(*itertools.accumulate(wanted, lambda last, steps: max(last + 1, steps)), sep=",")'
}

run_bench() {
  start_daemon || return 1
  "$assay" device bench --device "$device" >"$out/trust_bench.txt" 2>&1 || return 1
  "$assay" devices >>"$out/trust_bench.txt" 2>&1
  cat "$out/trust_bench.txt"
}

run_modes() {
  local mode cache status=0
  start_daemon || return 1
  for mode in stream graph; do
    for cache in hot cold; do
      echo "== $cache $mode"
      "$assay" measure calibration --device "$device" --variant fours --workload copy_l2 --cache "$cache" \
        --launch-mode "$mode" || status=1
      "$assay" show last --explain || status=1
    done
  done >"$out/trust_modes.txt" 2>&1
  grep -E '^(==|fours|total)' "$out/trust_modes.txt"
  return "$status"
}

# What the statistical verdict says, and how long a configuration took, of the newest experiment.
tell_verdicts() {
  "$assay" show last --format json | python3 -c 'import collections, json, sys
experiment = json.load(sys.stdin)
said = collections.Counter()
seconds = []
for configuration in experiment["configurations"]:
    verdict = configuration["verdicts"][-1]
    said[verdict.get("statistical_verdict", "none")] += 1
    seconds.append(int(configuration["elapsed_ns"]) / 1e9)
    total = next((s for s in verdict.get("stages", []) if s["stage"] == "total"), {})
    print(configuration["configuration"], *[a["name"] + "=" + a["value"] for a in configuration["workload"]["axes"]],
          verdict.get("statistical_verdict"), total.get("baseline_median_ns"), total.get("candidate_median_ns"),
          total.get("ratio"), total.get("ratio_low"), total.get("ratio_high"), total.get("num_rounds"),
          f"{seconds[-1]:.2f} s", "|", verdict["reason"])
print("statistical verdicts:", dict(said))
print(f"seconds: {sum(seconds):.1f} in all, {max(seconds):.2f} at most")'
}

run_controls() {
  start_daemon || return 1
  within "$assay" compare calibration --device "$device" --baseline plain --candidate plain --cache hot \
    -a elements=4224 -a "steps=[$(control_steps)]" --format csv >"$scratch/controls.csv" 2>&1
  tell_verdicts >"$out/trust_controls.txt" 2>&1
  tail -n 2 "$out/trust_controls.txt"
}

# The chain that takes 20 us here, from one that takes about as long.
steps_of_20_us() {
  "$assay" measure calibration --device "$device" --variant plain --cache hot -a elements=4224 -a steps=2800 --format json |
    python3 -c 'import json, sys
stages = json.load(sys.stdin)["configurations"][0]["verdicts"][-1]["stages"]
print(round(2800 * 20000 / int(next(s for s in stages if s["stage"] == "total")["baseline_median_ns"])))'
}

run_planted() {
  local steps
  start_daemon || return 1
  steps="${STEPS:-$(steps_of_20_us)}" || return 1
  within "$assay" compare calibration --device "$device" --baseline plain --candidate "plain:extra=${EXTRA:-18}" --cache hot \
    --least-effect 0.5% -a 'elements=[4125:4224]' -a "steps=$steps" --format csv >"$scratch/planted.csv" 2>&1
  tell_verdicts >"$out/trust_planted.txt" 2>&1
  tail -n 2 "$out/trust_planted.txt"
}

# A daemon whose runner is started under ncu, which then has the process: kernel times are refused, events are not.
start_under_ncu() {
  stop_daemon
  cat >"$scratch/under.json" <<END
{"devices": [{"name": "$device", "backend": "cuda:0", "launch_prefix": [$1]}]}
END
  start_daemon --config "$scratch/under.json"
}

ncu_options='"ncu", "--clock-control", "none", "--cache-control", "none", "--metrics", "gpu__time_duration.sum", "--print-units", "base", "--csv"'

# How many kernels ncu saw of those that a filter on NVTX ranges selects, in one experiment by events.
count_selected() {
  start_under_ncu "\"ncu\", \"--clock-control\", \"none\", \"--nvtx\", \"--nvtx-include\", \"$2\", \"--metrics\", \"gpu__time_duration.sum\", \"--csv\", \"--log-file\", \"$scratch/nvtx.csv\"" || return 1
  "$assay" measure "$1" --device "$device" --workload "$3" --cache hot --timing events --rounds 1 --calls 3 >/dev/null 2>&1
  stop_daemon
  printf 'ncu --nvtx-include %s: %s kernels of %s, by name:\n' "$2" "$(grep -c gpu__time_duration "$scratch/nvtx.csv")" "$1"
  grep -oE '[a-z_0-9]+_kernel' "$scratch/nvtx.csv" | sort | uniq -c
}

run_busy() {
  start_under_ncu "\"ncu\", \"--clock-control\", \"none\", \"--log-file\", \"$scratch/ncu_busy.txt\"" || return 1
  {
    "$assay" devices
    "$assay" measure calibration --device "$device" --workload c20 --cache hot
    echo "exit status $?"
    "$assay" measure calibration --device "$device" --workload c20 --cache hot --timing events --rounds 1 --calls 3
    echo "exit status $?"
    "$assay" measure calibration --device "$device" --workload c20 --cache hot --timing events --rounds 1 --calls 3 \
      --counters dram
    echo "exit status $?"
    count_selected qsa_decode merge/ q1
    count_selected qsa_decode 'baseline/call/chunk/' q1
  } >"$out/trust_busy.txt" 2>&1
  stop_daemon
  cat "$out/trust_busy.txt"
}

# The kernel of at least 100 us and the copy: what each way of timing says of the same kernel.
run_ncu() {
  local workload mode status=0
  start_daemon || return 1
  for workload in c1 c3 c10 c20 c1000; do
    echo "== $workload"
    "$assay" measure calibration --device "$device" --variant plain --workload "$workload" --cache hot || status=1
  done >"$out/trust_lengths.txt" 2>&1
  for workload in c100 copy_dram; do
    for mode in "--timing activity" "--timing events" "--launch-mode graph" "--launch-mode graph --timing activity"; do
      echo "== $workload $mode"
      # shellcheck disable=SC2086
      "$assay" measure calibration --device "$device" --variant fours --workload "$workload" --cache hot $mode || status=1
    done
  done >"$out/trust_ncu.txt" 2>&1
  for workload in c100 copy_dram; do
    start_under_ncu "$ncu_options, \"--log-file\", \"$scratch/ncu_$workload.csv\", \"--kernel-name\", \"regex:calibration\", \"--launch-skip\", \"20\", \"--launch-count\", \"60\"" || return 1
    echo "== $workload ncu"
    "$assay" measure calibration --device "$device" --variant fours --workload "$workload" --cache hot --timing events \
      --rounds 2 --calls 20 --deadline 200s >/dev/null 2>&1
    # Its runner ends, and ncu writes what it saw.
    stop_daemon
    python3 - "$scratch/ncu_$workload.csv" <<'END'
import csv, statistics, sys
rows = [line for line in open(sys.argv[1]) if line.startswith('"')]
times = [float(row["Metric Value"].replace(",", "")) for row in csv.DictReader(rows)
         if row["Metric Name"] == "gpu__time_duration.sum"]
print(f"ncu gpu__time_duration.sum: {len(times)} launches, median {statistics.median(times) / 1000:.2f} us, "
      f"{min(times) / 1000:.2f} to {max(times) / 1000:.2f} us")
END
  done >>"$out/trust_ncu.txt" 2>&1
  cat "$out/trust_ncu.txt"
  return "$status"
}

run_counters() {
  local operator variant workload status=0
  start_daemon || return 1
  while read -r operator variant workload; do
    echo "== $operator $variant $workload"
    "$assay" measure "$operator" --device "$device" --variant "$variant" --workload "$workload" \
      --counters dram,l2,tensor,occupancy --rounds 4 || status=1
    "$assay" show last --explain || status=1
    "$assay" trace last --output "$scratch/trace_$operator.json" || status=1
  done >"$out/trust_counters.txt" 2>&1 <<END
tree_attention warpgroup t11
block_attention warpgroup b11
qsa_decode two_cell ${QSA_WORKLOAD:-q7}
calibration fours copy_dram
END
  cp "$scratch/trace_tree_attention.json" "$out/"
  cat "$out/trust_counters.txt"
  return "$status"
}
