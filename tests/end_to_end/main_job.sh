#!/usr/bin/env bash
# usage: main_job.sh ASSAYD ASSAY ASSAY_RUNNER GOLDENS
#
# The main job on the cpu device with the real programs: every suite passes and reproduces the goldens of the
# repository, a golden that is broken fails the check, a drifting variant is refused.
source "$(dirname "${BASH_SOURCE[0]}")/job.sh"

receipts="$(dirname "${BASH_SOURCE[0]}")/../../docs/receipts"
start_daemon "$goldens"
expect 0 "two_cell" operators qsa_decode
expect 0 "bits equal in 1 of 1; goldens: 1 reproduced" compare qsa_decode --baseline one_cell --candidate two_cell \
  -a kv=int8 -a n_q=1 -a width=2051 --device cpu --calls 3 --rounds 12
expect 3 "elements of \`out\` differ, first out[" compare qsa_decode --baseline one_cell --candidate hw_exp \
  -a kv=int8 -a n_q=1 -a width=2051 --device cpu --calls 3 --rounds 12
expect 0 "mutants: 14 of 14 rejected" check qsa_decode --suite mutants --device cpu
expect 0 "parity: 1,168 cases, 0 differ" check qsa_decode --suite parity --device cpu
expect 0 "goldens: 1,168 of 1,168 reproduced" show last
expect 0 "goldens: 116 of 116 reproduced" check qsa_decode --suite additions --device cpu
expect 0 "goldens: 29 of 29 reproduced" check qsa_decode --suite named --device cpu
expect 0 "goldens: 64 of 64 reproduced" check qsa_decode --suite subset --device cpu
expect 0 "bits equal in 1 of 1; goldens: 1 reproduced" compare tree_attention --baseline model_sm_90 \
  --candidate model_sm_90:isa=portable --workload t1 --device cpu --calls 3 --rounds 12
expect 0 "bits equal in 1 of 1; goldens: 1 reproduced" compare block_attention --baseline model_sm_90 \
  --candidate model_sm_90:isa=portable --workload b1 --device cpu --calls 3 --rounds 12
expect 0 "invariances: 16 of 16 hold" check tree_attention --device cpu
expect 0 "mutants: 14 of 14 rejected" show last
expect 0 "goldens: 259 of 259 reproduced" show last
expect 0 "invariances: 11 of 11 hold" check block_attention --device cpu
expect 0 "mutants: 9 of 9 rejected" show last
expect 0 "goldens: 337 of 337 reproduced" show last
expect 0 "invariances: 1 of 1 hold" check calibration --device cpu
expect 0 "mutants: 4 of 4 rejected" show last
expect 0 "goldens: 96 of 96 reproduced" show last
expect 0 "bits equal in 1 of 1; goldens: 1 reproduced" compare calibration --baseline plain \
  --candidate fours:extra=20 --workload c3 --device cpu --calls 3 --rounds 12
expect 0 "the budget was used: raise --budget" compare qsa_decode --baseline one_cell --candidate two_cell \
  -a kv=int8 -a n_q=1 -a width=2051 --device cpu --calls 3 --budget 1us
expect 0 "compare" list

# What is copied and exported now is asked for again from other databases below.
expect 0 " bytes" backup "$folder/copy.db"
expect 1 "is there already" backup "$folder/copy.db"
expect 0 "all.assay: " export --all --format archive --output "$folder/all.assay"
expect 0 "would remove 0 experiments" prune --older-than 1d --dry-run
"$assay" show 2 --samples --format csv >"$folder/before.csv"
num_experiments="$("$assay" list --format csv | tail -n +2 | wc -l)"
expect 0 " imported, 0 here already" import "$receipts/h200.assay"
expect 0 "matches: experiment " receipt --verify "$receipts/h200.md"
sed 's/parity: 1,168 cases/parity: 1,169 cases/' "$receipts/h200.md" >"$folder/changed.md"
expect 3 "1,169 cases" receipt --verify "$folder/changed.md"

# One digit of one golden is changed: the check fails and names the case.
mkdir "$folder/broken"
sed 's/\(\tsubset\/all\/7\tall\tbaseline\tany_device\t\)[0-9a-f]\{4\}/\1ffff/' "$goldens/qsa_decode.tsv" \
  >"$folder/broken/qsa_decode.tsv"
stop_daemon
rm -f "$folder"/assay.db*
start_daemon "$folder/broken"
expect 3 "subset/all/7" check qsa_decode --suite subset --device cpu

# same_again: experiment 2 of the daemon is what it was in the first database.
same_again() {
  "$assay" show 2 --samples --format csv >"$folder/after.csv"
  [ -s "$folder/before.csv" ] && cmp "$folder/before.csv" "$folder/after.csv" || complain "$1: experiment 2 is another one"
}
stop_daemon
rm -f "$folder"/assay.db*
start_daemon "$goldens"
expect 0 "$num_experiments experiments imported, 0 here already" import "$folder/all.assay"
expect 0 "0 experiments imported, $num_experiments here already" import "$folder/all.assay"
same_again "import"
stop_daemon
rm -f "$folder"/assay.db*
mv "$folder/copy.db" "$folder/assay.db"
start_daemon "$goldens"
same_again "backup"

[ "$failures" -eq 0 ] && echo "main job: all as expected" || exit 1
