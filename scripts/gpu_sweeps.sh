# Parts of gpu_run.sh, which sources this: launch parameters and kernels that people bring themselves.
#
# sweeps: the spaces of each operator's launch parameters, then the tuning table as JSON, header and list. SWEEPS="qsa tree
# block" picks operators, WORKLOADS="q1 q7" their workloads. Writes sweeps.txt, tunings.json, tuned.h.

sweep_axes() {
  case "$1" in
    qsa) echo "qsa_decode --variant two_cell" ;;
    tree | block) echo "$1_attention --variant warpgroup -a pairs=[auto,16,64,128] -a stages=[0,2,3,4,5,6]" \
      "-a spill=[auto,run,group,slice] -a pdl=[on,off]" ;;
  esac
}

sweep_workloads() {
  case "$1" in
    qsa) echo "${WORKLOADS:-q1 q4 q7 q10}" ;;
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
  "$assay" tuning export --format json -o "$out/tunings.json" || status=1
  "$assay" tuning export --format header -o "$out/tuned.h" || status=1
  grep -E '^(==|winner|ties|exit|[0-9,]+ configurations?)' "$out/sweeps.txt"
  return "$status"
}
