#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Two fmd and fmctl handover: the subnet goes there and back, one is master at a time and its SA
# answers; what cannot be is refused, with a sentence and an exit code.  An SM that comes back after a
# repair stands by, and a reload changes that.
set -u
# shellcheck source=tests/integration/fmsim.bash
. "$(dirname "$0")/fmsim.bash"
need python3
[ -x "$build/tests/integration/sa_ask" ] || skip "sa_ask is not built"

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
declare -A host=([one]=host-1-1 [two]=host-2-2) fmd

configure() { # NAME PRIORITY [LINE...]
	printf '%s\n' "sm_priority = $2" "sm_key = 0x5ec7e75ec7e75ec7" "sminfo_polling_timeout = 300ms" \
		"sweep_interval = 500ms" "control_socket = '$dir/$1.socket'" "${@:3}" >"$dir/$1.conf"
	chmod 600 "$dir/$1.conf"
}
start() { # NAME
	: >"$dir/fmd-$1.out"
	exec_on_fmsim "${host[$1]}" "$build/fmd" --config="$dir/$1.conf" --engine=updn --state-dir="$dir/$1.state" \
		>"$dir/fmd-$1.out" 2>&1 &
	fmd[$1]=$!
}
fmctl() { # NAME ARGUMENT...
	"$build/fmctl" --socket="$dir/$1.socket" "${@:2}"
}
status() { # NAME EXPRESSION: is it true of its status?
	fmctl "$1" --json status 2>/dev/null |
		python3 -c 'import json,sys; sys.exit(not eval(sys.argv[1], {}, json.load(sys.stdin)))' "$2" 2>/dev/null
}
rules() { # NAME NAME: the first is master with the subnet up, and seen to be by the second, which stands by
	until_true status "$1" 'sm_state == "master" and subnet_up and phase == "idle"'
	until_true status "$2" 'sm_state == "standby" and other_sms[0]["state"] == "master"'
}
answers() { # NAME: its SA
	on_fmsim host-3-3 "$build/tests/integration/sa_ask" "$(lid_of "${host[$1]}")" get "slid=$(lid_of host-3-3)" \
		"dlid=$(lid_of host-1-1)" 2>&1 | grep -q "PathRecord dump"
}

configure one 5 "master_sm_priority = 14"
configure two 3 "master_sm_priority = 14"
start one
await "$dir/fmd-one.out" "SUBNET UP"

# ---- refused
exits 2 one handover
says "there is no standby of ours: no other SM is on the subnet"
start two
await "$dir/fmd-two.out" "standing by"
until_true status one 'len(other_sms) == 1 and other_sms[0]["state"] == "standby"'
exits 2 two handover
says "this fmd is standby: the master hands over"
exits 2 one handover host-3-3
says "no SM that is on the subnet has the name or GUID host-3-3"
exits 2 one handover host-2-2 host-1-1
says "unexpected argument host-1-1"
status one 'sm_state == "master" and other_sms[0]["priority"] == 3' || fail "not as it was: $(fmctl one status --all)"
status two 'other_sms[0]["priority"] == 14' || fail "the master does not show its priority"
echo "ok: refused"

# ---- there, by name, and back, by GUID and by itself
exits 0 one handover host-2-2
says "^handover to host-2-2 (0x[0-9a-f]*) is done: it has the subnet, and we stand by$"
rules two one
until_true answers two
exits 0 one events
says "fmctl handover: the subnet is handed over to host-2-2, LID [0-9]*, priority 3" \
	"fmctl handover to host-2-2 is done"
all_over handover fmctl one || fail "a handover that does not end: $(fmctl one events --kind=handover --json)"
guid=$(fmctl two --json status | python3 -c 'import json,sys; print(json.load(sys.stdin)["other_sms"][0]["port_guid"])')
exits 0 two --json handover "$guid"
says '"state": "done"' '"node": "host-1-1"' "\"port_guid\": \"$guid\"" '"priority": 5' '"seconds": '
rules one two
until_true answers one
exits 0 one handover
rules two one
echo "ok: there and back"

# ---- the first comes back, and stands by
exits 0 two handover
rules one two
kill -9 "${fmd[one]}"
wait "${fmd[one]}" 2>/dev/null
until_true status two 'sm_state == "master" and subnet_up'
start one
rules two one
for _ in 1 2 3 4 5 6; do # as many sweeps and polls, at least
	sleep 0.5
	status two 'sm_state == "master"' || fail "the first took the subnet back"
done
echo "ok: the first stands by"

# ---- without the priority on ours the other one would give it back; a reload is enough
configure two 3
exits 0 two reload
rules one two
configure one 5
exits 0 one reload --wait
exits 2 one handover host-2-2
says "host-2-2.* (priority 3) would hand the subnet straight back, as we are better (priority 5, then the lower GUID): set the same master_sm_priority on both, above both"
echo "ok: it would come back"
for name in one two; do
	kill -TERM "${fmd[$name]}"
	wait "${fmd[$name]}" || fail "$name ends badly"
done
