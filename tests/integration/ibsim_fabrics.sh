#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Fabrics of some size on ibsim, judged by programs that others wrote:
# ibnetdiscover sees every node; dump_lfts and a walker bring every LID to its
# owner, and the live tables are those that fmd dumped; ibtracert agrees on
# samples; ibdmchk finds no credit loop in the live tables; iblinkinfo shows
# every cabled port ACTIVE; a second fmd sends no Set.
# The fabrics of real clusters (FMD_TOPOLOGIES, or ../shared/topologies) are passed over where absent.
set -u
# shellcheck source=tests/integration/lib.bash
. "$(dirname "$0")/lib.bash"
need ibnetdiscover dump_lfts ibtracert ibdmchk iblinkinfo python3

# fabric : engines : place of fmd, - = first host : what must be seen, - = all of the file
fabrics="
gen pgft 2 18,36 1,18 1,1:fattree,updn:-:-
shared ndr-dgx-582:fattree,updn:-:-
shared qdr-144:fattree,updn:-:-
gen torus 6x5x4 2:updn:-:-
gen torus 6x5x4 2:minhop:-:-
gen random 60 8 4 1:updn:-:-
gen dragonfly 8 4 4:updn:-:-
edge two-cas:updn:-:-
edge one-switch:fattree,updn:-:-
edge sm-port0:updn:managed:-
edge dual-port:updn:-:-
edge router:updn:-:-
edge two-components:updn:ha1:switches=2 cas=2 routers=0 cabled=6
edge aggregation:fattree,updn:-:-
"

[ $# = 0 ] || fabrics=$1 # or those of the first argument

get_fabric() {
	local from=$1 name=$2
	shift
	case $from in
	gen) "$build/fmroute" gen "$@" ;;
	shared) cat "${FMD_TOPOLOGIES:-$top/../shared/topologies}/$name.net" 2>/dev/null ;;
	edge) cat "$top/tests/fabrics/$name.net" ;;
	esac
}

bring_up() {
	on_ibsim "$host" "$build/fmd" --once --engine="$engines" --state-dir="$dir/state" \
		--dump="$dir/dump" >"$dir/fmd.out" 2>&1 || fail "fmd exits with $?"
	grep -q "SUBNET UP" "$dir/fmd.out" || fail "no SUBNET UP"
}

# Nodes of the file that have a cable: the file's own words, not our reader's.
expected() {
	awk '/^(Switch|Hca|Ca|Rt)[ \t]/ { kind = $1 == "Hca" ? "Ca" : $1; n[kind]++ }
		/^\[/ && kind != "" { cabled++ }
		END { printf "switches=%d cas=%d routers=%d", n["Switch"], n["Ca"], n["Rt"] }' "$1"
}

check_tables() {
	on_ibsim "$host" ibnetdiscover >"$dir/seen" 2>"$dir/seen.out" || fail "ibnetdiscover fails"
	if grep -q '^Switch' "$dir/seen"; then
		on_ibsim "$host" dump_lfts >"$dir/lfts" 2>"$dir/lfts.out" || fail "dump_lfts fails"
	else
		touch "$dir/lfts" "$dir/dump/lfts"
	fi
	python3 "$top/tests/integration/walk_tables.py" "$dir/seen" "$dir/lfts" --same="$dir/dump/lfts" \
		--samples=$samples >"$dir/walk.out" 2>&1 || fail "the walker is not content"
	grep -q "^$seen " "$dir/walk.out" || fail "not seen by ibnetdiscover: $seen"
}

check_samples() {
	local word from to
	while read -r word from to; do
		[ "$word" = sample ] || continue
		on_ibsim "$host" ibtracert "$from" "$to" >"$dir/trace.out" 2>&1 || fail "ibtracert $from $to"
		grep -q "^To .* lid $to-" "$dir/trace.out" || fail "ibtracert $from $to ends elsewhere"
	done <"$dir/walk.out"
}

check_credit_loops() {
	[ "$engines" != minhop ] && [ -s "$dir/lfts" ] || return 0
	"$build/fmroute" check "$dir/seen" "$dir/lfts" --dump="$dir/live" >"$dir/check.out" 2>&1 ||
		fail "fmroute check refuses the live tables"
	local tables
	for tables in dump live; do
		# It judges, then crashes over the absent multicast groups of some fabrics.
		(cd "$dir" && ibdmchk -s $tables/opensm-subnet.lst -f $tables/opensm.fdbs \
			-m $tables/opensm.mcfdbs >"$dir/ibdmchk.out" 2>&1; true) 2>/dev/null
		grep -q "no credit loops found" "$dir/ibdmchk.out" || fail "ibdmchk on $tables"
	done
}

check_ports() {
	local ends active
	on_ibsim "$host" iblinkinfo >"$dir/links.out" 2>&1 || fail "iblinkinfo fails"
	ends=$(sed -n 's/.* cabled=\([0-9]*\) .*/\1/p' "$dir/walk.out")
	active=$(grep -c "Active/  LinkUp" "$dir/links.out")
	[ "$ends" -gt 0 ] && [ "$active" = "$ends" ] || fail "$active of $ends ports are ACTIVE"
}

check_second_run() {
	bring_up
	grep -q "^Sets *0$" "$dir/fmd.out" || fail "a second fmd sends Sets"
}

n=0
while IFS=: read -r fabric engines place seen; do
	[ -n "$fabric" ] || continue
	rm -rf "${dir:?}"/*
	mkdir "$dir/dump"
	# shellcheck disable=SC2086
	get_fabric $fabric >"$dir/net"
	[ -s "$dir/net" ] || { echo "passed over: $fabric is not there"; continue; }
	host=$place samples=8
	[ "$host" != - ] || host=$(first_host "$dir/net")
	[ "$seen" != - ] || seen=$(expected "$dir/net")
	[ "${fabric%% *}" != edge ] || samples=1
	simulate "$dir/net" "$dir/ibsim.log"
	bring_up
	check_tables
	check_samples
	check_credit_loops
	check_ports
	check_second_run
	ibsim_stop
	echo "ok: $fabric ($engines): $(head -n 1 "$dir/walk.out")"
	n=$((n + 1))
done <<<"$fabrics"
[ $# != 0 ] || [ "$n" -ge 12 ] || fail "only $n fabrics"
