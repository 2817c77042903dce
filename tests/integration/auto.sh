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
expect updn "a ragged tree" director 12 6 10 4 2 6 seed=1
expect updn "a ragged tree" pods 3 20 20 0 20 18
expect updn "a ragged tree" tree3 8 7 10 5 14 20 storage=2
expect "hyperx dragonfly" "a HyperX" hyperx 4x4 2
expect dragonfly "a dragonfly" dragonfly 6 3 3 8
expect dragonfly "a dragonfly" cascade
expect "torus2qos dfsssp nue" "a torus" torus 5x5x5 1
expect "dfsssp nue" "a shape whose own routes are uneven" torus 5x4x4 1
for q in 5 7 11; do
	expect "dfsssp nue" "no regular shape" slimfly $q 3
done

# auto is as good as the best of these, or nearly: 5 % of the fullest link, .005 of eBB (core/route/rivals.h,
# which takes fewer samples of bisections), with one VL more at most than who is.
figures() {
	./fmroute "$tmp/net" --engine="$1" --json --stats >"$tmp/out"
	echo "$1 $(value engine) $(sed -n 's/^  "max": \([0-9]*\).*/\1/p' "$tmp/out") $(value ebb) $(value vls)"
}
weigh() { # ENGINES FABRIC
	for e in $1 auto; do figures "$e"; done >"$tmp/figures"
	awk '$1 == "auto" { load = $3; ebb = $4; vls = $5; next }
	    $1 == $2 { n++; l[n] = $3; e[n] = $4; v[n] = $5; fewest = n == 1 || $3 < fewest ? $3 : fewest; best = $4 > best ? $4 : best }
	    function far(load, ebb, a, b) { a = (load / fewest - 1) / 0.05; b = (best - ebb) / 0.005; return a > b ? a : b }
	    END { nearest = 1000; least = 99
		for (i = 1; i <= n; i++) {
			d = far(l[i], e[i])
			nearest = d < nearest ? d : nearest
			least = d <= 1 && v[i] < least ? v[i] : least
		}
		exit !(n > 0 && far(load, ebb) <= (nearest > 1 ? nearest : 1) + 0.2 && (nearest > 1 || vls <= least + 1)) }' \
	    "$tmp/figures" || { cat "$tmp/figures"; fail "$2: worse than need be"; }
}
for words in "director 12 6 10 4 2 6 seed=1" "director 12 6 10 4 2 6 seed=2" "director 8 4 6 3 2 3 seed=1" \
    "pods 4 4 2 1 3 4 seed=1" "pods 3 6 4 0 4 6" "tree3 3 3 4 2 3 4 storage=2 seed=1" "tree3 4 4 4 2 4 6 missing=2" \
    "tree3 3 3 2 2 4 3 missing=1 slow=3 rails=2 aggregation=1" "tree3 4 4 4 2 4 6" "pgft 3 4,4,4 1,4,4 1,1,1" "pgft 2 12,12 1,4 1,3"; do
	./fmroute gen $words >"$tmp/whole"
	for part in --links=0 --links=1% --links=10% --links=20% --switches=1; do
		cp "$tmp/whole" "$tmp/net"
		[ $part = --links=0 ] || ./fmroute fail "$tmp/whole" $part --seed=4 >"$tmp/net"
		weigh "fattree updn minhop" "$words $part"
	done
done
for net in "${FMD_TOPOLOGIES:-$srcdir/../shared/topologies}"/qdr-144.net "${FMD_TOPOLOGIES:-$srcdir/../shared/topologies}"/ndr-dgx-582.net; do
	[ ! -e "$net" ] || { cp "$net" "$tmp/net" && weigh "fattree updn minhop" "$net"; }
done
for words in "dragonfly 4 2 2" "dragonfly 6 3 3" "hyperx 5x4 3" "slimfly 5 3" "random 40 6 3 1" "random 60 8 4 2" "torus 5x4x4 2" "kautz 3 3 3"; do
	./fmroute gen $words >"$tmp/whole"
	for part in --links=0 --links=1% --links=5% --links=10%; do
		cp "$tmp/whole" "$tmp/net"
		[ $part = --links=0 ] || ./fmroute fail "$tmp/whole" $part --seed=5 >"$tmp/net"
		weigh "dragonfly hyperx torus2qos dor dfsssp nue" "$words $part"
	done
done
# With several LIDs an end there are several paths to three hosts of four, and base LIDs as good as ever.
for words in "dragonfly 6 3 3" "dragonfly 8 4 4"; do
	./fmroute gen $words >"$tmp/net"
	alone=$(figures auto | cut -d' ' -f3)
	for lmc in 1 2; do
		./fmroute "$tmp/net" --engine=auto --lmc=$lmc --json --stats >"$tmp/out"
		several=$(sed -n 's/^  "several_paths": \([0-9.]*\).*/\1/p' "$tmp/out") most=$(sed -n 's/^  "max": \([0-9]*\).*/\1/p' "$tmp/out")
		awk "BEGIN { exit !(${several:-0} >= 0.75 && $most <= 1.05 * $alone && $(value vls) <= 4) }" ||
			fail "$words, LMC $lmc: several paths to $several, $most routes on the fullest link, $alone without alternates"
	done
done
./fmroute gen pods 3 20 20 0 20 18 >"$tmp/net"
./fmroute "$tmp/net" --engine=auto >"$tmp/out"
grep -q '^weighed     fattree has [0-9]* routes on the fullest link and 0\.[0-9]* of a random bisection, updn [0-9]* and 0\.[0-9]*, minhop [0-9]* and 0\.[0-9]*$' "$tmp/out" || fail "measure"
./fmroute gen pgft 2 4,4 1,2 1,2 >"$tmp/net"
./fmroute "$tmp/net" --engine=auto >"$tmp/out"
! grep -q '^weighed' "$tmp/out" || fail "a whole tree needs no measure"

# Named engines have no reason but that.
./fmroute gen pgft 2 4,4 1,2 1,2 >"$tmp/net"
./fmroute "$tmp/net" --engine=fattree,auto --json >"$tmp/out"
[ -z "$(value because)" ] || fail "a named engine has a reason"
./fmroute "$tmp/net" --engine=auto >"$tmp/out"
grep -q '^because     auto takes the fabric for a tree' "$tmp/out" || fail "text"
./fmroute gen torus 5x5 1 >"$tmp/net"
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
