#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What is wrong in the fabric is on the list of fmctl trouble, and off it when it is mended, by
# traps alone: a host that shows the GUID of the SM's leaf.  All cables of a dead switch are a line.
set -u

. "$(dirname "$0")/fmsim.bash"
need grep python3

"$build/fmroute" gen pgft 2 4,2 1,2 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
guid_of() {
	fmsim_say dump "$1" | sed -n 's/^"[^"]*" \(0x[0-9a-f]*\).*/\1/p'
}
fmctl() {
	"$build/fmctl" --state-dir="$dir/state" "$@"
}
exec_on_fmsim host-1-1 "$build/fmd" --transport=umad --config=none --state-dir="$dir/state" >"$dir/fmd.out" 2>&1 &
await "$dir/fmd.out" "SUBNET UP"
counts() { # troubles, CAs
	fmctl status --json >"$dir/status" && grep -q "\"troubles\": $1,\?$" "$dir/status" && grep -q "\"cas\": $2,\?$" "$dir/status"
}
until_true counts 0 8
fmctl trouble | grep -qx none || fail "trouble where there is none: $(fmctl trouble)"

own=$(guid_of host-2-1)
fmsim_say guid host-2-1 "$(guid_of leaf-1)" >/dev/null
fmsim_say ports host-2-1 6 >/dev/null
fmsim_say reboot host-2-1 >/dev/null
until_true counts 1 7
fmctl trouble >"$dir/list"
grep -q "duplicate-guid.*cabled to \"leaf-2\" (0x[0-9a-f]*) port 1 has a GUID of \"leaf-1\"" "$dir/list" ||
	fail "the list: $(cat "$dir/list")"
fmctl trouble --json | grep -q '"kind": "duplicate-guid"' || fail "no kind: $(fmctl trouble --json)"
[ "$(grep -c "duplicate GUID" "$dir/fmd.out")" = 1 ] || fail "told more than once"
rc=0
fmctl reload --wait >"$dir/list" || rc=$?
[ $rc = 5 ] && grep -q "^sweep [0-9]*: the subnet is up, but not all is as it should be (fmctl trouble), after " "$dir/list" ||
	fail "reload --wait exits with $rc: $(cat "$dir/list")"
echo "ok: a foreign GUID"

fmsim_say guid host-2-1 "$own" >/dev/null
fmsim_say ports host-2-1 1 >/dev/null
fmsim_say reboot host-2-1 >/dev/null
until_true counts 0 8
fmctl trouble | grep -q duplicate-guid && fail "still on the list"
# An event when it came on the list, with both ends, and one when it left.
fmctl events --kind=duplicate-guid --json >"$dir/events"
python3 -c '
import json, sys
began, end = json.load(sys.stdin)
place, = began["facts"]["places"]
sys.exit((place["at"]["node"], place["at"]["port"], place["other"]["node"]) != ("leaf-2", 1, "leaf-1") or
         began["level"] != "warn" or end["level"] != "notice" or "ends" in began or end["ends"] != began["n"])' <"$dir/events" ||
	fail "events of it: $(cat "$dir/events")"
echo "ok: it heals"

# What is believed, and on what reads it rests, whatever the last sweep that changed something said.
as_read() { # KEY VALUE
	fmctl status --json | sed -n '/"as_read"/,/}/p' | grep -q "\"$1\": $2,\?$"
}
as_read nodes_not_heard 0 && as_read ports_not_active 0 && as_read switches_in_doubt 0 || fail "as read: $(fmctl status --json)"
active=$(fmctl status --json | sed -n '/"as_read"/,/}/s/.*"ports_active": \([0-9]*\).*/\1/p')
fmsim_say silence host-2-1 >/dev/null
fmctl sweep heavy >/dev/null
until_true as_read nodes_not_heard 1
as_read ports_active $((active - 2)) || fail "a silent host's link is taken for ACTIVE: $(fmctl status --json)"
fmsim_say wake host-2-1 >/dev/null
fmctl sweep light >/dev/null
until_true as_read nodes_not_heard 0
until_true as_read ports_active "$active"
fmctl status --json | grep -q '"oldest_read_s": [0-9.]*$' || fail "no age: $(fmctl status --json)"
echo "ok: what is believed has an age"

fmsim_say silence spine-2 >/dev/null
fmctl sweep heavy >/dev/null
until_true as_read nodes_not_heard 1
[ "$(fmctl trouble --json | grep -c '"kind": "no-answer"')" = 3 ] || fail "no line, and no entry for each of two cables: $(fmctl trouble --json)"
fmctl trouble >"$dir/list"
[ "$(grep -c '"spine-2"' "$dir/list")" = 1 ] && grep -q 'no-answer.*behind "leaf-1".*; the same of "leaf-2" ' "$dir/list" ||
	fail "not a line for a dead spine: $(cat "$dir/list")"
[ "$(wc -L <"$dir/list")" -le 250 ] || fail "a long line: $(cat "$dir/list")"
fmctl events --kind=no-answer --last=1 --json | grep -c '"node"' | grep -qx 4 || fail "not an event with both ends of two cables: $(fmctl events --kind=no-answer --json)"
echo "ok: a line for a dead switch"
