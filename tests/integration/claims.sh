#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What fmd says of the subnet (status, trouble, verify, path, the SA, dist, isolate, systemctl
# status) under each of many faults is what is so in the simulator: a table of claims and faults.
# Exit 77 (skipped) where infiniband-diags is absent.
set -u

. "$(dirname "$0")/fmsim.bash"
need saquery python3
[ -x "$build/tests/integration/overwrite" ] || { echo "overwrite is not built: skipped"; exit 77; }

export FMSIM_PRELOAD FMSIM_RUNTIME # which claims.py gives to its children
python3 "$top/tests/integration/claims.py" "$build" "$dir/claims" "$@" || fail "what is said is not so"
