#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# fmd-perf: what it has summed is what perfquery shows; its file is there for fmctl; where a third of
# all packets is lost the interval is kept, and what is missing is told; fmd does not notice when it
# is stopped or killed; and nobody's counters are ever written.
set -u

. "$(dirname "$0")/fmsim.bash"
need grep perfquery
[ -x "$build/fmd-perf" ] || skip "there is no fmd-perf"

"$build/fmroute" gen pgft 2 4,2 1,2 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
printf 'sweep_on_trap = no\nsweep_interval = 0\naudit = 0s\n' >"$dir/fmd.conf"
perf=
tell() {
	fmsim_say "$@" >/dev/null || fail "fmsim: $*"
}
start_perf() { # OPTION...
	: >"$dir/perf.out"
	exec_on_fmsim host-1-1 "$build/fmd-perf" --state-dir="$dir/state" -v "$@" >"$dir/perf.out" 2>&1 &
	perf=$!
}

# ---- what makes no sense, and what is not there
on_fmsim host-1-1 "$build/fmd-perf" --interval=0 2>"$dir/said.out"
[ $? = 2 ] && grep -q "interval=0: expected 1..3600 seconds" "$dir/said.out" || fail "an interval of 0: $(cat "$dir/said.out")"
on_fmsim host-1-1 "$build/fmd-perf" --once --socket="$dir/nowhere.sock" 2>"$dir/said.out"
[ $? = 1 ] && grep -q "no fmd answers at $dir/nowhere.sock" "$dir/said.out" || fail "no fmd: $(cat "$dir/said.out")"
start_fmd
exits 1 counters leaf-1
says "does fmd-perf run (fmd-perf(8))?: cannot read $dir/state/counters: No such file"
exits 2 counters
says "counters NODE\[:PORT\]"
exits 2 top fast
says "top takes load, wait or errors"

# ---- sums
on_fmsim host-1-1 "$build/fmd-perf" --state-dir="$dir/state" --once 2>"$dir/said.out" || fail "--once: $(cat "$dir/said.out")"
exits 0 counters host-2-1
says "^host-2-1 port 1 to leaf-2 port 1$" "^SymbolErrorCounter  *0$" "^PortXmitData  *0$"
# fmd stands still for longer than the interval when it is asked for the fabric: what is to be read has all of it yet
reads_all_at_once() {
	kill -STOP "$fmd"
	on_fmsim host-1-1 "$build/fmd-perf" --state-dir="$dir/state" --once --interval=1 2>"$dir/said.out" &
	local reader=$!
	sleep 1.5
	kill -CONT "$fmd"
	wait "$reader"
}
until_true reads_all_at_once
tell pma leaf-1 redirect host-1-4
tell pma spine-1 errors64
tell pma spine-2 narrow
tell pma host-2-4 nowait nofec
start_perf --interval=1
await "$dir/perf.out" "sweep [0-9]*: 24 of 24 ports" # two of a host and its switch a cable, 12 cables
on_fmsim host-1-1 "$build/fmd-perf" --state-dir="$dir/state" --once 2>"$dir/said.out"
[ $? = 1 ] && grep -q "another fmd-perf writes" "$dir/said.out" || fail "two write one file: $(cat "$dir/said.out")"
sum() { # NODE PORT COUNTER
	fmctl counters "$1:$2" >"$dir/answer"
	sed -n "s/^$3  *\(>= \)*//p" "$dir/answer"
}
is_summed() { # NODE PORT COUNTER VALUE
	[ "$(sum "$1" "$2" "$3")" = "$4" ]
}
tell traffic host-1-2 host-2-2 40960000
has_traffic() {
	[ "$(sum host-2-2 1 PortRcvData)" -ge 10240000 ] && [ "$(sum leaf-2 2 PortUnicastXmitPkts)" -ge 10000 ]
}
until_true has_traffic
# every counter of errors (but QP1Dropped, for which perfquery 44 shows VL15Dropped) by a number of its own, at a switch and at a host
names="SymbolErrorCounter LinkErrorRecoveryCounter LinkDownedCounter PortRcvErrors PortRcvRemotePhysicalErrors PortRcvSwitchRelayErrors
	PortXmitDiscards PortXmitConstraintErrors PortRcvConstraintErrors LocalLinkIntegrityErrors ExcessiveBufferOverrunErrors VL15Dropped PortXmitWait"
n=0
for name in $names; do
	n=$((n + 1))
	tell count "leaf-2[2]" "$name" "+$n"
	tell count "host-2-2[1]" "$name" "+$((14 - n))"
done
equals() { # NODE PORT LID: what perfquery shows, name by name
	local name
	run_on host-1-2 perfquery "$3" "$2" >"$dir/perfquery.out"
	fmctl counters "$1:$2" >"$dir/answer" || return 1
	for name in $names; do
		[ "$(sed -n "s/^$name:\.*//p" "$dir/perfquery.out")" = "$(sed -n "s/^$name  *\(>= \)*//p" "$dir/answer")" ] || return 1
	done
}
until_true equals leaf-2 2 "$(lid_of leaf-2)"
until_true equals host-2-2 1 "$(lid_of host-2-2)"
[ "$(sum leaf-2 2 PortXmitWait)" = 13 ] || fail "not what was counted: $(cat "$dir/answer")"
# what is at its end, and what is cleared: the sum stays
tell count "leaf-2[2]" LinkDownedCounter 255
until_true is_summed leaf-2 2 LinkDownedCounter 255
says "^leaf-2 port 2 to host-2-2 port 1: at its end$" "^LinkDownedCounter  *>= 255$"
tell count leaf-2 all 0
tell count "leaf-2[2]" PortRcvErrors 3
until_true is_summed leaf-2 2 PortRcvErrors 7
says "^leaf-2 port 2 to host-2-2 port 1: was cleared, at its end$"

# ---- agents that differ
tell count "leaf-1[5]" PortRcvErrors +5
tell count "spine-1[1]" PortRcvErrors +70000
tell count "spine-2[1]" PortRcvErrors +9
tell count "host-2-4[1]" VL15Dropped +3
until_true is_summed leaf-1 5 PortRcvErrors 5
until_true is_summed spine-1 1 PortRcvErrors 70000
until_true is_summed spine-2 1 PortRcvErrors 9
until_true is_summed host-2-4 1 VL15Dropped 3
exits 0 counters leaf-2
says "^FROM  *PORT  *TO  *PORT  *GBIT/S OUT" "^leaf-2  *2  *host-2-2  *1 "
exits 0 counters leaf-2:2 --history
says "^PortXmitData " "^TIME  *%  *WAIT/S$" "^2[-0-9]*T[0-9:.]*Z  *[0-9]*\.[0-9][0-9]  *[0-9]*$"
exits 0 counters leaf-2:2 --history --json
says '"load_percent": [0-9.]*,' '"wait_ticks_per_s": [0-9.]*'
exits 2 counters leaf-2 --history
says "history is of one port: counters NODE:PORT"
exits 0 top
[ "$(wc -l <"$dir/answer")" = 21 ] || fail "not 20 lines: $(cat "$dir/answer")"
exits 0 top --all
says "^FROM .*ROUTES" "^ROUTES were counted for the first 20 rows only.$"
# 20 of the 24 rows have them, whichever those are now: at most four of the eight between switches have none
routes=$(grep -c "^\(leaf\|spine\)-[12]  *[1-6]  *\(spine\|leaf\)-[12] .* leaf-[12] 8 > leaf-[12] 8" "$dir/answer")
[ "$routes" -ge 4 ] || fail "$routes of eight cables between switches have routes: $(cat "$dir/answer")"
exits 0 top errors --all --json
says '"n_from": 1' '"crossed": null'
says '"by": "errors"' '"planned_routes": [1-9]' '"PortXmitData": '
[ "$(grep -c '"counters": {' "$dir/answer")" = 24 ] || fail "not 24 ports"
shows_load() { # of each cable on the way
	fmctl path host-1-2 host-2-2 >"$dir/answer" && [ "$(grep -c 'Gb/s  load [0-9.]* % wait [0-9]*/s errors [0-9]*/h$' "$dir/answer")" = 4 ]
}
until_true shows_load
echo "ok: sums, agents that differ"

# ---- an agent that is silent
tell pma host-2-3 silent
is_silent() {
	fmctl counters host-2-3 >"$dir/answer"
	[ $? = 5 ] && grep -q "^host-2-3 port 1 to leaf-2 port 3: silent$" "$dir/answer"
}
until_true is_silent
await "$dir/perf.out" "1 of 24 ports are not read: 1 agents do not answer"
tell pma host-2-3 plain
exits 0 counters host-2-2
exits 5 top
says "^1 of 24 ports were not read.$"
echo "ok: a silent agent"

# ---- fmd does not care: not one MAD more while fmd-perf stands still, or when it dies
# Its own port it reads each second; a sweep is more than that.
asked() {
	fmsim_say counts | sed 's/handled \([0-9]*\),.*/\1/'
}
sweeps() {
	fmctl progress --json | grep '"sweep"\|"ended"'
}
was=$(asked)
had=$(sweeps)
stand_still $perf
sleep 1
kill -CONT $perf
kill -9 $perf
{ wait $perf; } 2>/dev/null
is_stale() {
	fmctl counters host-2-2 >"$dir/answer"
	[ $? = 5 ] && grep -q "^Read last [0-9]* s ago: fmd-perf does not run" "$dir/answer"
}
until_true is_stale
[ "$(sweeps)" = "$had" ] || fail "fmd sweeps: $(sweeps), $had before"
[ $(($(asked) - was)) -lt 30 ] || fail "fmd asks $(($(asked) - was)) times"
echo "ok: fmd does not notice"

# ---- a third of all packets is lost; a switch whose agent is silent
start_perf --interval=1
await "$dir/perf.out" "sweep 1: 24 of 24 ports"
fmsim_say silence leaf-2 >/dev/null
fmsim_say loss 30% >/dev/null
await "$dir/perf.out" "of 24 ports are not read: [0-9]* agents do not answer"
await "$dir/perf.out" "sweep 4: "
fmctl counters leaf-2 >"$dir/answer"
[ $? = 5 ] || fail "nothing is missing: $(cat "$dir/answer")"
says "^[0-9]* of 24 ports were not read" "^leaf-2 .* \(silent\|missing\)"
fmsim_say loss 0 >/dev/null
fmsim_say wake leaf-2 >/dev/null
are_read() { # again: those of the leaf with the tenth sweep
	fmctl counters leaf-1
}
until_true are_read >/dev/null
end_job $perf
[ "$(said "$dir/perf.out" "the device does not answer\|nothing can be asked")" = 0 ] || fail "the device: $(cat "$dir/perf.out")"
echo "ok: losses"

# ---- and nobody's counters were written
fmsim_say counts >"$dir/answer"
says "counters asked [0-9]*, written 0$"
echo "ok: nothing is written: $(cat "$dir/answer")"
