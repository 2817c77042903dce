#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# fmctl health: errors that are counted on a cable are told with both its ends and who is suspected, a
# host that is booted is no bad cable, and what nobody judges is not said to be well.  Quarantine: of
# 1 % of cables that are bad as many are taken out as may be, no host is cut off, and the rest is told.
set -u

. "$(dirname "$0")/fmsim.bash"
need grep python3
[ -x "$build/fmd-perf" ] || skip "there is no fmd-perf"

# 24 leaves with 8 hosts, 16 spines: 384 cables between switches and 192 to hosts
"$build/fmroute" gen pgft 2 8,24 1,16 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
printf 'sweep_interval = 1s\naudit = 0s\n' >"$dir/fmd.conf"
start_fmd
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
shows "^cables: 576 ok, 0 watch, 0 bad, 0 quarantined$" "^not judged by counters: no fmd-perf has told how cables are" || fail "$(cat "$dir/answer")"
exec_on_fmsim host-1-1 "$build/fmd-perf" --state-dir="$dir/state" -v --interval=1 >"$dir/perf.out" 2>&1 &
perf=$!
await "$dir/perf.out" "sweep 2: 1152 of 1152 ports"

# ---- a cable
tell count "leaf-2[9]" SymbolErrorCounter +500
tell count "host-1-2[1]" LinkErrorRecoveryCounter +1
tell traffic host-2-3 host-1-1 4096000
until_true shows "^cables: 574 ok, 1 watch, 1 bad, 0 quarantined$" \
	"^bad  *20[0-9-]*T[0-9:]*Z  *\(leaf-2  *9  *spine-1  *2\|spine-1  *2  *leaf-2  *9\)  *spine-1 port 2  *500 symbol errors within an hour at leaf-2 port 9$" \
	"^watch .*leaf-1  *2  *host-1-2  *1  *cable  *1 link recoveries within an hour at host-1-2 port 1$"
! grep -q "not judged" "$dir/answer" || fail "not judged: $(cat "$dir/answer")"
exits 0 health --json
says '"counter": "symbol_errors"' '"per_hour": 500' '"suspect": "spine-1 port 2"' '"advice": "reseat' '"why": null'
exits 2 report interval_s=1
says "cables is a list of 64 cables at most"
echo "ok: a cable"

# ---- a host that is booted, its switch with errors: it is read again, and nothing is said
tell reboot host-2-3 for 1s
tell count "leaf-2[3]" SymbolErrorCounter +300
has() { # NODE:PORT WORDS
	fmctl counters "$1" >"$dir/answer" 2>/dev/null && grep -q -- "$2" "$dir/answer"
}
until_true has host-2-3:1 "was cleared"
until_true has leaf-2:3 "^SymbolErrorCounter  *300$"
says "^LinkDownedCounter  *[1-9]"

# ---- 1 % of the cables between switches are bad
[ -z "$(fmsim_say lost)" ] || fail "hosts are cut off before: $(fmsim_say lost)"
tell count "leaf-3[10]" SymbolErrorCounter +500
tell count "leaf-4[11]" PortRcvErrors +500
tell count "spine-12[5]" PortRcvErrors +500
until_true shows "^cables: 571 ok, 1 watch, 4 bad, 0 quarantined$"
printf 'health_action = quarantine\n' >>"$dir/fmd.conf"
exits 0 reload --yes --wait
until_true shows "^cables: 571 ok, 1 watch, 2 bad, 2 quarantined$" \
	"^bad .*leaf-2 port 9; not quarantined: 2 are out, and no more may be$" \
	"^bad .*not quarantined: 2 are out, and no more may be$" "^quarantined .*; quarantined for 500 [a-z]* errors within an hour at "
[ "$(said "$dir/fmd.out" "warning health: quarantined: cable ")" = 2 ] || fail "not told: $(cat "$dir/fmd.out")"
[ "$(said "$dir/fmd.out" "warning health: cable .* is bad and stays in use: ")" = 2 ] || fail "not told: $(cat "$dir/fmd.out")"
grep -q 'cable "leaf-2" port 9 .* stays in use: the fullest link would carry [0-9]* routes, more than a tenth beyond [0-9]*$' "$dir/fmd.out" || fail "$(cat "$dir/fmd.out")"
exits 0 isolate
[ "$(grep -c "^link .*quarantined for 500 " "$dir/answer")" = 2 ] || fail "not two: $(cat "$dir/answer")"
cable=$(sed -n '2s/^link  *\([^ ]*\)  *0x[^ ]*  *\([0-9]*\) .*/link:\1:\2/p' "$dir/answer")
exits 0 verify --readback
[ -z "$(fmsim_say lost)" ] || fail "hosts are cut off: $(fmsim_say lost)"
echo "ok: quarantine"

# ---- restored it is left alone, and there is room for the third; so it is after a restart
exits 0 restore "$cable" --yes --wait
is_left_alone() {
	shows "^cables: 571 ok, 1 watch, 2 bad, 2 quarantined$" || return 1
	exits 0 isolate
	! grep -q "^link  *${cable#link:}" <(sed 's/  *0x[^ ]*  */:/; s/^link  */link /' "$dir/answer")
}
until_true is_left_alone
kill -TERM $fmd
wait $fmd || fail "fmd ends with $?"
start_fmd
until_true shows "^cables: 571 ok, 1 watch, 2 bad, 2 quarantined$" "^watch .*leaf-1  *2  *host-1-2 "
[ -z "$(fmsim_say lost)" ] || fail "hosts are cut off: $(fmsim_say lost)"
echo "ok: restored"
end_job $perf

# ---- what is told to be well comes back by itself: here by us, for fmd-perf would take two hours
python3 -c '
import json, socket, sys
def report(args):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    s.sendall(json.dumps({"command": "report", "args": args}).encode() + b"\n")
    return json.loads(b"".join(iter(lambda: s.recv(65536), b"")))["result"]
held = report({"interval_s": 10, "cables": []})
for cable in held["cables"]:
    cable.update(health="ok", suspect="cable", evidence=[])
assert report({"list": held["list"], "interval_s": 10, "cables": held["cables"]})["taken"]
' "$dir/state/fmd.sock" || fail "fmd does not take a report"
until_true shows "^cables: 576 ok, 0 watch, 0 bad, 0 quarantined$"
[ "$(said "$dir/fmd.out" "notice  *health: quarantined no more: the cable at .* has been quiet for two hours")" = 2 ] || fail "$(cat "$dir/fmd.out")"
exits 0 isolate
says "^none$"
echo "ok: quiet"
