#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Unmodified programs of infiniband-diags and fmd itself on fmsim, from several
# nodes; its console.  Exit 77 (skipped) where infiniband-diags is absent.
set -u

. "$(dirname "$0")/fmsim.bash"
need ibnetdiscover smpquery ibtracert dump_lfts perfquery sminfo

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"

# what is there, before anybody has configured it
run_on host-1-1 ibnetdiscover >"$dir/found.out"
for kind in "^Switch:8" "^Ca:16"; do
	n=$(grep -c "${kind%:*}" "$dir/found.out")
	[ "$n" = "${kind#*:}" ] || fail "ibnetdiscover finds $n of ${kind#*:} ${kind%:*}"
done
run_on spine-1 smpquery -D NodeDesc 0 | grep -q "spine-1$" || fail "a switch is not where FMSIM_NODE says"
FMSIM_NODE=nowhere LD_PRELOAD=$FMSIM_RUNTIME${FMSIM_RUNTIME:+:}$FMSIM_PRELOAD timeout 60 \
	ibnetdiscover >"$dir/nowhere.out" 2>&1 && fail "a program sits at a node that is not there"
grep -q 'node "nowhere"' "$dir/nowhere.out" || fail "a node that is not there is not named"
echo "ok: discovery"

on_fmsim host-1-1 timeout 60 "$build/fmd" --transport=umad --once --state-dir="$dir/state" >"$dir/fmd.out" 2>&1
grep -q "SUBNET UP: 8 switches, 16 CAs" "$dir/fmd.out" || fail "fmd does not bring it up"
run_on host-4-4 ibtracert 2 9 >"$dir/trace.out"
grep -q '^To ca .* lid 9-9 ' "$dir/trace.out" || fail "ibtracert does not arrive"
run_on host-2-3 dump_lfts >"$dir/lfts.out"
[ "$(grep -c '^0x.*portguid' "$dir/lfts.out")" = $((8 * 24)) ] || fail "dump_lfts lacks entries"
run_on host-3-1 smpquery PortInfo 9 | grep -q "Lid:.*\.9$" || fail "no PortInfo by LID"
fmsim_say traffic host-1-1 host-4-4 1000000 >/dev/null || fail "no traffic"
fmsim_say dump host-4-4 >"$dir/dump.out"
lid=$(sed -n 's/.*ACTIVE lid \([0-9]*\) .*/\1/p' "$dir/dump.out")
words=$(run_on host-2-1 perfquery -x "$lid" 1 | sed -n 's/^PortRcvData:\.*//p')
[ "$words" -ge 250000 ] || fail "perfquery sees $words words of 250000"
echo "ok: fmd, LID-routed questions, counters"

# fmd that stays is seen as the SM, by the bit and by SMInfo
exec_on_fmsim host-1-1 "$build/fmd" --transport=umad --state-dir="$dir/state2" >"$dir/fmd2.out" 2>&1 &
fmd=$!
await "$dir/fmd2.out" "SUBNET UP"
run_on host-3-3 sminfo | grep -q "SMINFO_MASTER" || fail "sminfo sees no master"
run_on host-3-3 smpquery PortInfo 2 | grep -q "IsSM" || fail "IsSM is not set"
fmsim_say 'Unlink "leaf-4"[1]' >"$dir/say.out" || fail "the console refuses Unlink"
await "$dir/fmd2.out" "15 CAs"
n=$(said "$dir/fmd2.out" "16 CAs")
fmsim_say relink leaf-4[1] >/dev/null
await "$dir/fmd2.out" "16 CAs" $((n + 1))
fmsim_say unlink leaf-4[99] >"$dir/say.out" 2>&1 && fail "a port that is not there is unlinked"
grep -q "no port 99" "$dir/say.out" || fail "the console gives no reason"
kill "$fmd"
wait "$fmd" || fail "SIGTERM ends fmd with $?"
run_on host-3-3 smpquery PortInfo 2 | grep -q "IsSM" && fail "IsSM outlives its holder"
echo "ok: IsSM, traps, console"

# Whoever says nonsense is dropped, others are served
if command -v python3 >/dev/null; then
	timeout 60 python3 "$top/tests/integration/fmsim_nonsense.py" "$FMSIM_SOCKET" || fail "nonsense is taken"
	run_on host-1-1 ibnetdiscover >"$dir/found.out"
	[ "$(grep -c "^Ca" "$dir/found.out")" = 16 ] || fail "nonsense harms others"
	echo "ok: nonsense"
fi

fmsim_stop
[ "$FMSIM_STATUS" = 0 ] || fail "SIGTERM ends fmsim with $FMSIM_STATUS"
