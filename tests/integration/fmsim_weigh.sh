#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# auto weighs rivals that are too slow to be waited for when it is quiet.  A cable that goes meanwhile is repaired without
# waiting for them, though one never ends: they are given up, and weighed anew later.  What would cost a drain is told once,
# and what that says is to be done has it.
set -u

. "$(dirname "$0")/fmsim.bash"
need pgrep
"$build/fmd" --plugin-dir="$build/tests/modules/.libs" --config=none --list-engines 2>&1 | grep -q libseccomp && skip "built without libseccomp"
for e in hyperx dfsssp nue; do
	[ -e "$build/plugins/engines/.libs/$e.so" ] || skip "engine $e is not built"
done

# Small enough for nue to be asked at once, too large for dfsssp.
"$build/fmroute" gen hyperx 7x7x5 5 >"$dir/whole" || exit 1
"$build/fmroute" fail "$dir/whole" --links=1% --seed=3 >"$dir/net" || exit 1
"$build/fmroute" "$dir/net" --engine=auto >"$dir/at_once" || fail "not routed"
grep -q "^weighed " "$dir/at_once" || fail "nothing was weighed: $(cat "$dir/at_once")"
! grep -q "^weighed .*dfsssp" "$dir/at_once" || fail "dfsssp was waited for: $(cat "$dir/at_once")"
simulate "$dir/net"

# dfsssp has a process of its own, and is asked in vain at the start, as it wants more VLs, so that the process of its next
# call waits already: it is made to take for ever.
printf "chain = { dfsssp, auto }\nn_vls = 1\nengine_isolation = all\nlog_level = info\n" >"$dir/fmd.conf"
start_fmd host-0-0-0-1
await "$dir/fmd.out" "engine dfsssp is passed over"
p=$(pgrep -P "$fmd" -f "fmd-engine-host dfsssp") || fail "dfsssp has no process of its own"
kill -STOP "$p"
await "$dir/fmd.out" "auto weighs rivals of"
n=$(said "$dir/fmd.out" "SUBNET UP")
fmsim_say unlink "sw-0-0-0[7]" >/dev/null || fail "unlink"
await "$dir/fmd.out" "SUBNET UP" $((n + 1))
# In the order of the log: given up, repaired; nothing was waited for, nor found.
sed -n '/auto weighs rivals of/,$p' "$dir/fmd.out" >"$dir/since"
grep -n "auto weighs no more: given up" "$dir/since" >"$dir/given_up" || fail "it was not given up: $(cat "$dir/since")"
grep -n "SUBNET UP.*repaired" "$dir/since" >"$dir/repaired" || fail "not repaired: $(cat "$dir/since")"
[ "$(head -n 1 "$dir/given_up" | cut -d: -f1)" -lt "$(head -n 1 "$dir/repaired" | cut -d: -f1)" ] ||
	fail "repaired before it was given up: $(cat "$dir/since")"
! grep -q "auto has weighed" "$dir/since" || fail "weighed with an engine that does not answer: $(cat "$dir/since")"
# The process that had stopped was ended, and another one answers.
await "$dir/fmd.out" "auto weighs rivals of" 2
await "$dir/fmd.out" "auto has weighed"
kill "$fmd"
wait "$fmd"
fmsim_say relink "sw-0-0-0[7]" >/dev/null || fail "relink"

# With more VLs dfsssp is better, by bisections, and other SLs would have entries emptied: nue stays.
rm -rf "$dir/state"
printf "chain = auto\nlog_level = info\n" >"$dir/fmd.conf"
start_fmd host-0-0-0-1
is_told() { fmctl routes >"$dir/answer" && grep -q "^weighed .*dfsssp [0-9]* and 0\.[0-9]*; dfsssp is not taken" "$dir/answer"; }
until_true is_told
says "^nue "
exits 0 events --kind=better-tables
says "dfsssp would route better than nue: nue has [0-9]* .*, dfsssp [0-9]* and 0\.[0-9]*; it needs .*: chain = dfsssp, fmctl reload and fmctl drain take it"
[ "$(grep -c "better-tables" "$dir/answer")" = 1 ] || fail "told more than once: $(cat "$dir/answer")"

# What the event says is to be done has it.
printf "chain = dfsssp\nlog_level = info\n" >"$dir/fmd.conf"
exits 0 reload
is_waiting() { fmctl status >"$dir/answer" && grep -q "fmctl drain" "$dir/answer"; }
until_true is_waiting
exits 0 drain
is_taken() { fmctl routes >"$dir/answer" && grep -q "^dfsssp " "$dir/answer"; }
until_true is_taken
kill "$fmd"
wait "$fmd"
exit 0
