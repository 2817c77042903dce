#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Counters on fmsim as perfquery and ibqueryerrors see them: each by its name, at its place; ends,
# clearing, agents that differ, flows.  Exit 77 (skipped) where infiniband-diags is absent.
set -u

. "$(dirname "$0")/fmsim.bash"
need perfquery ibqueryerrors smpquery

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
: >"$dir/fmd.conf"
start_fmd
leaf=$(lid_of leaf-1)

tell() {
	fmsim_say "$@" >"$dir/say.out" 2>&1 || fail "$*: $(cat "$dir/say.out")"
}
# read_all OPTIONS...: what perfquery reads of leaf-1 port 5, which carries nothing but its own answers.
read_all() {
	run_on host-1-1 perfquery "$@" "$leaf" 5 >"$dir/counters"
}
# has NAME VALUE: it is in what was read last.
has() {
	local value
	value=$(sed -n "s/^$1:\.*//p" "$dir/counters")
	[ "$value" = "$2" ] || fail "$1 is \"$value\", not $2: $(cat "$dir/counters")"
}

# Each counter that perfquery prints gets a value of its own, and is read back as that.  In
# PortCounters it takes QP1Dropped from where VL15Dropped is (IBA 16.1.3.5).
# numbers FIRST OPTIONS...
numbers() {
	local n=$1 name
	shift
	read_all "$@"
	sed -n 's/^\([A-Z][A-Za-z0-9]*\):\..*/\1/p' "$dir/counters" | grep -v Select >"$dir/names"
	[ $# != 0 ] || sed -i /QP1Dropped/d "$dir/names"
	while read -r name; do
		tell count "leaf-1[5]" "$name" $n
		n=$((n + 1))
	done <"$dir/names"
	read_all "$@"
	n=$((n - $(wc -l <"$dir/names")))
	while read -r name; do
		has "$name" $n
		n=$((n + 1))
	done <"$dir/names"
}
tell pma leaf-1 errors64
tell unlink "leaf-1[5]"
numbers 2
[ "$(wc -l <"$dir/names")" = 17 ] || fail "PortCounters: $(cat "$dir/names")"
tell count "leaf-1[5]" all 0
numbers 5000000000 -x
[ "$(wc -l <"$dir/names")" = 22 ] || fail "PortCountersExtended: $(cat "$dir/names")"
read_all
has SymbolErrorCounter 65535
has LinkErrorRecoveryCounter 255
has LocalLinkIntegrityErrors 15
has PortXmitData 4294967295
tell count "leaf-1[5]" all 0
numbers 7 -T
[ "$(wc -l <"$dir/names")" = 38 ] || fail "PortExtendedSpeedsCounters: $(cat "$dir/names")"
echo "ok: every counter by its name"

# perfquery's masks: errors of the first sixteen bits, PortXmitWait behind them
tell count "leaf-1[5]" all 9
run_on host-1-1 perfquery -R "$leaf" 5 0x0fff >"$dir/counters"
read_all
has SymbolErrorCounter 0
has VL15Dropped 0
has PortXmitData 9
has PortXmitWait 9
run_on host-1-1 perfquery -R "$leaf" 5 0x10000 >"$dir/counters"
read_all
has PortXmitWait 0
has PortXmitData 9
run_on host-1-1 perfquery -x -R "$leaf" 5 >"$dir/counters"
read_all -x
has PortXmitData 0
# Its exit code is that there are errors.
errors_of() {
	timeout 60 bash -c '. "$0"; FMSIM_PRELOAD=$1 FMSIM_RUNTIME=$2; exec_on_fmsim host-1-1 ibqueryerrors' \
		"$top/dev/fmsim-lib.sh" "$FMSIM_PRELOAD" "$FMSIM_RUNTIME" >"$dir/errors" 2>"$dir/tool.err"
	grep -q "ports checked" "$dir/errors" || fail "ibqueryerrors: $(cat "$dir/tool.err")"
}
for node in leaf-1 spine-1; do
	tell count $node all 0
done
errors_of
grep -q " 0 ports have errors" "$dir/errors" || fail "ibqueryerrors tells of cleared counters: $(cat "$dir/errors")"
tell count "leaf-1[6]" SymbolErrorCounter 77
tell count "leaf-1[6]" PortRcvErrors +78
errors_of
grep -q '6: .*SymbolErrorCounter == 77.*PortRcvErrors == 78' "$dir/errors" || fail "ibqueryerrors does not tell: $(cat "$dir/errors")"
echo "ok: clearing, ibqueryerrors"

# agents that have less, answer elsewhere, do not answer
tell pma leaf-1 narrow
run_on host-1-1 bash -c '! perfquery -x "$@"' - "$leaf" 6 >"$dir/counters" 2>&1
read_all
tell count "leaf-4[6]" PortRcvErrors 4321
tell pma leaf-4 redirect host-3-3
run_on host-1-1 perfquery "$(lid_of leaf-4)" 6 >"$dir/counters"
has PortRcvErrors 4321
tell pma leaf-4 silent
run_on host-1-1 bash -c '! perfquery -t 100 "$@"' - "$(lid_of leaf-4)" 6 >"$dir/counters" 2>&1
run_on host-1-1 smpquery nodedesc "$(lid_of leaf-4)" | grep -q leaf-4 || fail "the SMA is silent, too"
echo "ok: agents that differ"

# flows: two into one host wait, and what they carry rises
tell flow host-2-1 host-4-1 12G
tell flow host-3-1 host-4-1 12G
rises() { # COUNTER NODE PORT
	local before after
	before=$(run_on host-1-1 perfquery -x "$(lid_of "$2")" "$3" | sed -n "s/^$1:\.*//p")
	after=$(run_on host-1-1 perfquery -x "$(lid_of "$2")" "$3" | sed -n "s/^$1:\.*//p")
	[ "$after" -gt $((before + 10000)) ]
}
tell pma leaf-4 plain
tell pma host-2-1 errors64
until_true rises PortXmitData leaf-4 1
until_true rises PortXmitWait host-2-1 1
tell flow host-2-1 host-4-1 0
tell flow host-3-1 host-4-1 0
rises PortXmitData leaf-4 1 && fail "what has ended flows on"
echo "ok: flows"

end_job "$fmd"
fmsim_stop
[ "$FMSIM_STATUS" = 0 ] || fail "SIGTERM ends fmsim with $FMSIM_STATUS"
