#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# fmd and OpenSM on one fabric, in both orders: a better master is not touched
# (--once exits 4 and names it); a lesser one hands over; to a better one fmd
# hands over, and takes the subnet back when that one dies.
# Exit 77 (skipped) where opensm or ibsim is absent.
set -u
# shellcheck source=tests/integration/lib.bash
. "$(dirname "$0")/lib.bash"
need opensm
export FMD_PLUGIN_PATH=$build/plugins/engines

start_opensm() {
	rm -f "$dir/osm.log"
	OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir exec_on_ibsim "$1" opensm -d2 -p "$2" -f "$dir/osm.log" -s 2 >/dev/null 2>&1 &
	osm=$!
	await "$dir/osm.log" "SUBNET UP"
}

start_fmd() {
	cat >"$dir/fmd.conf" <<END
sm_priority = $1
sminfo_polling_timeout = 500ms
sweep_interval = 1s
control_socket = '$dir/socket'
END
	: >"$dir/fmd.out"
	exec_on_ibsim host-2-1 "$build/fmd" --config="$dir/fmd.conf" --state-dir="$dir/state" >"$dir/fmd.out" 2>&1 &
	fmd=$!
}

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net" "$dir/ibsim.out"

start_opensm host-1-1 5
on_ibsim host-2-1 "$build/fmd" --once --state-dir="$dir/state" >"$dir/fmd.out" 2>&1
code=$?
[ $code = 4 ] || fail "--once beside a better master exits with $code, not 4"
grep -q "host-1-1" "$dir/fmd.out" || fail "the better master is not named"
echo "ok: a better master is left alone"

# A new one: umad2sim knows no time-outs, so an OpenSM that asked the fmd just
# gone for SMInfo may wait for ever.
end_job "$osm"
start_opensm host-1-1 5
start_fmd 9
# It hands over, or, met while we discover, has stepped back already.
await "$dir/fmd.out" "SUBNET UP"
await "$dir/osm.log" "Entering STANDBY state"
echo "ok: a lesser master hands over"
end_job "$osm"

rm -f "$dir/osm.log"
: >"$dir/fmd.out"
exec_on_ibsim host-1-2 opensm -p 12 -f "$dir/osm.log" -s 2 >/dev/null 2>&1 &
osm=$!
await "$dir/fmd.out" "handing over\|standing by"
await "$dir/osm.log" "Entering MASTER state"
echo "ok: fmd gives way to a better one"

: >"$dir/fmd.out"
end_job "$osm"
await "$dir/fmd.out" "SUBNET UP"
echo "ok: fmd takes over from a dead master"
kill "$fmd"
wait "$fmd"
code=$?
[ $code = 0 ] || fail "SIGTERM ends fmd with $code"
echo "ok: SIGTERM ends fmd cleanly"
