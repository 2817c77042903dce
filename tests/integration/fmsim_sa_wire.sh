#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What fmd's SA answers is what OpenSM's answers on the same fabric, byte by byte: every
# attribute by every method, and records that are asked for, registered and taken back.
# sa_differences.py has the reasons of what differs and prints the table of it.
# Exit 77 (skipped) where opensm or python3 is absent.
set -u

. "$(dirname "$0")/fmsim.bash"
need opensm python3
table=$top/tests/integration/sa_differences.py

"$build/fmroute" gen pgft 2 2,4 1,2 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
printf "control_socket = '%s'\n" "$dir/control" >"$dir/fmd.conf"

guid_of() {
	sed -n "s/.*[[:space:]]\"$1\"\[1\](\([0-9a-f]*\)).*/\1/p" "$dir/net" | head -n 1
}
end_of() {
	echo "$(lid_of "$1"):$(guid_of "$1")"
}

# As an OpenSM that has ended its sweeps; it sweeps once more after the traps of its bring-up.
start_fmd() {
	: >"$dir/fmd.out" # the one before has said SUBNET UP, too
	exec_on_fmsim host-1-1 "$build/fmd" --transport=umad --config="$dir/fmd.conf" --state-dir="$dir/state" \
		>"$dir/fmd.out" 2>&1 &
	fmd=$!
	await "$dir/fmd.out" "SUBNET UP"
}
sa_answers() {
	(run_on host-2-2 "$build/tests/integration/sa_mads" "$(lid_of host-1-1)" whole 1000 1 <"$dir/probe") | grep -qv -- "|-$"
}

# One after the other, then everything at once, then what no SA has, of which nothing is expected.
answers() { # WHOSE
	local ends
	ends="$(end_of host-2-2) $(end_of host-2-1) $(lid_of leaf-1):0 $(end_of host-1-1)"
	# shellcheck disable=SC2086
	for kind in single matrix unheard; do
		python3 "$table" "$kind" $ends >"$dir/$kind" || fail "no questions"
	done
	head -n 1 "$dir/single" >"$dir/probe"
	until_true sa_answers
	grep -v "|0x14|" "$dir/single" >"$dir/raw"
	ask() { # HOW MS WINDOW QUESTIONS
		(exec_on_fmsim host-2-2 timeout 200 "$build/tests/integration/sa_mads" "$(lid_of host-1-1)" "$1" "$2" "$3" <"$dir/$4") >"$dir/answers" ||
			fail "$(tail -n 1 "$dir/answers")"
		cat "$dir/answers" >>"$dir/$whole.$5"
	}
	whole=$1
	rm -f "$dir/$whole.whole" "$dir/$whole.raw"
	ask whole 10000 1 single whole
	ask whole 6000 120 matrix whole
	ask raw 10000 1 raw raw
	ask whole 300 200 unheard whole
}

start_opensm host-1-1
await "$dir/osm.log" "SUBNET UP" 2
answers opensm
end_job "$osm"
start_fmd
answers fmd
end_job "$fmd"

[ -z "${KEEP:-}" ] || { mkdir -p "$KEEP" && cp "$dir"/opensm.* "$dir"/fmd.* "$KEEP"; }
python3 "$table" compare "$dir/opensm" "$dir/fmd" || fail "fmd and OpenSM differ"
