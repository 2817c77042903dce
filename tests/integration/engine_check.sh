#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fmd-engine-check: the skeleton engine keeps every property on many fabrics;
# what is no engine is refused with exit code 2.  Runs in the build directory.
set -eu
top=${srcdir:-..}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

gen() { name=$1; shift; ./fmroute gen "$@" >"$tmp/$name.net"; }
gen tree pgft 2 6,6 1,6 1,1
gen torus torus 4x3 2
gen random random 20 4 2 7
gen dragonfly dragonfly 3 2 2

./fmd-engine-check plugins/engines/.libs/template.so "$top"/tests/fabrics/*.net "$tmp"/*.net >"$tmp/out" ||
	{ cat "$tmp/out"; exit 1; }
# The generated fabrics are routed, not refused.
[ "$(grep -c "^ok .*$tmp" "$tmp/out")" = 4 ] || { cat "$tmp/out"; exit 1; }

rc=0
./fmd-engine-check tests/modules/.libs/bad_minor.so "$tmp/tree.net" 2>"$tmp/err" || rc=$?
[ $rc = 2 ] && grep -q 'newer than' "$tmp/err" || { echo "bad_minor: exit $rc"; cat "$tmp/err"; exit 1; }

# An engine that fills nothing is caught by its verdict.
rc=0
./fmd-engine-check tests/modules/.libs/good.so "$tmp/tree.net" >"$tmp/out" || rc=$?
[ $rc = 3 ] && grep -q '^BROKEN .*verdict: ' "$tmp/out" || { echo "good: exit $rc"; cat "$tmp/out"; exit 1; }
