#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Who keeps fmd busy is named: fmctl status has the busiest clients of the SA and senders of
# traps, by node and port, and the log has a line of a host whose traps do not end.
# Exit 77 (skipped) where infiniband-diags is absent.
set -u

. "$(dirname "$0")/fmsim.bash"
need saquery

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
printf "control_socket = '%s'\n" "$dir/control" >"$dir/fmd.conf"
exec_on_fmsim host-1-1 "$build/fmd" --transport=umad --config="$dir/fmd.conf" --state-dir="$dir/state" >"$dir/fmd.out" 2>&1 &
fmd=$!
await "$dir/fmd.out" "SUBNET UP"

status() {
	"$build/fmctl" --socket="$dir/control" --json status >"$dir/status" || fail "fmctl status"
}
# value PYTHON_EXPRESSION: of s, the status
value() {
	status
	python3 -c "import json, sys; s = json.load(open(sys.argv[1])); print($1)" "$dir/status" 2>/dev/null
}
is_so() {
	[ "$(value "$1")" = True ]
}

sa_answers() {
	(run_on host-2-1 saquery -c) >/dev/null 2>&1
}
until_true sa_answers
asks_the_sa() { # what is of the minute before counts in part only
	sa_answers && is_so "s['busiest_of_sa'][0]['in_last_minute'] >= 4"
}
until_true asks_the_sa
is_so "'host-2-1' in s['busiest_of_sa'][0]['name']" || fail "another has asked most: $(cat "$dir/status")"
is_so "s['busiest_of_sa'][0]['lid'] == $(lid_of host-2-1)" || fail "its LID: $(cat "$dir/status")"
is_so "int(s['busiest_of_sa'][0]['guid'], 16) != 0" || fail "its GUID: $(cat "$dir/status")"

sends_traps() {
	local _
	for _ in {1..20}; do
		fmsim_say trap "host-3-1[1]" 129 >/dev/null || fail "fmsim does not send a trap"
	done
	is_so "s['traps']['only_counted'] >= 3"
}
until_true sends_traps
is_so "'host-3-1' in s['busiest_by_smps'][0]['name']" || fail "another has sent most traps: $(cat "$dir/status")"
is_so "s['busiest_by_smps'][0]['refused'] >= 3" || fail "refused: $(cat "$dir/status")"
is_so "s['traps']['not_believed'] == 0" || fail "true traps are not believed: $(cat "$dir/status")"
await "$dir/fmd.out" "the busiest source is .*host-3-1"
is_so "s['reports']['waiting'] == 0" || fail "reports: $(cat "$dir/status")"
"$build/fmctl" --socket="$dir/control" status --all >"$dir/text" || fail "fmctl status as text"
grep -q "busiest_of_sa" "$dir/text" || fail "as text: $(cat "$dir/text")"
kill "$fmd"
wait "$fmd"
exit 0
