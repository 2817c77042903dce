#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The configuration is read again while fmd runs, on SIGHUP and on `fmctl reload`: what is
# wrong in it is told with file and line and changes nothing, not even at the next sweep;
# what is right takes effect.  On a simulated fabric with a clock like ours.  Runs in the
# build directory.
set -eu
. "${srcdir:-..}/tests/integration/fmroute.bash"
fmctl() { "$bin/fmctl" --state-dir="$tmp/state" "$@"; }
daemon=
trap '[ -z "$daemon" ] || kill $daemon 2>/dev/null; rm -rf "$tmp"' EXIT

stop() { sed 's/^/fmd: /' log | tail -n 20; fail "$@"; }
stays() { grep -c 'the old configuration stays' log || true; }
engine() { fmctl status --json | sed -n 's/^ *"engine": "\(.*\)",*$/\1/p' | head -n 1; }
await() { # COMMAND...
	comes_true "$@" || stop "never true: $*"
}
is_up() { fmctl status --json 2>/dev/null | grep -q '"subnet_up": true'; }
stays_again() { [ "$(stays)" -gt "$1" ]; }
is_engine() { [ "$(engine)" = "$1" ]; }

"$bin/fmroute" gen pgft 2 4,4 1,2 1,1 >net
good='chain = { "fattree" }'
echo "$good" >fmd.conf
"$bin/fmd" --transport=sim:net,clock=wall --config=fmd.conf --plugin-dir="$bin/plugins/engines/.libs" \
	--state-dir="$tmp/state" >log 2>&1 &
daemon=$!
await is_up
is_engine fattree || stop "it begins with $(engine)"

# What is said, of what is in the file.
refused() { # WORDS
	local n rc=0
	n=$(stays)
	kill -HUP $daemon
	await stays_again "$n"
	grep 'the old configuration stays' log | tail -n 1 | grep -qF -- "$1" || stop "on SIGHUP it does not say: $1"
	fmctl reload >out 2>err || rc=$?
	[ $rc = 2 ] || stop "fmctl reload exits with $rc: $(cat err)"
	grep -F -- "$1" err | grep -q 'the old configuration stays' || stop "fmctl reload does not say \"$1\": $(cat err)"
	n=$(grep -c 'SUBNET UP' log)
	fmctl sweep >out 2>err || stop "fmctl sweep: $(cat err)"
	await eval '[ "$(grep -c "SUBNET UP" log)" -gt '"$n"' ]'
	is_engine fattree || stop "after \"$1\" it routes with $(engine)"
}
printf 'chain = { "updn" }\nno_such = 1\n' >fmd.conf
refused "fmd.conf:2"
printf 'chain = { "updn"\nlmc = 1\n' >fmd.conf
refused "fmd.conf:1"
printf 'chain = { "updn" }\nlmc = 9\n' >fmd.conf
refused "fmd.conf:2"
printf 'chain = { "nosuch" }\n' >fmd.conf
refused "nosuch"
printf 'chain = { "updn" }\nregion "a" { switches = { "name:spine-*" } }\nregion "b" { switches = { "name:spine-1" } }\n' >fmd.conf
refused "spine-1"
printf 'chain = { "updn" }\npartition_config_file = "absent.conf"\n' >fmd.conf
refused "absent.conf"
rm fmd.conf
refused "fmd.conf"
echo "ok: nothing that is wrong takes effect"

echo 'chain = { "updn" }' >fmd.conf
kill -HUP $daemon
await is_engine updn
echo 'chain = { "minhop" }' >fmd.conf
fmctl reload >out || stop "fmctl reload of a good file"
await is_engine minhop
echo "ok: what is right does"

# A chain of which no engine routes is tried first, and refused with each engine's reason.
echo 'chain = { "fattree" }' >fmd.conf
fmctl reload >out || stop "fmctl reload of fattree"
await is_engine fattree
printf 'chain = { "torus2qos", "hyperx" }\nfallback = no\n' >fmd.conf
rc=0
fmctl reload >out 2>err || rc=$?
[ $rc = 2 ] || stop "a chain that cannot route: fmctl reload exits with $rc: $(cat out err)"
for words in 'engine torus2qos: the switches form no mesh' 'engine hyperx: ' 'fmctl reload --yes takes it all the same' 'the old configuration stays'; do
	grep -qF -- "$words" err || stop "fmctl reload does not say \"$words\": $(cat err)"
done
n_stays=$(stays)
kill -HUP $daemon
await stays_again "$n_stays"
grep 'the old configuration stays' log | tail -n 1 | grep -q 'no engine of the new chain can route the fabric' || stop "SIGHUP says nothing of the chain"
grep -q 'the new chain: engine torus2qos: the switches form no mesh' log || stop "nor of its engine"
fmctl sweep --wait >out || stop "fmctl sweep: $(cat out)"
is_engine fattree || stop "after a chain that cannot route it routes with $(engine)"
fmctl routes >out
! grep -q '^mended' out || stop "nothing is mended: $(cat out)"
fmctl reload --yes >out 2>err || stop "fmctl reload --yes: $(cat err)"
is_mended() { fmctl routes >out && grep -q '^mended  *not as configured' out; }
await is_mended
grep -q '^refused  *torus2qos: the switches form no mesh' out || stop "routes does not say who refused: $(cat out)"
is_engine fattree || stop "it mends $(engine)"
fmctl status >out
grep -q '^routing  *fattree.*; not as configured: no engine of the chain can (fmctl routes)' out || stop "status does not say it: $(cat out)"
printf 'chain = { "updn" }\nfallback = no\n' >fmd.conf
fmctl reload >out 2>err || stop "fmctl reload of a chain that can route: $(cat err)"
await is_engine updn
! is_mended || stop "it is as configured: $(cat out)"
echo "ok: a chain is tried first"

# Debug lines of the sweep of the last reload, which sets something in every port.
reloads() { grep -c 'has been reloaded' log; }
reloads_again() { [ "$(reloads)" -gt "$1" ]; }
up_since() { awk '/has been reloaded/ { up = 0 } /SUBNET UP/ { up = 1 } END { exit !up }' log; }
debugged() { awk '/has been reloaded/ { n = 0 } / debug +sweep: / { n++ } END { print n + 0 }' log; }
reload_with() { # TEXT
	local n
	n=$(reloads)
	echo "$1" >fmd.conf
	fmctl reload >out || stop "fmctl reload of \"$1\""
	await reloads_again "$n"
	await up_since
}
reload_with "$(printf 'subnet_timeout = 17\ndebug = "route,sweep"')"
[ "$(debugged)" -gt 0 ] || stop "debug is not taken up"
# All that is wrong, in the answer, too.
printf 'lmc = 9\nqoss = yes\n' >fmd.conf
rc=0
fmctl reload --wait >out 2>err || rc=$?
[ $rc = 2 ] && grep -q 'fmd.conf:1: lmc = 9' err && grep -q 'fmd.conf:2: unknown key qoss' err && grep -q 'the old configuration stays' err ||
	stop "two mistakes: exit code $rc: $(cat err)"
echo "ok: the answer has all that is wrong"

# What only a restart changes is named, until it is as it was.
printf 'subnet_timeout = 17\nmax_smps = 32\ntransaction_timeout = 300ms\n' >fmd.conf
fmctl reload --wait >out || stop "fmctl reload --wait: $?"
grep -q 'transaction_timeout, max_smps: the change needs a restart' out || stop "no word of a restart: $(cat out)"
fmctl reload --json >out || stop "fmctl reload --json: $?"
grep -q '"needs_restart": "transaction_timeout, max_smps"' out || stop "once more, not a word: $(cat out)"
reload_with 'subnet_timeout = 17'
grep -q '"needs_restart": ""' out || grep -q 'needs_restart *$' out || stop "a restart is needed for what is as it was: $(cat out)"
echo "ok: what needs a restart is named"

# LIDs that are in use move only on request.
lids() { fmctl nodes | awk '{ print $0 }' | sort >"$1"; }
lids before
printf 'lmc = 2\n' >fmd.conf
rc=0
fmctl reload --wait >out 2>err || rc=$?
[ $rc = 2 ] && grep -q 'lmc = 2, switch_lmc = 0 would move the LIDs of [0-9]* ports, of .*: fmctl reload --yes moves them; the old configuration stays' err ||
	stop "moving LIDs is not refused: exit code $rc: $(cat err)"
lids after
cmp before after || stop "LIDs have moved without leave"
n=$(reloads)
kill -HUP $daemon
await reloads_again "$n"
await up_since
grep -q 'stay as they are, and so do lmc = 0 and switch_lmc = 0' log || stop "SIGHUP says nothing of LIDs"
lids after
cmp before after || stop "LIDs have moved on SIGHUP"
! grep -E "gets? (another|others)" log || stop "the log has LIDs as moved that stay"
fmctl reload --yes --wait >out || stop "fmctl reload --yes --wait: $?"
lids after
! cmp -s before after || stop "no LID has moved with --yes"
fmctl reload --wait >out || stop "the same again asks: $?"
echo "ok: LIDs move on request only"
reload_with 'subnet_timeout = 16'
[ "$(debugged)" = 0 ] || stop "debug stays on, though no file asks for it any more"
kill $daemon
wait $daemon || stop "SIGTERM: $?"
daemon=
echo "ok: what is no longer there is as if it had never been"
