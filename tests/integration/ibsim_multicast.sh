#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Hosts on ibsim join multicast groups (OpenSM's osmtest does it): what switches hold
# joins them, dump_mfts is the witness.  A restarted fmd knows the groups and writes nothing.
# Exit 77 (skipped) where ibsim, osmtest or dump_mfts is absent.
#
# The last step of osmtest asks for a table, which ibsim cuts off: it fails with OpenSM as
# with fmd, so what it did counts, not its exit code.
set -u
# shellcheck source=tests/integration/lib.bash
. "$(cd "$(dirname "$0")" && pwd)/lib.bash"
need osmtest
need dump_mfts
export FMD_PLUGIN_PATH=$build/plugins/engines

"$build/fmroute" gen pgft 2 4,4 1,2 1,1 >net || fail "fmroute gen"
simulate net ibsim.out

printf 'log_level = debug\n' >fmd.conf # the statistics of sweeps
start() {
	start_on_ibsim host-1-1 "$build/fmd" --config=fmd.conf --state-dir=state >"$1" 2>&1
	fmd=$!
	await "$1" "SUBNET UP"
}

# Switches with an entry for the broadcast group, and by how many ports they send it on.
entries() {
	on_ibsim host-4-1 timeout 60 dump_mfts 2>/dev/null |
		awk '/guid/ { sw = $NF } /^0xc000/ { gsub(/[^x]/, "", $0); print sw, length($0) - 1 }' | sort
}

join() {
	on_ibsim "$1" timeout 60 osmtest -f m -m 1 >"$1.out" 2>&1
	grep -q 'Checking Proxy Join' "$1.out" || fail "osmtest on $1 got stuck: $(grep ERR "$1.out" | tail -n 3)"
}

start fmd.out
awk '/ view [0-9]+: / { answers = 1 } /SUBNET UP/ { exit !answers }' fmd.out ||
	fail "the subnet is told to be up before the SA answers"
[ -z "$(entries)" ] || fail "there are entries before anybody joined"
join host-2-1
join host-3-1
join host-3-2
forward() { # two leaves and a spine: the broadcast group
	entries >first
	[ "$(awk '{ print $2 }' first | sort | tr '\n' ' ')" = "2 2 3 " ]
}
until_true forward
converged() { "$build/fmctl" --state-dir=state status | grep -q ", converged"; }
until_true converged # osmtest leaves groups, too: what is owed when fmd ends is written by the next one

kill "$fmd"
wait "$fmd"
start again.out
await again.out 'multicast groups, .* as before the restart'
sleep 1 # if it were to write any
as_before() { entries | cmp -s - first; }
until_true as_before
grep -q 'Sets: .*MulticastForwardingTable' again.out && fail "a restart wrote tables: $(grep Sets: again.out)"
on_ibsim host-2-1 timeout 20 saquery -g | grep -q 'ff12:401b:ffff::ffff:ffff' || fail "saquery -g"
kill "$fmd"
wait "$fmd"
grep -E ' (err|warn) ' fmd.out again.out && fail "fmd complains"
exit 0
