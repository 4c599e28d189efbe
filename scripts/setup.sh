#!/usr/bin/env bash
# Installs from the distribution what is missing, and nothing else. Debian 12 and Ubuntu 24.04.
#
#   scripts/setup.sh          to build, test and check the style
#   scripts/setup.sh build    to build and run only
#
# When everything is there, build/tools/promtool included, it needs neither root nor a network.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

packages=(
  g++ cmake ninja-build pkg-config git ca-certificates
  protobuf-compiler libprotobuf-dev protobuf-compiler-grpc libgrpc++-dev libabsl-dev
  libsqlite3-dev libxxhash-dev libcpp-httplib-dev libcli11-dev nlohmann-json3-dev zlib1g-dev
  libgtest-dev libgmock-dev libbenchmark-dev
)
case "${1:-all}" in
  build) ;;
  all)
    packages+=(sqlite3 clang-format-14 clang-tidy-14)
    # Ubuntu's package only fetches a snap: the tests in a browser are skipped there.
    grep -qs '^ID=debian' /etc/os-release && packages+=(chromium)
    ;;
  *) die "usage: scripts/setup.sh [build]" ;;
esac

# Whichever Node.js is there will do.
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  packages+=(nodejs npm)
fi

# The metrics are checked with Prometheus' own tool, without installing its service.
fetch_promtool() {
  local folder
  if [ "${1:-all}" = build ] || [ -x build/tools/promtool ]; then
    return
  fi
  mkdir -p build/tools
  folder="$(mktemp -d)"
  if (cd "$folder" && apt-get download -q prometheus && dpkg-deb -x prometheus_*.deb .) >/dev/null 2>&1; then
    install -m 755 "$folder/usr/bin/promtool" build/tools/promtool
    echo "setup: build/tools/promtool is there"
  else
    echo "setup: prometheus cannot be fetched, so a test of the metrics will be skipped" >&2
  fi
  rm -rf "$folder"
}

command -v dpkg-query >/dev/null ||
  die "needs Debian 12 or Ubuntu 24.04; elsewhere install what corresponds to: ${packages[*]}"

installed="$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null |
  awk '$2 == "installed" { print $1 }' || true)"
missing=()
for package in "${packages[@]}"; do
  grep -qxF "$package" <<<"$installed" || missing+=("$package")
done
if [ "${#missing[@]}" -eq 0 ]; then
  echo "setup: everything is installed"
  fetch_promtool "$@"
  exit 0
fi

# shellcheck disable=SC1091
distribution="$(. /etc/os-release && echo "$ID $VERSION_ID")"
case "$distribution" in
  "debian 12" | "ubuntu 24.04") ;;
  *) echo "setup: $distribution is not tried, going on with the names of Debian 12" >&2 ;;
esac

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || die "needs root or sudo to install: ${missing[*]}"
  as_root=(sudo)
fi

echo "setup: installing ${missing[*]}"
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -q -y --no-install-recommends "${missing[@]}"
fetch_promtool "$@"
