#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# saquery asks OpenSM on ibsim, then fmd, which keeps the LIDs that it finds, and
# answers differ in nothing but what is listed below.  And fmd answers while
# cables are pulled and it sweeps.
# Exit 77 (skipped) where ibsim or saquery is absent; without opensm it is not compared.
#
# ibsim has no RMPP, so only answers of one MAD are asked for.
set -u
# shellcheck source=tests/integration/lib.bash
. "$(cd "$(dirname "$0")" && pwd)/lib.bash"
need saquery
export FMD_PLUGIN_PATH=$build/plugins/engines

"$build/fmroute" gen pgft 2 4,4 1,2 1,1 >net || fail "fmroute gen"
simulate net ibsim.out

# Of a host, a far one, and a leaf.
queries() {
	local host=$1 far=$2 leaf=$3
	cat <<END
NR $host
NR $leaf
PIR $host/1
PIR $leaf/2
SWIR $leaf
LFTR $leaf/0
LR $leaf/1
LR $host/1
SL2VL $leaf/1/2
--smkey 1 PKTR $host/1/0
--src-to-dst $host:$far
--src-to-dst $far:$host
--src-to-dst $host:$leaf
--src-to-dst $leaf:$leaf
--src-to-dst $leaf:$far
SMIR
-c
NR 4000
--src-to-dst $host:4000
END
}

# Where the two may differ:
#   ClassPortInfo: what each can (OpenSM has registrations here), and the response time
#   SMInfo: ActCount
#   PortInfo: what the SM writes (lease, timers, counters), not what a port is
#   SwitchInfo: LinearFDBTop (OpenSM rounds up to a block), MulticastFDBTop
#   LFT entries: routes are the engine's (fmroute check judges them elsewhere)
#   SL2VL: without QoS OpenSM leaves switches alone and tells what they hold, 0 on ibsim
# Behind the first record of a table there is what ibsim cut off: not looked at.
ask() {
	queries "$@" | while read -r words; do
		echo "== $words"
		# shellcheck disable=SC2086
		on_ibsim host-2-1 timeout 20 saquery $words 2>&1 | awk '/dump:/ && ++n > 1 { exit } { print }'
	done | grep -vE 'Capability mask|Response time|ActCount|ActivityCount|FDBTop|Trap (LID|GID)' |
		grep -vE '^[[:space:]]+[0-9]+[[:space:]]+[0-9]+[[:space:]]*$|^[[:space:]]*VL:' |
		grep -vE 'MkeyLease|HoqLife|VLStall|SubnetTimeout|GuidCap|ClientRereg|McastPkey|RespTime|LocalPhysErr|OverrunErr|MaxCreditHint|RoundTrip|CapMask|Is[A-Z]'
}

# The LID of the node of this name, by its NodeRecord.
find_lid() {
	local lid
	for ((lid = 1; lid < 40; lid++)); do
		on_ibsim host-2-1 saquery NR "$lid" 2>/dev/null | grep -q "NodeDescription\.*$1$" &&
			echo "$lid" && return 0
	done
	return 1
}

find_lids() {
	until_true on_ibsim host-2-1 saquery -c >/dev/null 2>&1
	host=$(find_lid host-2-1) && far=$(find_lid host-4-2) && leaf=$(find_lid leaf-1) ||
		fail "nodes have no records"
}

if command -v opensm >/dev/null 2>&1; then
	OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir start_on_ibsim host-1-1 opensm -d2 -f "$dir/osm.log" >osm.out 2>&1
	osm=$!
	await osm.log "SUBNET UP"
	find_lids
	ask "$host" "$far" "$leaf" >osm.answers
	end_job "$osm"
fi

echo "flap_still = 0" >fmd.conf # a cable below goes down often
start_on_ibsim host-1-1 "$build/fmd" --engine=updn --config=fmd.conf --state-dir=state >fmd.out 2>&1
await fmd.out "SUBNET UP"
find_lids
ask "$host" "$far" "$leaf" >fmd.answers
for words in "NodeDescription.*host-2-1" "dlid.*$far" "FromLID.*$leaf" "0xffff"; do
	grep -q "$words" fmd.answers || { cat fmd.answers; fail "no \"$words\" in what fmd answers"; }
done
grep -q "timed out" fmd.answers && fail "a question got no answer"
echo "ok: saquery of each record type is answered"

"$build/fmctl" --state-dir=state path "$host" "$far" >path.out 2>&1 || fail "fmctl path: $(cat path.out)"
for words in "Path from LID" "switch .*leaf-2" "switch .*leaf-4" "switch .*spine"; do
	grep -q "$words" path.out || fail "no \"$words\" in fmctl path: $(cat path.out)"
done
"$build/fmctl" --state-dir=state status sa | grep -q "^answered *[1-9]" || fail "fmctl status counts no answers"
echo "ok: fmctl shows the path and counts the answers"

# A leaf's cable goes and comes, none between who asks, the SA and what is asked for;
# every question is answered meanwhile.
near=$(find_lid host-3-1) || fail "host-3-1 has no record"
sweeps=$(said fmd.out "SUBNET UP")
until [ -e enough ]; do
	ibsim_say "Unlink \"leaf-4\"[5]"
	sleep 0.2
	ibsim_say "Relink \"leaf-4\"[5]"
	sleep 0.2
done &
changes=$!
n=0
while [ "$n" -lt 3 ] || [ "$(said fmd.out "SUBNET UP")" -lt $((sweeps + 6)) ]; do
	[ "$n" -lt 2000 ] || fail "no sweeps beside $n questions"
	on_ibsim host-1-2 timeout 20 saquery --src-to-dst "$host:$near" >one.out 2>&1 || fail "no answer during a sweep: $(cat one.out)"
	grep -q "dlid\.*$near$" one.out || fail "not the path asked for: $(cat one.out)"
	n=$((n + 1))
done
touch enough
wait "$changes"
echo "ok: $n path queries answered while cables were pulled"

[ -f osm.answers ] || skip "opensm is absent, answers are not compared"
diff osm.answers fmd.answers >answers.diff || { cat answers.diff; fail "OpenSM (<) and fmd (>) answer differently"; }
echo "ok: OpenSM answers the same"
