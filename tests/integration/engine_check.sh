#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fmd-engine-check: the skeleton engine keeps every property on many fabrics, those
# that write whole rows keep theirs on trees in parts;
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

# Whole rows: damaged trees; two components, a switch and a pair of hosts by themselves.
gen tall pgft 3 4,4,4 1,4,4 1,1,1
./fmroute fail "$tmp/tall.net" --links=5% --switches=3 --seed=2 >"$tmp/damaged.net"
gen parts pgft 2 3,3 1,3 1,1
sed 's/200f4/200f5/g; s/"\(leaf\|spine\|host\)-/"other-\1-/g' "$tmp/parts.net" >"$tmp/other"
cat "$tmp/other" - >>"$tmp/parts.net" <<-'END'

	switchguid=0x7(7)
	Switch 4 "alone"

	caguid=0x8
	Ca 1 "pair-1"
	[1](9) "pair-2"[1]

	caguid=0xa
	Ca 1 "pair-2"
	[1](b) "pair-1"[1]
END
gen groups dragonfly 6 2 3 8
./fmroute fail "$tmp/groups.net" --links=5% --seed=4 >"$tmp/cut.net"
for run in "dragonfly groups" "dragonfly cut" "fattree tall" "fattree damaged" "fattree parts" "minhop parts" "updn parts"; do
	./fmd-engine-check "plugins/engines/.libs/${run% *}.so" "$tmp/${run#* }.net" >"$tmp/out" &&
		grep -q '^ok ' "$tmp/out" || { echo "$run:"; cat "$tmp/out"; exit 1; }
done

rc=0
./fmd-engine-check tests/modules/.libs/bad_minor.so "$tmp/tree.net" 2>"$tmp/err" || rc=$?
[ $rc = 2 ] && grep -q 'newer than' "$tmp/err" || { echo "bad_minor: exit $rc"; cat "$tmp/err"; exit 1; }

# An engine that fills nothing is caught by its verdict.
rc=0
./fmd-engine-check tests/modules/.libs/good.so "$tmp/tree.net" >"$tmp/out" || rc=$?
[ $rc = 3 ] && grep -q '^BROKEN .*verdict: ' "$tmp/out" || { echo "good: exit $rc"; cat "$tmp/out"; exit 1; }

# Options from a configuration; and an engine that is never done.
for root in spine-1 nobody; do
	echo "template { root = { \"$root\" } }" >"$tmp/$root.conf"
	./fmd-engine-check --config="$tmp/$root.conf" plugins/engines/.libs/template.so "$tmp/tree.net" >"$tmp/$root"
done
grep -q '^ok ' "$tmp/spine-1" && grep -q '^refused .*root matches none of the ' "$tmp/nobody" ||
	{ cat "$tmp/spine-1" "$tmp/nobody"; exit 1; }
rc=0
./fmd-engine-check --time-limit=1 tests/modules/.libs/slow.so "$tmp/tree.net" >"$tmp/out" 2>"$tmp/err" || rc=$?
[ $rc = 3 ] && grep -q 'over the time limit: slow on .*, route' "$tmp/err" || { echo "slow: exit $rc"; cat "$tmp/err"; exit 1; }
