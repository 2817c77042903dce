#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The local port is chosen by its GUID: guid of fmd.conf, on the umad of a dual-port adapter.
set -u

. "$(dirname "$0")/fmsim.bash"
need
simulate "$top/tests/fabrics/dual-port.net"

fmd_with() { # GUID
	printf 'guid = %s\nlog_level = info\n' "$1" >"$dir/fmd.conf"
	rm -rf "$dir/state"
	timeout 60 bash -c '. "$0"; FMSIM_PRELOAD=$1 FMSIM_RUNTIME=$2; shift 2; exec_on_fmsim "$@"' \
		"$top/dev/fmsim-lib.sh" "$FMSIM_PRELOAD" "$FMSIM_RUNTIME" both "$build/fmd" --once \
		--config="$dir/fmd.conf" --state-dir="$dir/state" >"$dir/out" 2>&1
}
for port in 1 2; do
	fmd_with "0xa0$port" || fail "guid = 0xa0$port: fmd ends with an error"
	grep -q " port $port\$" "$dir/out" || fail "guid = 0xa0$port is not port $port"
done
fmd_with 0xb01 && fail "the GUID of another host's port is taken"
grep -q "no port of this host has the GUID 0x0000000000000b01" "$dir/out" || fail "no word of a GUID that is not here"
echo "ok: guid"
