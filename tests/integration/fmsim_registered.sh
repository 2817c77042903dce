#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What a host registers reaches its port and outlives fmd: alias GUIDs, seen by
# smpquery.  And hosts are asked to register again when it is lost, not otherwise.
# Exit 77 (skipped) where infiniband-diags is absent.
set -u

. "$(dirname "$0")/fmsim.bash"
need smpquery saquery

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
printf "control_socket = '%s'\nlog_level = debug\ndebug = 'sweep,ports'\n" "$dir/control" >"$dir/fmd.conf"

start_fmd() {
	: >"$dir/$1.out" # of the one before
	exec_on_fmsim host-1-1 "$build/fmd" --transport=umad --config="$dir/fmd.conf" --state-dir="$dir/state" \
		>"$dir/$1.out" 2>&1 &
	fmd=$!
	await "$dir/$1.out" "SUBNET UP"
}
stop_fmd() {
	kill "-$1" "$fmd"
	wait "$fmd" 2>/dev/null
}
alias_guid() {
	run_on "$1" "$build/tests/integration/alias_guid" "$(lid_of host-1-1)" "$(lid_of "$1")" "$2" "$3"
}
in_port() {
	run_on host-1-2 smpquery GUIDInfo "$(lid_of "$1")" >"$dir/guids.out"
	grep -qi "$2" "$dir/guids.out"
}
until_in_port() {
	until_true in_port "$1" "$2"
}
not_in_port() {
	! in_port "$1" "$2"
}
sa_answers() {
	(run_on host-1-2 saquery -c) >/dev/null 2>&1
}
until_answered() {
	until_true sa_answers
}
asked() {
	grep -c "is set for ClientReregister" "$dir/$1.out"
}

start_fmd first
until_answered
made=$(alias_guid host-2-1 1 0) || fail "no alias GUID is given"
other=$(alias_guid host-3-1 1 0) || fail "no alias GUID is given"
[ "$made" != "$other" ] || fail "one alias GUID for two ports: $made"
[ "$(alias_guid host-2-1 2 0x1234567890abcdef)" = 0x1234567890abcdef ] || fail "not the alias GUID asked for"
(alias_guid host-3-1 3 "$made") >"$dir/twice.out" 2>&1 && fail "$made is given twice"
until_in_port host-2-1 "$made"
until_in_port host-2-1 0x1234567890abcdef
until_in_port host-3-1 "$other"
alias_guid host-2-1 2 delete >/dev/null || fail "an alias GUID is not taken back"
until_true not_in_port host-2-1 0x1234567890abcdef
[ "$(asked first)" = 0 ] || fail "hosts that fmd itself brought up are asked to register again"
echo "ok: alias GUIDs in ports"

# Nothing is promised that is not on the disk (core/store/store_pending.c).
is_kept() {
	[ "$(od -An -tu1 -j48 -N1 "$dir/state/pending" | tr -d ' ')" = 1 ]
}
is_up() {
	fmsim_say dump "$1" | grep -q "INIT\|ACTIVE"
}
until_true is_kept
stop_fmd KILL
fmsim_say reboot host-3-1 for 1ms >/dev/null || fail "the console refuses reboot"
until_true is_up host-3-1
start_fmd second
until_answered
until_in_port host-3-1 "$other"
in_port host-2-1 "$made" || fail "$made is gone with fmd"
[ "$(asked second)" = 0 ] || fail "nothing was lost, and hosts are asked to register again"
echo "ok: a restart that loses nothing"

stop_fmd TERM
rm -rf "$dir/state"
start_fmd third
until_answered
all_asked() {
	[ "$(asked third)" -ge 16 ]
}
until_true all_asked
[ "$(asked third)" = 16 ] || fail "all is lost, and $(asked third) hosts of 16 are asked to register again"
[ "$(alias_guid host-2-1 1 0)" = "$made" ] || fail "the port gets another alias GUID than it had"
echo "ok: a restart that loses all"

# Strangers: what concerns themselves is theirs, the rest is for who shows the key.
stop_fmd TERM
printf "untrusted = restrict\nsa_key = 0x1234\n" >>"$dir/fmd.conf"
start_fmd fourth
until_answered
nodes() {
	on_fmsim host-2-1 timeout 60 saquery "$@" 2>&1 | grep -c "NodeRecord dump"
}
guid_of() {
	sed -n "s/.*[[:space:]]\"$1\"\[1\](\([0-9a-f]*\)).*/\1/p" "$dir/net" | head -n 1
}
path() { # FROM TO, asked by host-2-1
	run_on host-2-1 "$build/tests/integration/sa_ask" "$(lid_of host-1-1)" get \
		"sgid=fe80000000000000:$(guid_of "$1")" "dgid=fe80000000000000:$(guid_of "$2")"
}
[ "$(nodes)" = 0 ] || fail "a stranger is told all nodes"
[ "$(nodes --smkey 0x1234)" = 24 ] || fail "who has the key is not told all nodes"
path host-2-1 host-3-1 | grep -q "PathRecord dump" || fail "a host has no path from itself"
path host-4-1 host-3-1 | grep -q "status 0x0700" || fail "a host is told the path of another"
[ "$(alias_guid host-2-1 1 0)" = "$made" ] || fail "a host does not get its alias GUID"
(run_on host-2-1 "$build/tests/integration/alias_guid" "$(lid_of host-1-1)" "$(lid_of host-3-1)" 2 0x77) >"$dir/denied.out" 2>&1 &&
	fail "a host sets an alias GUID of another"
grep -q "is denied: it shows no sa_key" "$dir/fourth.out" || fail "nobody is told that requests are denied"
echo "ok: strangers"
