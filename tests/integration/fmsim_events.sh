#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What happens in the fabric is told in one line each at the level that is the default, with both
# ends of cables, by which trap it was found and since when it was so; fmctl events has the same,
# with its facts as JSON.
set -u

. "$(dirname "$0")/fmsim.bash"
need grep python3

"$build/fmroute" gen pgft 2 4,4 1,2 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
fmctl() {
	"$build/fmctl" --state-dir="$dir/state" "$@"
}
exec_on_fmsim host-1-1 "$build/fmd" --transport=umad --config=none --state-dir="$dir/state" >"$dir/fmd.out" 2>&1 &
fmd=$!
await "$dir/fmd.out" "SUBNET UP"
converged() { fmctl status --json | grep -q '"converged": true'; }
until_true converged
# How long a cable has been there is told in whole seconds of the clock, and not at all in the first.
up=$(date +%s)
a_second_later() { [ "$(date +%s)" -gt "$up" ]; }
until_true a_second_later

# ---- half the uplinks of a leaf: no path is longer, and its packets are on the other half
sleep 15 # routes are counted when no plan has come for 5 s, beside fmd's loop
fmsim_say unlink 'leaf-3[5]' >/dev/null
await "$dir/fmd.out" 'warning sweep: the fullest cable has become fuller: "\(leaf-3" port 6 to "spine-2\|spine-2" port 3 to "leaf-3\)" carries 48 routes, up from 24 on the fullest before'
fmsim_say relink 'leaf-3[5]' >/dev/null
until_true converged
echo "ok: a fuller cable"

# one_line WORDS COMMAND...: what the fabric is told to do is one line of the log, with the words;
# what became of the subnet is another where both together would be longer than 250 characters.
one_line() {
	local words=$1 n
	shift
	n=$(wc -l <"$dir/fmd.out")
	for command in "$@"; do
		fmsim_say "$command" >/dev/null || fail "fmsim: $command"
	done
	told() { tail -n +$((n + 1)) "$dir/fmd.out" | grep -q -- "$words"; }
	until_true told
	until_true converged
	[ "$(tail -n +$((n + 1)) "$dir/fmd.out" | grep -vc ' sweep: \(SUBNET UP\|the fullest cable\)')" = 1 ] || fail "more than a line: $(tail -n +$((n + 1)) "$dir/fmd.out")"
}
event() { # KEY: of the last event in the fabric; the trap of the other end may be read a second later
	fmctl events --json | python3 -c '
import json, sys
at = [e for e in json.load(sys.stdin) if e["subsystem"] == "fabric"][-1]
for key in sys.argv[1].split("."):
    at = at[int(key)] if isinstance(at, list) else at[key]
print(at)' "$1"
}

cable='cable \("leaf-2" port 5 - "spine-1" port 2\|"spine-1" port 2 - "leaf-2" port 5\)'
one_line "warning fabric: lost: $cable (4xEDR); there for .*; by trap 128 of \"\(leaf-2\|spine-1\)\"; SUBNET UP: 6 switches" 'unlink leaf-2[5]'
[ "$(event facts.event)" = lost-cables ] || fail "event"
ends=$(event facts.cables.0.from.node)$(event facts.cables.0.from.port)$(event facts.cables.0.to.node)$(event facts.cables.0.to.port)
[ "$ends" = leaf-25spine-12 ] || [ "$ends" = spine-12leaf-25 ] || fail "both ends: $ends"
[ "$(event facts.cables.0.rate.speed)" = EDR ] || fail "speed"
[ "$(event facts.sweep.links)" = 23 ] || fail "what became of the subnet: $(event facts.sweep.links) links"
event facts.by | grep -q "by trap 128 of" || fail "by which trap: $(event facts.by)"
fmctl events | grep -q "warn  *lost: $cable" || fail "events as text"
one_line "notice  fabric: came: $cable (4xEDR); .*by trap 128 of .*; SUBNET UP" 'relink leaf-2[5]'
echo "ok: a cable"

# over KIND...: of the newest events of these kinds the last one is the end of the first
over() {
	fmctl events --kind="$1" --json | python3 -c '
import json, sys
began, end = json.load(sys.stdin)[-2:]
sys.exit("ends" in began or end["kind"] != began["kind"] or end.get("ends") != began["n"])'
}
over lost-cables || fail "no end of a lost cable: $(fmctl events --json)"
echo "ok: an event has an end"

one_line 'notice  fabric: lost: host "host-3-2" (0x[0-9a-f]*), cabled to "leaf-3" port 2; .*by trap 128 of "leaf-3"; SUBNET UP' 'unlink host-3-2[1]'
one_line 'notice  fabric: came: host "host-3-2" (0x[0-9a-f]*), cabled to "leaf-3" port 2' 'relink host-3-2[1]'
echo "ok: a host"

one_line "warning fabric: another width or speed than before: $cable (1xQDR, before 4xEDR, both ends support 4xEDR)" 'rate leaf-2[5] 1xQDR'
echo "ok: a cable that comes up narrower"

one_line 'notice  fabric: has another name: "edge-3" (0x[0-9a-f]*), before "leaf-3"; by trap 144 of "leaf-3"' 'describe leaf-3 "edge-3"'
one_line 'notice  fabric: has another name: "leaf-3" (0x[0-9a-f]*), before "edge-3"; by trap 144 of "edge-3"' 'describe leaf-3 "leaf-3"'
one_line 'notice  fabric: has another name: "node17 mlx5_0" (0x[0-9a-f]*), before "host-3-3"; by trap 144 of "host-3-3"' 'describe host-3-3 "node17 mlx5_0"'
echo "ok: a switch and a host that have another name"

n=$(wc -l <"$dir/fmd.out")
fmctl sweep heavy --wait >/dev/null || fail "sweep"
lines=$(tail -n +$((n + 1)) "$dir/fmd.out")
[[ $lines != *$'\n'* && $lines == *"SUBNET UP: 6 switches, 16 CAs"* ]] || fail "a sweep that finds nothing: $lines"
fmsim_say unlink 'leaf-4[5]' >/dev/null
fmsim_say unlink 'leaf-4[6]' >/dev/null
await "$dir/fmd.out" 'lost: switch "leaf-4" (0x[0-9a-f]*) and its 4 hosts: "host-4-1", "host-4-2", "host-4-3", "host-4-4"'
echo "ok: a leaf"

# ---- the last ones, and those that come; each once, until fmd ends
fmctl events --last=2 --json | python3 -c 'import json, sys; sys.exit(len(json.load(sys.stdin)) != 2)' || fail "not two events"
fmctl events --last=1 --follow >"$dir/follow" 2>"$dir/follow.err" &
follower=$!
until_true test -s "$dir/follow"
fmsim_say relink 'leaf-4[5]' >/dev/null
await "$dir/follow" 'came: switch "leaf-4"'
fmsim_say unlink 'host-1-4[1]' >/dev/null
await "$dir/follow" 'lost: host "host-1-4"'
kill "$fmd"
wait "$fmd"
newest=$(tail -n 1 "$dir/state/events.jsonl" | sed 's/{"n":\([0-9]*\),.*"kind":"stopped".*/\1/')
rc=0
wait "$follower" || rc=$?
[ $rc = 1 ] && grep -q 'fmd' "$dir/follow.err" || fail "who follows ends with $rc: $(cat "$dir/follow.err")"
numbers=$(sed 's/^ *\([0-9]*\) .*/\1/' "$dir/follow")
[ "$numbers" = "$(seq "$(head -n 1 <<<"$numbers")" "$(tail -n 1 <<<"$numbers")")" ] || fail "not each event once: $(cat "$dir/follow")"
echo "ok: events that come"

# ---- numbers go on over a restart, also of an fmd that was killed
restart() {
	: >"$dir/fmd.out" # what the one before has said is no answer
	exec_on_fmsim host-1-1 "$build/fmd" --transport=umad --config=none --state-dir="$dir/state" >"$dir/fmd.out" 2>&1 &
	fmd=$!
	await "$dir/fmd.out" "SUBNET UP"
}
restart
fmctl events --since="$newest" --json | python3 -c '
import json, sys
events = json.load(sys.stdin)
first = int(sys.argv[1])
sys.exit([e["n"] for e in events] != list(range(first, first + len(events))) or [e["kind"] for e in events][:2] != ["stopped", "started"])' "$newest" ||
	fail "numbers do not go on behind $newest: $(fmctl events --since="$newest")"
fmctl events --kind=started --last=1000 | grep -c ' started' | grep -qx 2 || fail "not two starts: $(fmctl events --kind=started)"
fmctl status --json | python3 -c 'import json, sys; n = json.load(sys.stdin)["events"]; sys.exit(n["started"] != 1 or "stopped" in n)' || fail "counts since the start"
kill -9 "$fmd"
wait "$fmd" 2>/dev/null
sed -i '3s/.*/no event/' "$dir/state/events.jsonl"
printf '{"n":' >>"$dir/state/events.jsonl"
restart
grep -q 'warning keep: .*/events.jsonl: line 3 is no event, as it is no object of JSON; 1 such line is passed over' "$dir/fmd.out" || fail "a wrong line: $(cat "$dir/fmd.out")"
grep -q 'warning keep: .*/events.jsonl ends within a line, as after a crash: its last 5 bytes are left out' "$dir/fmd.out" || fail "a torn line: $(cat "$dir/fmd.out")"
[ "$(fmctl events --kind=events-damaged | grep -c ' is no event\| within a line')" = 2 ] || fail "what was damaged is no event: $(fmctl events)"
echo "ok: events over a restart"

# ---- what has begun is over when it is
fmsim_say unlink 'host-1-1[1]' >/dev/null
has_begun() { [ "$(fmctl events --kind="$1" --since="$newest" --json | grep -c '"kind"')" -gt 0 ]; }
until_true has_begun no-link
all_over no-link fmctl && fail "our port has no link, and that is over: $(fmctl events --kind=no-link --json)"
fmsim_say relink 'host-1-1[1]' >/dev/null
until_true all_over no-link fmctl
echo "ok: our own port"
