#!/usr/bin/env bash
# Builds the web page under build/dashboards, for assayd --dashboards. Without npm the daemon does without it, and says so.
#
#   scripts/dashboards.sh          builds
#   scripts/dashboards.sh check    checks the types too
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if ! command -v npm >/dev/null || ! command -v protoc >/dev/null; then
  echo "dashboards: npm or protoc is missing, so the page is not built (scripts/setup.sh installs both)" >&2
  exit 0
fi
cd dashboards
# What the lock file says is installed already is not installed again.
if ! cmp -s package-lock.json node_modules/.package-lock.installed; then
  npm ci --no-audit --no-fund --loglevel=error
  cp package-lock.json node_modules/.package-lock.installed
fi
node build.mjs
if [ "${1:-}" = check ]; then
  npm run --silent check
fi
