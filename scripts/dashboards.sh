#!/usr/bin/env bash
# Builds the web page under build/dashboards, for assayd --dashboards. Without npm or what it fetches the daemon does without
# the page, and says so.
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
  # Node.js has certificates of its own; those that the system trusts count too.
  if [ -z "${NODE_EXTRA_CA_CERTS:-}" ] && [ -r /etc/ssl/certs/ca-certificates.crt ]; then
    export NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
  fi
  if ! npm ci --no-audit --no-fund --loglevel=error --fetch-retries=1; then
    echo "dashboards: npm cannot fetch the packages, so the page is not built and tests in a browser will be skipped" >&2
    rm -rf ../build/dashboards
    exit 0
  fi
  cp package-lock.json node_modules/.package-lock.installed
fi
node build.mjs
if [ "${1:-}" = check ]; then
  npm run --silent check
fi
