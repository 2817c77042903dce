#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# OpenSM brings a subnet up on fmsim, answers tables of many MADs (RMPP), and
# passes its own osmtest there: the simulator is honest to others too.
# Exit 77 (skipped) where opensm, osmtest or saquery is absent.
set -u

. "$(dirname "$0")/fmsim.bash"
need opensm osmtest saquery

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
start_opensm host-1-1
grep -E "ERR" "$dir/osm.log" | grep -v "ERR 3111" && fail "opensm complains"
echo "ok: SUBNET UP"

# 24 nodes at 108 bytes; 24 * 24 paths at 64 bytes: 185 MADs in one answer
n=$(run_on host-2-2 saquery | grep -c "NodeRecord dump")
[ "$n" = 24 ] || fail "$n NodeRecords of 24"
n=$(run_on host-4-1 saquery -p | grep -c "PathRecord dump")
[ "$n" = 576 ] || fail "$n PathRecords of 576"
# all at once, from different nodes
asking=()
for i in 1 2 3 4; do
	on_fmsim "host-3-$i" timeout 60 saquery -p >"$dir/paths.$i" 2>&1 &
	asking+=("$!")
done
for pid in "${asking[@]}"; do
	wait "$pid" || fail "saquery beside others fails"
done
for i in 1 2 3 4; do
	[ "$(grep -c "PathRecord dump" "$dir/paths.$i")" = 576 ] || fail "paths are lost beside others"
done
echo "ok: saquery"

# OpenSM sweeps again after the traps of its own bring-up, and osmtest wants a fabric at rest, for
# the inventory that it writes as for what it compares: a round that fails may have had a sweep
# beside it.  The next one begins after a sweep that was asked for; three that fail are no chance.
osmtest_passes() {
	local flow
	for flow in c a; do
		on_fmsim host-2-2 timeout 120 osmtest -f $flow -i "$dir/inventory" -l "$dir/osmtest.log" \
			>"$dir/osmtest.out" 2>&1 && grep -q "PASS" "$dir/osmtest.out" && continue
		grep "ERR" "$dir/osmtest.log" >"$dir/errors.out"
		echo "osmtest -f $flow does not pass"
		return 1
	done
}
await "$dir/osm.log" "SUBNET UP" 2
round=1
until osmtest_passes; do
	[ $((round++)) -lt 3 ] || fail "osmtest does not pass in three rounds"
	ups=$(said "$dir/osm.log" "SUBNET UP")
	kill -HUP "$osm"
	await "$dir/osm.log" "SUBNET UP" $((ups + 1))
done
echo "ok: osmtest"

fmsim_say counts
fmsim_stop
[ "$FMSIM_STATUS" = 0 ] || fail "SIGTERM ends fmsim with $FMSIM_STATUS"
