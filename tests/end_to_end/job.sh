# Sourced by the jobs with the real programs, which take ASSAYD ASSAY ASSAY_RUNNER GOLDENS: a daemon on a database in a
# folder of its own, and what is expected of each command.
set -uo pipefail
assayd="$1" assay="$2" runner="$3" goldens="$4"
folder="$(mktemp -d)"
daemon_pid=""
failures=0

stop_daemon() {
  [ -n "$daemon_pid" ] && kill -TERM "$daemon_pid" && wait "$daemon_pid"
  daemon_pid=""
}
trap 'stop_daemon; rm -rf "$folder"' EXIT

# start_daemon GOLDENS: on the database that is there, or a new one.
start_daemon() {
  export ASSAY_ADDRESS="unix:$folder/assay.sock"
  # What a daemon before this one said is not for the loop below.
  : >"$folder/assayd.log"
  "$assayd" --db "$folder/assay.db" --listen "$ASSAY_ADDRESS" --runner "$runner" --goldens "$1" \
    >>"$folder/assayd.log" 2>&1 &
  daemon_pid=$!
  local tries=0
  until grep -q '^assayd listening on' "$folder/assayd.log"; do
    kill -0 "$daemon_pid" 2>/dev/null && [ "$((tries += 1))" -lt 300 ] || { cat "$folder/assayd.log" && exit 1; }
    sleep 0.1
  done
}

# complain TEXT...: one more failure, with what the last command printed.
complain() {
  printf 'FAILED: %s\n' "$*"
  cat "$folder/out.txt" "$folder/err.txt" 2>/dev/null
  failures=$((failures + 1))
}

# expect STATUS TEXT WORDS...: runs assay WORDS and insists on its exit status and on a line that has TEXT.
expect() {
  local wanted="$1" text="$2" status=0
  shift 2
  "$assay" "$@" >"$folder/out.txt" 2>"$folder/err.txt" || status=$?
  if [ "$status" -ne "$wanted" ] || ! grep -qF -- "$text" "$folder/out.txt" "$folder/err.txt"; then
    complain "assay $*: exit status $status, expected $wanted and \"$text\""
  else
    printf 'ok: assay %s: %s\n' "$*" "$text"
  fi
}
