#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The forwarding table of a spine is written over by MADs from a host: fmd finds it within one turn
# of its audit and writes it again, with nobody's help; and at once by fmctl sweep --tables.
set -u

. "$(dirname "$0")/fmsim.bash"
need grep
overwrite=$build/tests/integration/overwrite
[ -x "$overwrite" ] || { echo "overwrite is not built: skipped"; exit 77; }

"$build/fmroute" gen pgft 2 8,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
printf 'audit = 10s\n' >"$dir/fmd.conf"
start_fmd
up() {
	fmctl status --json >"$dir/status" && grep -q '"converged": true,\?$' "$dir/status"
}
until_true up
exits 0 verify --readback
exits 0 sweep --tables
says "^read    [1-9][0-9]* blocks, 0 without an answer$" "^differ  0 blocks, of 0 nodes$" \
	"^all nodes hold what fmd has written, after [0-9.]* s$"
echo "ok: all is as it was written"

# leaf-2 is behind port 1 of its host, spine-1 behind its port 9.
spoil() { # PORT_FOR_ALL_LIDS
	run_on host-2-1 "$overwrite" 1,9 1 "$1"
}
told() {
	[ "$(grep -c '"spine-1" (0x[0-9a-f]*) holds something else than fmd has written: 1 block of its forwarding table' "$dir/fmd.out")" = "$1" ]
}
lost() { # hosts that host-2-1 does not reach
	local n=0 to
	for to in host-1-{1,2,3,4,5,6,7,8} host-3-{1,2,3,4,5,6,7,8} host-4-{1,2,3,4,5,6,7,8}; do
		fmsim_say route host-2-1 "$to" 2>/dev/null | grep -q "^[0-9]* links" || n=$((n + 1))
	done
	echo $n
}
[ "$(lost)" = 0 ] || fail "$(lost) hosts are not reached"
spoil 255
[ "$(lost)" != 0 ] || fail "a spine without a table carries all"
until_true told 1
whole() {
	[ "$(lost)" = 0 ] && up
}
until_true whole
exits 0 verify --readback
echo "ok: a table that was emptied is whole again"

# All to one port: packets go round, or to hosts that they are not for.
spoil 1
until_true told 2
until_true whole
exits 0 verify --readback
echo "ok: a table that leads astray is whole again"

# Without a turn of its own.
printf 'audit = 0s\n' >"$dir/fmd.conf"
exits 0 reload --wait
spoil 255
exits 3 verify --readback
says "^differ  *[1-9][0-9]* entries, of 1 switches, from the plan$" "reads them once more, and writes what differs"
until_true told 3
until_true whole
exits 0 verify --readback
echo "ok: what verify --readback has met is written again"

spoil 255
fmctl sweep --tables --json >"$dir/answer" || fail "sweep --tables: $(cat "$dir/answer")"
says '"blocks_that_differ": 1,\?$' '"nodes_that_differ": 1,\?$' '"says": "what differs is written again"'
[ "$(lost)" = 0 ] || fail "$(lost) hosts are not reached"
exits 0 verify --readback
exits 2 sweep light --tables
says "say either a scope or tables"
echo "ok: at once"

fmsim_say silence host-4-1 >/dev/null
exits 5 sweep --tables
says "some nodes have not answered"
echo "ok: a node that does not answer"
exit 0
