#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# fmctl isolate and restore: what they would do is told first, nothing crosses what is isolated, also
# after a restart, hosts are cut off only by --force, and what makes no sense is refused.
set -u

. "$(dirname "$0")/fmsim.bash"
need grep

"$build/fmroute" gen pgft 2 4,2 1,2 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
printf 'sweep_on_trap = no\nsweep_interval = 0\n' >"$dir/fmd.conf"
# No path from a host to another one is by this switch, and all are there.
expect_not_by() { # SWITCH
	local from to
	for from in 1 2 3 4; do
		for to in 1 2 3 4; do
			exits 0 path "host-1-$from" "host-2-$to"
			! grep -q "\"$1\"" "$dir/answer" || fail "a path crosses $1: $(cat "$dir/answer")"
		done
	done
	exits 0 verify --readback
	says "^verdict  *all is well"
}
start_fmd

# ---- told first
exits 0 isolate
says "^none$"
exits 0 isolate switch:spine-1
says "^switch:spine-1: 2 cables between switches, [1-9][0-9]* entries of forwarding tables lead over them$" \
	"^No host is cut off.$" "^Nothing is changed: --yes does it.$" \
	'^Fullest link: [0-9]* routes ("[a-z]*-[12]" port [0-9]* to "[a-z]*-[12]"), then [0-9]* routes ("[a-z]*-[12]" port [0-9]* to "[a-z]*-2"), by tables of engine [a-z]*, \(kept\|repaired\|routed anew\).$'
foretold=$(sed -n 's/.*, then \([0-9]*\) routes.*/\1/p' "$dir/answer")
exits 0 isolate
says "^none$"
echo "ok: told first"

# ---- a switch, over a restart, and back
exits 0 isolate switch:spine-1 --yes --wait
says "^sweep [0-9]*: the subnet is up"
expect_not_by spine-1
exits 0 isolate
says "^switch  *spine-1  *0x[0-9a-f]*  *-*  *2$"
exits 0 status
says "^isolated  *1 "
exits 0 links spine-1
[ "$(grep -c 'isolated$' "$dir/answer")" = 2 ] || fail "not 2 isolated cables: $(cat "$dir/answer")"
[ "$(grep -c ' active ' "$dir/answer")" = 2 ] || fail "not 2 active cables: $(cat "$dir/answer")"
exits 2 isolate switch:spine-1 --yes
says "switch:spine-1 is isolated already"
kill -TERM $fmd
wait $fmd
start_fmd
expect_not_by spine-1
exits 0 isolate
says "spine-1"
echo "ok: kept over a restart"
exits 2 isolate switch:spine-2 --yes
says "fmd itself would be cut off\|ports of hosts would be cut off, of host-2-1"
exits 0 restore switch:spine-1
says "^switch:spine-1: 2 cables between switches may carry routes again$" "^Nothing is changed"
says "^Fullest link: $foretold routes " # as it was foretold
exits 0 restore switch:spine-1 --yes --wait
says "^sweep [0-9]*: the subnet is up"
exits 0 links spine-1
[ "$(grep -c 'isolated$' "$dir/answer")" = 0 ] || fail "still isolated: $(cat "$dir/answer")"
exits 0 verify --readback
echo "ok: back"

# ---- a cable, by either end
exits 0 isolate link:leaf-2:6 --yes --wait
exits 0 links spine-2
[ "$(grep -c 'isolated$' "$dir/answer")" = 1 ] || fail "not 1 isolated cable: $(cat "$dir/answer")"
expect_not_by spine-2
exits 2 isolate link:spine-2:2 --yes
says "link:spine-2:2 is isolated already"
exits 0 restore link:spine-2:2 --yes --wait
exits 0 isolate
says "^none$"
echo "ok: a cable"

# ---- hosts that would be cut off
exits 0 isolate switch:leaf-2
says "^4 ports of hosts cut off: host-2-1, host-2-2, host-2-3, host-2-4$" "--yes --force does it"
exits 2 isolate switch:leaf-2 --yes
says "4 ports of hosts would be cut off, of host-2-1, host-2-2, host-2-3, ...: --force does it"
exits 0 isolate
says "^none$"
exits 2 isolate switch:leaf-1 --yes --force
says "fmd itself would be cut off"
exits 0 isolate
says "^none$"
exits 0 isolate switch:leaf-2 --yes --force --wait
exits 3 path host-1-1 host-2-1
exits 0 restore switch:leaf-2
says "^4 ports of hosts can be reached again: host-2-1"
exits 0 restore switch:leaf-2 --yes --wait
exits 0 path host-1-1 host-2-1
echo "ok: hosts that would be cut off"

# ---- what makes no sense
refused() { # WORDS COMMAND...
	local words=$1
	shift
	exits 2 "$@"
	says "$words"
}
refused "write switch:NAME, link:NAME:PORT, or several" isolate switch:
refused "write link:NAME:PORT" isolate link:spine-1
refused "\"swich:spine-1\" is no name" isolate swich:spine-1
refused "spine-9\* names no switch" isolate 'spine-9*'
refused "host-\* names no switch" isolate 'host-*'
refused "there is no group nosuch" isolate @nosuch
refused "brackets hold numbers" isolate 'spine-[x]'
refused "none of these switches is isolated" restore 'spine-*'
refused "a port from 1 to 254" isolate link:spine-1:0
refused "a port from 1 to 254" isolate link:spine-1:x
refused "\"spine-9\" is no name or node GUID of a switch" isolate switch:spine-9
refused "\"host-1-1\" is no name or node GUID of a switch" isolate switch:host-1-1
refused "there is no switch of GUID 0x0000000000000999" isolate switch:0x999
refused "leaf-1 port 1 leads to host host-1-1: only cables between switches" isolate link:leaf-1:1 --yes
refused "spine-1 port 77 has no cable that is up" isolate link:spine-1:77
refused "switch:spine-1 is not isolated: fmctl isolate lists what is" restore switch:spine-1 --yes
refused "fmctl isolate lists what is isolated" restore
echo "ok: what makes no sense"

# ---- a name that two have: which GUIDs there are to write
guid_of() {
	fmctl nodes "$1" | awk -v name="$1" '{ for (i = 1; i <= NF; i++) if ($i ~ /^0x/) { print $i; exit } }'
}
one=$(guid_of spine-1) two=$(guid_of spine-2)
printf '%s "core north"\n%s "core south"\n' "$one" "$two" >"$dir/names"
echo "node_name_map = \"$dir/names\"" >>"$dir/fmd.conf"
exits 0 reload --wait
refused "\"core\" is 2 switches: write a GUID: $one (core north), $two (core south)" isolate switch:core
exits 0 isolate "switch:$two"
says "^switch:$two: 2 cables between switches"
echo "ok: a name that two have"

# ---- who is gone is restored by the name that it had
exits 0 isolate "switch:$one" --yes --wait
fmsim_say unlink 'spine-1[1]' >/dev/null
fmsim_say unlink 'spine-1[2]' >/dev/null
exits 0 sweep heavy --wait
! fmctl nodes --json | grep -q '"core north"' || fail "a switch without cables is there"
kill -TERM $fmd
wait $fmd
start_fmd
exits 0 isolate
says "^switch  *core north  *$one  *-*  *0$"
exits 0 restore "switch:core north" --yes --wait
exits 0 isolate
says "^none$"
fmsim_say relink 'spine-1[1]' >/dev/null
fmsim_say relink 'spine-1[2]' >/dev/null
exits 0 sweep heavy --wait
fmctl nodes --json | grep -q '"core north"' || fail "it has not come back"
echo "ok: restored by its name"

# ---- what was kept is damaged
kill -TERM $fmd
wait $fmd
echo "cable 7" >"$dir/state/isolated"
(exec_on_fmsim host-1-1 "$build/fmd" --transport=umad --config="$dir/fmd.conf" --state-dir="$dir/state" >"$dir/fmd.out" 2>&1) &&
	fail "fmd starts with a damaged list of isolated cables"
grep -q "isolated:1: a line is 'switch GUID" "$dir/fmd.out" || fail "$(cat "$dir/fmd.out")"
echo "ok: a damaged list"

# ---- several at once: one set, one sweep
"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
one=$(sed -n '/^switchguid/ { s/.*=\(0x[0-9a-f]*\)(.*/\1/; h; }; /^Switch.*\t.*"spine-1"[ \t]*#/ { x; p; q; }' "$dir/net")
two=$(sed -n '/^switchguid/ { s/.*=\(0x[0-9a-f]*\)(.*/\1/; h; }; /^Switch.*\t.*"spine-2"[ \t]*#/ { x; p; q; }' "$dir/net")
sed -i "s/^sysimgguid=$two$/sysimgguid=$one/" "$dir/net" # both are one director
printf 'sweep_interval = 0\ngroup "planes" { members = { "spine-[2-3]" } }\n' >"$dir/several.conf"
"$build/fmd" --transport=sim:"$dir/net" --config="$dir/several.conf" --state-dir="$dir/several" >"$dir/several.out" 2>&1 &
fmd=$!
await "$dir/several.out" "SUBNET UP"
fmctl() {
	"$build/fmctl" --state-dir="$dir/several" "$@"
}
n_isolated() {
	fmctl isolate | grep -c '^switch '
}
exits 0 isolate "system:$one"
says "^system:$one: 2 switches: spine-1, spine-2$" "^8 cables between switches, " "^No host is cut off.$"
exits 0 isolate "system:$one" --yes --wait
[ "$(n_isolated)" = 2 ] || fail "not a director: $(fmctl isolate)"
grep -q "fmctl isolate system:$one: 2 switches" "$dir/several.out" || fail "the log does not say how many"
refused "system:$one: all of these switches are isolated already" isolate "system:$one" --yes
exits 0 isolate @planes # spine-2 is already
says "^@planes: 4 cables between switches"
exits 0 isolate @planes --yes --wait
[ "$(n_isolated)" = 3 ] || fail "not a group: $(fmctl isolate)"
exits 0 verify --readback
refused "fmd itself would be cut off\|ports of hosts would be cut off" isolate 'spine-*' --yes
[ "$(n_isolated)" = 3 ] || fail "what is refused is done: $(fmctl isolate)"
before=$(fmctl progress --json | sed -n 's/.*"ended": \([0-9]*\).*/\1/p')
exits 0 restore 'switch:spine-*' --yes --wait
[ $(($(fmctl progress --json | sed -n 's/.*"ended": \([0-9]*\).*/\1/p') - before)) = 1 ] || fail "not one sweep: $(cat "$dir/several.out")"
exits 0 isolate
says "^none$"
echo "ok: several at once"
