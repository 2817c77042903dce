#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The chain entry auto: which engine it takes on which fabric and what it says of
# that; balance on random graphs.  Engines that are not built are left out of what
# is expected.  Runs in the build directory.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "$*"; cat "$tmp/out"; exit 1; }

value() { sed -n "s/^ \"$1\": \"\{0,1\}\([^\"]*[^\",]\)\"\{0,1\},\{0,1\}$/\1/p" "$tmp/out"; }

# expect "ENGINE..." "WORDS of because" KIND ARGS...: the first of these that is built
expect() {
	engines=$1 because=$2 want=updn
	shift 2
	for e in $engines; do
		[ ! -e "plugins/engines/.libs/$e.so" ] || { want=$e; break; }
	done
	./fmroute gen "$@" >"$tmp/net"
	./fmroute shuffle "$tmp/net" 5 >"$tmp/other"
	for net in net other; do
		./fmroute "$tmp/$net" --engine=auto --json >"$tmp/out" || fail "$*: not routed"
		[ "$(value engine)" = "$want" ] || fail "$* ($net): $(value engine) instead of $want"
		[ "$(value credit_loops)" = 0 ] && [ "$(value unreachable_pairs)" = 0 ] || fail "$*: verdict"
		case $want in
		"${engines%% *}") [ "$(value because | grep -c "$because")" = 1 ] || fail "$*: no reason" ;;
		*) [ "$(value because | wc -l)" = 1 ] || fail "$*: no reason" ;;
		esac
	done
}

expect fattree "a tree" pgft 3 4,4,4 1,4,4 1,1,1
expect "hyperx dragonfly" "a HyperX" hyperx 4x4 2
expect dragonfly "a dragonfly" dragonfly 6 3 3 8
expect dragonfly "a dragonfly" cascade
expect "torus2qos dfsssp nue" "a torus" torus 5x4x4 1
expect "dfsssp nue" "no regular shape" random 40 6 3 1

# Named engines have no reason but that.
./fmroute gen pgft 2 4,4 1,2 1,2 >"$tmp/net"
./fmroute "$tmp/net" --engine=fattree,auto --json >"$tmp/out"
[ -z "$(value because)" ] || fail "a named engine has a reason"
./fmroute "$tmp/net" --engine=auto >"$tmp/out"
grep -q '^because     auto takes the fabric for a tree' "$tmp/out" || fail "text"
./fmroute gen torus 4x4 1 >"$tmp/net"
./fmroute "$tmp/net" --engine=fattree,auto --json >"$tmp/out"
[ "$(grep -c '"engine": "fattree"' "$tmp/out")" = 2 ] || fail "auto asks all of its engines, named before or not"

./fmd --list-engines >"$tmp/out"
grep -q '^auto' "$tmp/out" || fail "not listed"
./fmd --engine=auto --config=none --check >"$tmp/out" || fail "fmd does not take it"

# The most loaded link against the average of minimal routes: mean of five graphs.
[ -e plugins/engines/.libs/dfsssp.so ] || exit 0
for seed in 1 2 3 4 5; do
	./fmroute gen random 125 16 8 "$seed" >"$tmp/net"
	./fmroute "$tmp/net" --engine=auto --json --stats >"$tmp/out"
	value a2a_max_over_avg
done >"$tmp/ratios"
awk '{ sum += $1 } END { exit !(NR == 5 && sum / NR <= 1.7) }' "$tmp/ratios" || { cat "$tmp/ratios"; fail "balance"; }
