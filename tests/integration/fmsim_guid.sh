#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The local port is chosen by its GUID: guid of fmd.conf, on the umad of a dual-port adapter.
set -u

. "$(dirname "$0")/fmsim.bash"
need ibstat
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

# What a check can tell without a fabric: whether the adapter and the port are there.  They may
# come while a service starts: it warns.
check_with() { # LINE
	echo "$1" >"$dir/fmd.conf"
	run_on both "$build/fmd" --check --config="$dir/fmd.conf" >"$dir/out"
}
is_right() { # LINE
	check_with "$1"
	[ ! -s "$dir/tool.err" ] || fail "$1: $(cat "$dir/tool.err")"
}
warns() { # LINE SENTENCE
	check_with "$1"
	grep -qF "fmd.conf:1: $2" "$dir/tool.err" || fail "$1: $(cat "$dir/tool.err")"
}
ca=$(on_fmsim both ibstat -l | head -n 1)
is_right "guid = 0xa01"
is_right "transport = umad:$ca"
is_right "transport = umad:$ca:2"
warns "guid = 0xb01" "guid: no port of this host has the GUID 0x0000000000000b01 (ibstat -p lists those that it has)"
warns "transport = umad:0xb01" "transport: no port of this host has the GUID 0x0000000000000b01"
warns "transport = umad:mlx5_9" "transport: this host has no adapter mlx5_9 (ibstat -l lists those that it has)"
warns "transport = umad:$ca:7" "transport: the adapter $ca has no port 7 (ibstat $ca lists those that it has)"
echo "ok: --check looks for the port"
