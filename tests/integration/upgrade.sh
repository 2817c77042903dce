#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# An fmd takes what those before it have kept: each tests/store/VERSION.tar.xz is a state folder that
# fmd VERSION has written (tests/store/make).  Ports keep the LIDs in it, alias GUIDs come back to
# their port, the cable that was isolated is, events are read, and nothing is set aside: neither the
# store nor the files of tables and nodes.  Routes are made anew, as engines may have changed.
# Exit 77 (skipped) where infiniband-diags is absent.
set -u

. "$(dirname "$0")/fmsim.bash"
need xz tar smpquery
in_port() {
	run_on host-1-2 smpquery GUIDInfo "$(lid_of host-2-1)" >"$dir/guids.out"
	grep -qi 0x1234567890abcdef "$dir/guids.out"
}

n=0
for store in "$top"/tests/store/*.tar.xz; do
	version=$(basename "$store" .tar.xz)
	tar -C "$dir" -xJf "$store" || fail "$store is no archive"
	before=$(grep -c '"n"' "$dir/state/events.jsonl")
	[ "$before" -ge 5 ] || fail "$store has $before events"
	simulate "$top/tests/store/net"
	printf "log_level = info\n" >"$dir/fmd.conf"
	start_fmd
	[ "$(lid_of host-2-1)" = 119 ] || fail "$version: host-2-1 has LID $(lid_of host-2-1), not the 119 that is kept"
	until_true in_port
	exits 0 isolate
	says leaf-2
	exits 0 events --since=3650d --json
	says '"n": 1,'
	exits 0 status --json
	says "\"store\": \"in $dir/state\""
	! ls "$dir/state" | grep "bad" || fail "$version: files are set aside"
	! grep -i "damaged\|not ours\|other version\|passed over\|set aside" "$dir/fmd.out" || fail "$version is not taken as it is"
	kill "$fmd"
	wait "$fmd" || fail "$version: fmd ends with $?"
	fmsim_stop
	rm -rf "$dir/state"
	n=$((n + 1))
done
[ $n -ge 1 ] || fail "there is no store of before"
echo "ok: stores of $n versions before"
