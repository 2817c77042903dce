#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A time limit ends an engine that asks whether it is to stop, and the chain goes
# on.  One that never asks cannot be ended: it is warned of while it runs.
# No time is asserted: the deaf engine goes on until the warning is there.
# Runs in the build directory.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAIL: $*"; cat "$tmp/out" "$tmp/err"; exit 1; }

./fmroute gen pgft 2 4,4 1,2 1,1 >"$tmp/tree.net"
cat >"$tmp/fmd.conf" <<END
chain = { "slow", "deaf", "slow:short", "updn" }
engine_time_limit = 100ms
slow "short" { time_limit = 30ms }
deaf { time_limit = 50ms }
END
route() {
	./fmroute "$tmp/tree.net" --config="$tmp/fmd.conf" --plugin-dir=tests/modules/.libs \
		--plugin-dir=plugins/engines/.libs --json >"$tmp/out" 2>"$tmp/err"
}

DEAF_UNTIL=$tmp/heard
export DEAF_UNTIL
route &
pid=$!
n=0
until grep -q 'engine deaf is over its time limit and does not stop.*limit_ms=50 ' "$tmp/err" 2>/dev/null; do
	n=$((n + 1))
	[ $n -lt 600 ] || { touch "$tmp/heard"; wait $pid || true; fail "no warning of the deaf engine"; }
	sleep 0.1
done
kill -0 $pid || fail "the deaf engine was left before it came back"
touch "$tmp/heard"
wait $pid || fail "the chain did not go on"

reasons=$(sed -n 's/.*"reason": "\(.*\)".*/\1/p' "$tmp/out")
[ "$reasons" = "its time limit of 100ms is over: stopped at the first of 6 switches
it was too hard after all
its time limit of 30ms is over: stopped at the first of 6 switches" ] || fail "refused: $reasons"
grep -q '"engine": "updn"' "$tmp/out" || fail "no updn at the end of the chain"
