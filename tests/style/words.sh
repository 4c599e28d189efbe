#!/usr/bin/env bash
# Fails when a file of the repository names a place on somebody's machine or leaves work undone.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"

forbidden='(^|[^A-Za-z0-9_.$}])/(work|home|root|Users|mnt)/[A-Za-z0-9_.]|\b(TODO|FIXME|XXX)\b|<{7} |>{7} '
if tree_files '*' | grep -vxF -e tests/style/words.sh -e LICENSE | xargs -r grep -nIE "$forbidden"; then
  echo "these lines name a machine's paths or leave work undone" >&2
  exit 1
fi
