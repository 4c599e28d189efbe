#!/usr/bin/env bash
# Installs what is missing, builds, and shows in a few minutes what assay does: a comparison, a variant that
# drifted refused, planted defects refused, and what the daemon kept. Starts a daemon of its own with its own
# database under build/demo/ and stops it at the end.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

demo="$root/build/demo"
database="$demo/assay.db"
daemon_pid=""
socket_folder=""

# Ends the daemon by its own signal; its runners end with it.
stop_daemon() {
  if [ -n "$daemon_pid" ] && kill -0 "$daemon_pid" 2>/dev/null; then
    kill -TERM "$daemon_pid"
    wait "$daemon_pid" || true
  fi
  daemon_pid=""
  [ -z "$socket_folder" ] || rm -rf "$socket_folder"
}
trap stop_daemon EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# A Unix socket's path has a small limit, so it does not live under the repository.
start_daemon() {
  mkdir -p "$demo"
  socket_folder="$(mktemp -d)"
  export ASSAY_ADDRESS="unix:$socket_folder/assay.sock"
  "$demo/bin/assayd" --db "$database" --listen "$ASSAY_ADDRESS" --http 127.0.0.1:0 >"$demo/assayd.log" 2>&1 &
  daemon_pid=$!
  local tries=0
  until grep -q '^assayd listening on' "$demo/assayd.log"; do
    kill -0 "$daemon_pid" 2>/dev/null || die "the daemon did not start: $(tail -1 "$demo/assayd.log")"
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || die "the daemon is not ready after 30 seconds, see $demo/assayd.log"
    sleep 0.1
  done
}

assay="$demo/bin/assay"

# show STATUS WORDS...: prints the command, runs it, and insists on the exit status that it teaches.
show() {
  local expected="$1" status=0
  shift
  printf '\n$ assay %s\n' "$*"
  "$assay" "$@" || status=$?
  [ "$status" -eq "$expected" ] || die "exit status $status where $expected was expected"
}

show_device() {
  local device="$1"
  show 0 compare qsa_decode --baseline one_cell --candidate two_cell \
    -a kv=int8 -a 'n_q=[1:4]' -a 'width=[2051,32768]' --budget 20s --device "$device"
  printf '\nhw_exp has its own exponential and so its own bits: it is refused, however fast it is (exit status 3).\n'
  show 3 compare qsa_decode --baseline one_cell --candidate hw_exp -a kv=int8 --device "$device"
  printf '\nEvery planted defect must be refused, each by the check named here.\n'
  show 0 check qsa_decode --suite mutants --device "$device"
}

scripts/setup.sh build
scripts/build.sh ci assayd assay-runner assay
scripts/dashboards.sh
cmake --install build/ci --prefix "$demo" >/dev/null
start_daemon

show 0 devices
show_device cpu
gpu="$("$assay" devices --format csv | awk -F, '$2 ~ /^cuda/ && $3 == "true" { print $1; exit }')"
if [ -n "$gpu" ]; then
  show_device "$gpu"
fi

printf '\nExperiments of an H200 came with the repository; a receipt says what is in them.\n'
show 0 import docs/receipts/h200.assay
show 0 receipt --verify docs/receipts/h200.md
show 0 list

page="$(sed -n 's/^assayd listening on .*\(http:[^ ,]*\).*/\1/p' "$demo/assayd.log")"
if [ -t 1 ] && [ -d build/dashboards ]; then
  printf '\nEverything measured is kept in build/demo/assay.db. The dashboard shows it, until Ctrl-C ends the daemon:\n%s\n' "$page"
  wait "$daemon_pid"
fi
stop_daemon
cat <<END

Everything measured is kept in build/demo/assay.db: ask it with SQL (docs/database.md), or serve it again with
  build/demo/bin/assayd --db build/demo/assay.db --http 127.0.0.1:8417
and, in another terminal,
  build/demo/bin/assay show last
The dashboard is then at
  http://127.0.0.1:8417
END
