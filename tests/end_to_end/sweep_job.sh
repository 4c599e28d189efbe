#!/usr/bin/env bash
# usage: sweep_job.sh ASSAYD ASSAY ASSAY_RUNNER GOLDENS
#
# Sweeps on the cpu device with the real programs: winners, other bits, the tuning table, and a daemon that is killed in
# the middle of a sweep, which then goes on where it stood.
source "$(dirname "${BASH_SOURCE[0]}")/job.sh"

# One thread a call: a machine of few processors that has other work to do then takes no longer.
quick=(--device cpu --calls 3 --rounds 12)
two_cell=(qsa_decode --baseline one_cell:threads=1 --variant two_cell:threads=1)
tensor=(--baseline model_sm_90:threads=1 --variant model_sm_90:threads=1)

# samples_of ID NUM: every sample of its first NUM configurations.
samples_of() {
  "$assay" show "$1" --samples --format csv | awk -F, -v num="$2" 'NR > 1 && $1 <= num'
}

# num_stored ID: how many configurations it has.
num_stored() {
  "$assay" show "$1" --format csv | tail -n +2 | wc -l
}

start_daemon "$goldens"

# Killed once two configurations were seen to be finished.
expect 0 "experiment 1: " sweep "${two_cell[@]}" -a 'cells_per_step=[1,2,4,8]' -a 'merge_batch=[8,16]' \
  -a width=512 --device cpu --calls 20 --rounds 24 --drop-above 50% --detach
num_seen=0
coproc watch { "$assay" watch 1 2>&1; }
while read -r -u "${watch[0]}" line; do
  [[ "$line" =~ running,\ ([0-9]+)\ of ]] && num_seen="${BASH_REMATCH[1]}"
  [ "$num_seen" -ge 2 ] && break
done
kill -KILL "$daemon_pid"
wait "$daemon_pid" 2>/dev/null
daemon_pid=""
start_daemon "$goldens"
expect 0 "experiment 1 interrupted" show 1
num_kept="$(num_stored 1)"
if [ "$num_kept" -lt "$num_seen" ] || [ "$num_seen" -lt 2 ] || [ "$num_kept" -ge 8 ]; then
  complain "killed in mid-sweep: $num_seen of 8 configurations were seen, $num_kept kept"
fi
samples_of 1 "$num_kept" >"$folder/before.txt"
expect 0 "8 configurations: " sweep --resume 1
samples_of 1 "$num_kept" >"$folder/after.txt"
[ -s "$folder/before.txt" ] && cmp "$folder/before.txt" "$folder/after.txt" || complain "what was kept was measured again"
"$assay" show 1 --format csv >"$folder/out.txt"
num_arms="$(grep -o '"two_cell:[^"]*"' "$folder/out.txt" | sort -u | wc -l)"
[ "$num_arms" -eq 8 ] && [ "$(num_stored 1)" -eq 8 ] || complain "8 configurations, of which $num_arms are different"
expect 1 "is DONE, must be INTERRUPTED, CANCELLED or FAILED" sweep --resume 1

expect 0 "match   exact" tuning lookup qsa_decode -a width=512 --device cpu
expect 0 "match   nearest: width 512 for 700" tuning lookup qsa_decode -a width=700 --device cpu
expect 1 "not tuned" tuning lookup qsa_decode -a width=2051 --device cpu
expect 1 "bit drift" sweep qsa_decode --variant hw_exp:threads=1 -a 'cells_per_step=[2,4]' -a width=64 "${quick[@]}"
expect 0 "winner: model_sm_90:" sweep tree_attention "${tensor[@]}" -a 'pairs_per_tile=[16,32]' -a committed=64 -a rows=1 "${quick[@]}"
expect 0 "winner: model_sm_90:" sweep block_attention "${tensor[@]}" -a 'pairs_per_tile=[16,32]' -a context=64 "${quick[@]}"
expect 0 "at most 3 configurations of a workload" sweep "${two_cell[@]}" -a width=64 \
  --strategy random --seed 3 --budget 3 "${quick[@]}"
expect 0 "61 of 64 configurations not tried: at most 3 were asked for" receipt last
expect 0 "3 of 64 configurations tried, random" tuning lookup qsa_decode -a width=64 --device cpu
expect 0 "tree_attention" tuning list
"$assay" tuning export --format header -o "$folder/tuned.h"
grep -qF '{"qsa_decode", "two_cell", ' "$folder/tuned.h" || complain "the exported header has no entry of qsa_decode"

[ "$failures" -eq 0 ] && echo "sweeps: all as expected" || exit 1
