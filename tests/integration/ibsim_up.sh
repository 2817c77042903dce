#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# fmd through the real libibumad on ibsim, for a few fabrics; the referees are
# programs that others wrote: ibnetdiscover (every node, every port ACTIVE),
# dump_lfts judged by fmroute check, ibdmchk (no credit loop).  A second fmd on
# the same fabric sends no Set.  Exit 77 (skipped) where they are absent.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=dev/ibsim-lib.sh
. "$top/dev/ibsim-lib.sh"
ibsim_available || { echo "ibsim is absent: skipped"; exit 77; }
for tool in ibnetdiscover dump_lfts ibdmchk smpquery; do
	command -v $tool >/dev/null 2>&1 || { echo "$tool is absent: skipped"; exit 77; }
done
build=${FMD_BUILD:-$PWD}
export FMD_PLUGIN_PATH=$build/plugins/engines
dir=$(mktemp -d)

fail() {
	echo "FAIL: $fabric: $*"
	tail -n 20 "$dir"/*.out
	exit 1
}

# kind and arguments : engines : 1 when ibdmchk must find no credit loop
# example NAME : - : the same, regions on the fabric that NAME says it fits
fabrics="
pgft 2 4,8 1,4 1,1:minhop:0
pgft 3 2,2,4 1,2,2 1,1,1:updn:1
torus 3x3x3 2:updn:1
random 12 4 30 5:updn:1
dragonfly 4 2 2:updn:1
example regions-two-trees:-:1
example regions-storage:-:1
example regions-pods-torus:-:0
"

# The fabric, and the options of fmd.
generate() {
	local example=$top/conf/examples/${fabric#example }.conf
	options=(--engine="$engines")
	if [ "$fabric" = "${fabric#example }" ]; then
		# shellcheck disable=SC2086
		"$build/fmroute" gen $fabric >"$dir/net" || fail "fmroute gen"
		return
	fi
	options=(--config="$example")
	eval "$(sed -n 's/^#   fmroute \(gen .*\)/"$build\/fmroute" \1/p' "$example")" >"$dir/net" ||
		fail "fmroute gen"
}

bring_up() {
	on_ibsim "$host" "$build/fmd" --once "${options[@]}" --state-dir="$dir/state" \
		--dump="$dir/dump" >"$dir/fmd.out" 2>&1 || fail "fmd exits with $?"
	grep -q "SUBNET UP" "$dir/fmd.out" || fail "no SUBNET UP"
}

check_nodes() {
	on_ibsim "$host" ibnetdiscover >"$dir/seen" 2>"$dir/discover.out" || fail "ibnetdiscover"
	for kind in Switch Ca; do
		want=$(grep -cE "^(${kind}|${kind/Ca/Hca})[[:space:]]" "$dir/net")
		got=$(grep -c "^$kind" "$dir/seen")
		[ "$want" = "$got" ] || fail "ibnetdiscover sees $got of $want nodes of kind $kind"
	done
}

check_tables() {
	on_ibsim "$host" dump_lfts >"$dir/lfts" 2>"$dir/lfts.out" || fail "dump_lfts"
	"$build/fmroute" check "$dir/seen" "$dir/lfts" --json >"$dir/check.json" 2>"$dir/check.out" ||
		[ "$loopfree" = 0 ] || fail "fmroute check"
	grep -q '"unreachable_pairs": *0[,}]' "$dir/check.json" || fail "pairs without a way: $(cat "$dir/check.json")"
}

check_credit_loops() {
	[ "$loopfree" = 1 ] || return 0
	# It judges, then crashes over the absent multicast groups: only its words count.
	(ibdmchk -s "$dir/dump/opensm-subnet.lst" -f "$dir/dump/opensm.fdbs" -m "$dir/dump/opensm.mcfdbs" \
		>"$dir/ibdmchk.out" 2>&1; true) 2>/dev/null
	grep -qi "no credit loops found\|no deadlock" "$dir/ibdmchk.out" || fail "ibdmchk: $(tail -n 5 "$dir/ibdmchk.out")"
}

while IFS=: read -r fabric engines loopfree; do
	[ -n "$fabric" ] || continue
	rm -rf "$dir/state" "$dir/dump"
	generate
	ibsim_start "$dir/net" "$dir/ibsim.out" || fail "ibsim"
	trap 'ibsim_stop; rm -rf "$dir"' EXIT
	host=$(sed -n 's/^\(Hca\|Ca\)[[:space:]]*[0-9]*[[:space:]]*"\([^"]*\)".*/\2/p' "$dir/net" | head -n 1)
	bring_up
	check_nodes
	check_tables
	check_credit_loops
	bring_up
	grep -q "^Sets *0$" "$dir/fmd.out" || fail "a second fmd sends Sets"
	ibsim_stop
	echo "ok: $fabric ($engines)"
done <<<"$fabrics"
