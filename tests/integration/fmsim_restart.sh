#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# fmd is killed and started anew on a fabric of 648 hosts, 100 of which do not answer: the SA
# answers from what was kept while the first sweep still waits for them.  Then the fabric changes
# while fmd is away: what is read takes back what was kept, as it comes, and what the SA said
# before is told.  And files that are cut short, damaged or of another version are a sentence.
#
# A sweep that waits ten seconds for who is silent cannot end before it is looked at.
# Exit 77 (skipped) where fmsim's library is not built.
set -u

. "$(dirname "$0")/fmsim.bash"
need awk

"$build/fmroute" gen pgft 2 18,36 1,18 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
printf "sweep_interval = 0s\nsweep_on_trap = no\n" >"$dir/quick.conf"
{ cat "$dir/quick.conf" && printf "transaction_timeout = 10s\n"; } >"$dir/patient.conf"

start_fmd() { # NAME CONF
	: >"$dir/$1.out" # of the one before
	exec_on_fmsim host-1-1 "$build/fmd" --transport=umad --config="$dir/$2.conf" --state-dir="$dir/state" >"$dir/$1.out" 2>&1 &
	fmd=$!
}
kill_fmd() {
	kill -9 "$fmd"
	wait "$fmd" 2>/dev/null
}
status() {
	"$build/fmctl" --state-dir="$dir/state" status --json 2>/dev/null
}
says() { # WORDS: in the status
	status | grep -q "$1"
}
path() { # TO: from host-2-1, who asks
	on_fmsim host-2-1 timeout 60 "$build/tests/integration/sa_ask" "$sm" get "slid=$(lid_of host-2-1)" "dlid=$(lid_of "$1")" 2>&1
}
has_path() {
	path "$1" | grep -q "PathRecord dump"
}
has_none() {
	path "$1" | grep -q "status 0x0300"
}
is_kept() {
	cmp -s "$dir/state/nodes" "$dir/nodes.before" && return 1
	[ -s "$dir/state/nodes" ]
}
is_busy() {
	path "$1" | grep -q "status 0x0001"
}

start_fmd first quick
await "$dir/first.out" "SUBNET UP"
sm=$(lid_of host-1-1)
until_true has_path host-30-1
until_true is_kept
kill_fmd

for n in $(seq 5 14); do
	for m in $(seq 1 10); do fmsim_say silence "host-$n-$m" >/dev/null || fail "the console refuses silence"; done
done
start_fmd second patient
until_true has_path host-30-1
says '"answers_from": "what was kept, unverified"' || fail "unverified answers are not told: $(status)"
grep -q "SUBNET UP" "$dir/second.out" && fail "the sweep did not wait for who is silent"
has_path host-5-1 || fail "there is no path to a host that is silent"
path host-30-1 | grep -q "dlid\.*$(lid_of host-30-1)\$" || fail "a path to another LID"
on_fmsim host-2-1 timeout 60 "$build/tests/integration/sa_ask" "$sm" get "slid=$(lid_of host-2-1)" dlid=40000 |
	grep -q "status 0x0001" || fail "that there is no path is believed of what was kept"
kill_fmd
echo "ok: the SA answers while the first sweep waits"

# A host moves to another's place, one has another LID, a leaf goes, a cable and a spine go.
fmsim_say clear 'host-20-1[1]' >/dev/null && fmsim_say clear 'host-21-1[1]' >/dev/null || fail "the console refuses clear"
fmsim_say link 'host-20-1[1]' 'leaf-21[1]' >/dev/null || fail "the console refuses link"
fmsim_say lid 'host-22-1[1]' 900 >/dev/null || fail "the console refuses lid"
for p in $(seq 1 36); do
	fmsim_say unlink "leaf-23[$p]" >/dev/null || fail "the console refuses unlink"
	fmsim_say unlink "spine-3[$p]" >/dev/null || true
done
start_fmd third patient
until_true has_path host-30-1
gone() {
	! has_path host-20-1 && ! has_path host-21-1 && ! has_path host-22-1 && ! has_path host-23-1
}
until_true gone
says '"answers_from": "what was kept, unverified"' || fail "the sweep did not wait for who is silent"
has_path host-30-1 || fail "what still holds is taken back, too"
until_true says '"kept_ports_gone": 23'
kill_fmd
for n in $(seq 5 14); do
	for m in $(seq 1 10); do fmsim_say wake "host-$n-$m" >/dev/null; done
done
cp "$dir/state/nodes" "$dir/nodes.before"
start_fmd fourth quick
await "$dir/fourth.out" "SUBNET UP"
until_true says '"answers_from": "the last sweep"'
has_path host-20-1 && path host-20-1 | grep -q "dlid\.*$(lid_of host-20-1)\$" || fail "no right path to the host that has moved"
has_path host-22-1 && path host-22-1 | grep -q "dlid\.*$(lid_of host-22-1)\$" || fail "no right path to the host of another LID"
has_none host-23-1 || fail "an answer behind a leaf that is gone: $(path host-23-1)"
grep -q "what was kept: of 702 ports 23 are not as they were" "$dir/fourth.out" || fail "what was served is not told"
until_true is_kept
kill_fmd
echo "ok: what has changed meanwhile is taken back"

cp "$dir/state/nodes" "$dir/nodes.good"
fmsim_say silence host-5-1 >/dev/null
bad() { # NAME WORDS
	start_fmd "$1" patient
	await "$dir/$1.out" "$2"
	until_true says '"sm_state": "discovering"'
	says '"answers_from": "nothing yet"' || fail "$1: it is answered from"
	is_busy host-30-1 || fail "$1: the SA is not busy"
	kill_fmd
}
head -c 10000 "$dir/nodes.good" >"$dir/state/nodes"
bad cut "nodes are not used: it is damaged"
sed 's/^fmdnode./fmdnode0/' "$dir/nodes.good" >"$dir/state/nodes"
bad older "nodes are not used: it is not ours, or of another version"
cp "$dir/nodes.good" "$dir/state/nodes"
printf 'x' | dd of="$dir/state/nodes" bs=1 seek=5000 conv=notrunc 2>/dev/null
bad damaged "nodes are not used: it is damaged"
echo "ok: files that are no good"
