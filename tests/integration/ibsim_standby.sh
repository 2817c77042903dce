#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# fmd and OpenSM, what ibsim_opensm.sh leaves open: beside a better master the
# daemon stays standby and touches nothing, and takes over, keeping every LID,
# when that one is killed; a lesser SM that comes later becomes standby and
# changes nothing; of two equals the lower GUID rules.  Two fmd with a key of their own hand over
# and take over likewise.
set -u
# shellcheck source=tests/integration/lib.bash
. "$(dirname "$0")/lib.bash"
need opensm ibnetdiscover dump_lfts sminfo smpquery python3

n_opensm=0

# start_opensm HOST PRIORITY: $osm is its process, $log its log.
start_opensm() {
	n_opensm=$((n_opensm + 1))
	log=$dir/opensm-$n_opensm.log
	mkdir -p "$dir/cache-$n_opensm"
	OSM_TMP_DIR=$dir/cache-$n_opensm OSM_CACHE_DIR=$dir/cache-$n_opensm \
		start_on_ibsim "$1" opensm -p "$2" -f "$log" -s 2 >"$log.out" 2>&1
	osm=$!
}

start_fmd() {
	printf "sm_priority = %s\nsminfo_polling_timeout = 300ms\nsweep_interval = 500ms\ncontrol_socket = '%s'\n" \
		"$1" "$dir/socket" >"$dir/fmd.conf"
	start_on_ibsim host-2-1 "$build/fmd" --config="$dir/fmd.conf" --engine=updn --state-dir="$dir/state" >"$dir/fmd.out" 2>&1
	fmd=$!
}

state_is() {
	"$build/fmctl" --socket="$dir/socket" status --json 2>/dev/null | grep -q "\"sm_state\": \"$1\""
}

end() {
	[ "$1" = -TERM ] || kill "$1" "$2" 2>/dev/null
	end_job "$2"
}

# GUIDs and LIDs, the SM that every host obeys, and the tables.
lids() {
	on_ibsim host-4-4 ibnetdiscover 2>/dev/null | sed -n 's/^\[.*"[SH]-\([0-9a-f]*\)".* lid \([0-9]*\) [0-9]x.*/\1 \2/p' | sort -u
}

sm_lids() {
	local host
	for host in host-1-1 host-2-1 host-3-3 host-4-4; do
		on_ibsim "$host" smpquery -D portinfo 0 1 2>/dev/null | sed -n 's/^SMLid:\.*//p'
	done | sort -u
}

tables() {
	on_ibsim host-4-4 dump_lfts 2>/dev/null | sed 's/DR path.*guid/guid/' | sort
}

is_routed() {
	on_ibsim host-4-4 ibnetdiscover >"$dir/seen" 2>/dev/null && on_ibsim host-4-4 dump_lfts >"$dir/lfts" 2>/dev/null &&
		python3 "$top/tests/integration/walk_tables.py" "$dir/seen" "$dir/lfts" >"$dir/walk.out" 2>&1
}

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || fail "fmroute gen"

# ---- a better master is there first
simulate "$dir/net" "$dir/ibsim.log"
start_opensm host-1-1 12
await "$log" "Entering MASTER state"
until_true is_routed
before=$(lids) tables_before=$(tables) sm_before=$(sm_lids)
[ "$(wc -l <<<"$before")" = 24 ] || fail "not 24 LIDs"
start_fmd 3
await "$dir/fmd.out" "another SM is or will be master"
until_true state_is standby
sleep 3 # several polls and OpenSM's own sweeps
state_is standby || fail "fmd does not stay standby"
[ "$(sm_lids)" = "$sm_before" ] && [ "$(tables)" = "$tables_before" ] || fail "a standby fmd changed the fabric"
! grep -q "SUBNET UP" "$dir/fmd.out" || fail "a standby fmd says SUBNET UP"
[ "$(said "$dir/fmd.out" "another SM is or will be master: .*; standing by")" = 1 ] &&
	[ "$(said "$dir/fmd.out" "is or will be master")" = 1 ] || fail "the master is told $(said "$dir/fmd.out" "is or will be master") times"
"$build/fmctl" --socket="$dir/socket" status | grep -q '^state  *standby; other SM: "host-1-1"' || fail "the state is not that of a standby"
for how in "sweep" "sweep light --wait" "sweep --tables"; do
	rc=0
	# shellcheck disable=SC2086
	"$build/fmctl" --socket="$dir/socket" $how >"$dir/answer" 2>&1 || rc=$?
	[ $rc = 4 ] && grep -q 'this fmd is standby, and sweeps are the master.s: "host-1-1"' "$dir/answer" || fail "fmctl $how exits with $rc: $(cat "$dir/answer")"
done
echo "ok: standby beside a better master"

end -KILL "$osm"
await "$dir/fmd.out" "SUBNET UP"
until_true state_is master
until_true is_routed
[ "$(lids)" = "$before" ] || fail "the takeover changed LIDs"
[ "$(sm_lids)" != "$sm_before" ] && [ "$(sm_lids | wc -l)" = 1 ] || fail "not every port obeys fmd"
echo "ok: takeover from a killed master, every LID kept"

# ---- a lesser one comes later
tables_before=$(tables) sm_before=$(sm_lids)
start_opensm host-3-3 1
await "$log" "Entering STANDBY state"
sleep 2
state_is master || fail "fmd gave way to a lesser SM"
[ "$(lids)" = "$before" ] && [ "$(tables)" = "$tables_before" ] && [ "$(sm_lids)" = "$sm_before" ] ||
	fail "a lesser SM changed the fabric"
! grep -q "Entering MASTER state" "$log" || fail "the lesser SM became master"
end -TERM "$osm"
state_is master || fail "fmd is not master any more"
end -TERM "$fmd"
ibsim_stop
echo "ok: a lesser SM becomes standby"

# ---- of equals the lower GUID rules: host-1-1 has the lowest of all hosts
simulate "$dir/net" "$dir/ibsim.log"
start_fmd 5
await "$dir/fmd.out" "SUBNET UP"
start_opensm host-1-1 5
await "$log" "Entering MASTER state"
until_true state_is standby

until_true is_routed
[ "$(sm_lids | wc -l)" = 1 ] || fail "two SMs are obeyed"
end -KILL "$osm"
until_true state_is master
until_true is_routed
end -TERM "$fmd"
echo "ok: the lower GUID rules, and is followed"

# ---- two fmd with a key of their own, of which nobody is told
# start_pair HOST NAME PRIORITY LINE...: its process is $pair.
start_pair() {
	local host=$1 name=$2
	printf '%s\n' "sm_priority = $3" "sm_key = 0x5ec7e75ec7e75ec7" "sa_key = 0x5ec7e7" "sminfo_polling_timeout = 300ms" \
		"sweep_interval = 500ms" "control_socket = '$dir/$name.socket'" "${@:4}" >"$dir/$name.conf"
	chmod 600 "$dir/$name.conf" # else fmd warns of the keys
	start_on_ibsim "$host" "$build/fmd" --config="$dir/$name.conf" --engine=updn --state-dir="$dir/$name.state" >"$dir/$name.out" 2>&1
	pair=$!
}

# pair_says NAME PATTERN: so does its status.
pair_says() {
	"$build/fmctl" --socket="$dir/$1.socket" status --json 2>/dev/null | tr -d ' \n' | grep -q "$2"
}

simulate "$dir/net" "$dir/ibsim.log"
start_pair host-2-1 first 5
first=$pair
await "$dir/first.out" "SUBNET UP"
start_pair host-3-3 second 3
second=$pair
until_true pair_says second '"sm_state":"standby".*"trust":"ours"'
until_true pair_says first '"sm_state":"master".*"trust":"ours"'
! grep -q "sm_key" "$dir/first.out" "$dir/second.out" || fail "they do not know one another"
before=$(lids)
end -KILL "$first"
until_true pair_says second '"sm_state":"master"'
await "$dir/second.out" "SUBNET UP"
[ "$(lids)" = "$before" ] || fail "the takeover changed LIDs"
# a better one is handed the subnet, one that the list leaves out is not
start_pair host-2-1 first 5
first=$pair
until_true pair_says first '"sm_state":"master"'
until_true pair_says second '"sm_state":"standby"'
rc=0
"$build/fmctl" --socket="$dir/second.socket" reload --wait >"$dir/waited" || rc=$?
[ $rc = 4 ] && grep -q "another SM is master" "$dir/waited" || fail "reload --wait in standby exits with $rc: $(cat "$dir/waited")"
printf 'allowed_sm_guids = 0x1\n' >>"$dir/second.conf"
"$build/fmctl" --socket="$dir/second.socket" reload >/dev/null || fail "fmctl reload"
until_true pair_says second '"sm_state":"master".*"trust":"notallowed"'
grep -q "is not in allowed_sm_guids" "$dir/second.out" || fail "it is not told"
end -TERM "$second"
end -TERM "$first"
echo "ok: two fmd with a key of their own"
