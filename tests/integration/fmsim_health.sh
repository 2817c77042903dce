#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# fmctl health: errors that are counted on a cable are told with both its ends and who is suspected, a
# host that is booted is no bad cable, and what nobody judges is not said to be well.
set -u

. "$(dirname "$0")/fmsim.bash"
need grep
[ -x "$build/fmd-perf" ] || skip "there is no fmd-perf"

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
printf 'sweep_interval = 1s\naudit = 0s\n' >"$dir/fmd.conf"
start_fmd
start_perf() {
	exec_on_fmsim host-1-1 "$build/fmd-perf" --state-dir="$dir/state" -v --interval=1 >>"$dir/perf.out" 2>&1 &
	perf=$!
}
tell() {
	fmsim_say "$@" >/dev/null || fail "fmsim: $*"
}
shows() { # WORDS...: the answer of fmctl health has them
	fmctl health >"$dir/answer" || fail "fmctl health: $(cat "$dir/answer")"
	local words
	for words in "$@"; do
		grep -q -- "$words" "$dir/answer" || return 1
	done
}

# ---- nobody judges
shows "^cables: 32 ok, 0 watch, 0 bad, 0 quarantined$" "^not judged by counters: no fmd-perf has told how cables are" || fail "$(cat "$dir/answer")"
: >"$dir/perf.out"
start_perf
await "$dir/perf.out" "sweep 2: 64 of 64 ports"
is_judged() {
	fmctl health --json >"$dir/answer" && grep -q '"why": null' "$dir/answer"
}
until_true is_judged

# ---- a cable
tell count "leaf-2[6]" SymbolErrorCounter +500
until_true shows "^cables: 31 ok, 0 watch, 1 bad, 0 quarantined$" \
	"^bad  *20[0-9-]*T[0-9:]*Z  *\(leaf-2  *6  *spine-2  *2\|spine-2  *2  *leaf-2  *6\)  *spine-2 port 2  *500 symbol errors within an hour at leaf-2 port 6$"
tell count "host-1-2[1]" LinkErrorRecoveryCounter +1
until_true shows "^cables: 30 ok, 1 watch, 1 bad" "^watch .*leaf-1  *2  *host-1-2  *1  *cable  *1 link recoveries within an hour at host-1-2 port 1$"
exits 0 health --json
says '"counter": "symbol_errors"' '"per_hour": 500' '"suspect": "spine-2 port 2"' '"advice": "reseat'
echo "ok: a cable"

# ---- a host that is booted, its switch with errors: it is read again, and nothing is said
tell traffic host-2-3 host-1-1 4096000
sum() { # NODE PORT COUNTER
	fmctl counters "$1:$2" >"$dir/answer" 2>&1
	sed -n "s/^$3  *\(>= \)*//p" "$dir/answer"
}
has_sent() { [ "$(sum host-2-3 1 PortXmitData)" -ge 1000000 ]; }
until_true has_sent
tell reboot host-2-3 for 3s
tell count "leaf-2[3]" SymbolErrorCounter +300
was_cleared() {
	fmctl counters host-2-3:1 >"$dir/answer" 2>&1 && grep -q "was cleared" "$dir/answer"
}
until_true was_cleared
has_seen_it() { [ "$(sum leaf-2 3 LinkDownedCounter)" -ge 1 ] && [ "$(sum leaf-2 3 SymbolErrorCounter)" = 300 ]; }
until_true has_seen_it
n=$(said "$dir/perf.out" "sweep [0-9]*: ")
await "$dir/perf.out" "sweep [0-9]*: " $((n + 3))
shows "^cables: 30 ok, 1 watch, 1 bad" || fail "a host was booted: $(cat "$dir/answer")"
echo "ok: a host that is booted"

# ---- fmd begins anew, and is told all; fmd-perf does, and knows all
kill -TERM $fmd
wait $fmd || fail "fmd ends with $?"
start_fmd
until_true shows "^cables: 30 ok, 1 watch, 1 bad" "500 symbol errors"
end_job $perf
start_perf
await "$dir/perf.out" "sweep 3: 64 of 64 ports" 2
until_true is_judged
shows "^cables: 30 ok, 1 watch, 1 bad" || fail "fmd-perf began anew: $(cat "$dir/answer")"

# ---- what makes no sense
exits 2 report interval_s=1
says "cables is a list of 64 cables at most"
exits 2 report cables=x
says "interval_s is a number of seconds"
echo "ok: who begins anew"
end_job $perf
