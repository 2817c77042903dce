#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Adaptive routing through umad: groups reach the switches that have tables for them, and only these; a
# restart and a take-over by a standby that knows nothing read them and send no Set; a cable that is
# lost turns it off before any table is written, and it is on again afterwards; what somebody else
# writes is found; a reload without it turns all off.
set -u

. "$(dirname "$0")/fmsim.bash"
need

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
conf() { # yes|no
	cat >"$dir/fmd.conf" <<END
chain = { "minhop" }
sweep_interval = 1s
adaptive_routing { enable = $1 }
END
}
conf yes
simulate "$dir/net,adaptive=16,not_adaptive=leaf-2"

hold() { # LINE
	fmctl status >"$dir/status"
	grep -q "^adaptive    $1\$" "$dir/status"
}
sets() {
	fmctl status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["adaptive_routing"]["sets"])'
}
all_are_off() {
	fmctl status --json | python3 -c 'import json, sys; sys.exit(json.load(sys.stdin)["adaptive_routing"]["switches"]["adaptive"])'
}
# The spines have no groups, leaf-2 no tables for any.
all='3 switches choose among ports, 4 go by their tables, 1 cannot be programmed, 0 have not said'

start_fmd
until_true hold "$all"
exits 0 nodes --json
[ "$(said "$dir/answer" '"adaptive_routing": *"adaptive"')" = 3 ] || fail "nodes do not say who routes adaptively"
echo "ok: groups reach the switches that have tables for them"

kill -9 "$fmd"
wait "$fmd" 2>/dev/null
start_fmd
until_true hold "$all"
[ "$(sets)" = 0 ] || fail "a restart sends $(sets) Sets"
kill -9 "$fmd"
wait "$fmd" 2>/dev/null
rm -rf "$dir/state"
start_fmd host-4-4
until_true hold "$all"
[ "$(sets)" = 0 ] || fail "a take-over sends $(sets) Sets"
echo "ok: a restart and a take-over read what there is"

fmsim_say unlink 'leaf-1[5]' >/dev/null
await "$dir/fmd.out" "SUBNET UP" 2
until_true hold "$all"
[ "$(sets)" -ge 6 ] || fail "tables were written while switches routed adaptively"
fmsim_say relink 'leaf-1[5]' >/dev/null
until_true hold "$all"
exits 0 status --json
says '"converged": *true'
echo "ok: a cable"

conf no
kill -HUP "$fmd"
until_true all_are_off
conf yes
kill -HUP "$fmd"
until_true hold "$all"
echo "ok: off and on"
