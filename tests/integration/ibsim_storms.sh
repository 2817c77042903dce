#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Storms on ibsim, through the real libibumad: cables, hosts and whole switches go and come at
# random moments, and fmd is killed at one of them at least.  After each round all is back, and fmd has to bring the
# fabric up whole: it says so, it reports no trouble and no port that is not ACTIVE, and a walker
# finds every pair routed.  tests/sweep/check_converge does the same on our own simulator, with
# events between any two SMPs.
#
# 10 rounds; FMD_LONG=1: 300; STORM_ROUNDS=FIRST-LAST: these.  The number of a round is its seed.
set -u
# shellcheck source=tests/integration/lib.bash
. "$(dirname "$0")/lib.bash"
need ibnetdiscover dump_lfts python3

host="host-1-1"
whole="switches=6 cas=16 routers=0 cabled=48"
conf=$dir/fmd.conf
rounds=1-10
[ "${FMD_LONG:-}" != 1 ] || rounds=1-300
rounds=${STORM_ROUNDS:-$rounds}

start_fmd() {
	start_on_ibsim $host "$build/fmd" --config="$conf" --engine=fattree,updn --state-dir="$dir/state" \
		>>"$dir/fmd.out" 2>&1
	fmd=$!
}

kill_fmd() {
	kill -KILL "$fmd"
	wait "$fmd" 2>/dev/null
	echo "	fmd killed" >>"$dir/story"
	start_fmd
}

# fmd's own word: up, and nothing left to do.
is_content() {
	"$build/fmctl" --socket="$dir/socket" status --json 2>/dev/null >"$dir/status" &&
		"$build/fmctl" --socket="$dir/socket" trouble --json 2>/dev/null >"$dir/trouble" &&
		python3 - "$dir/status" "$dir/trouble" <<-'EOF'
			import json, sys
			status, trouble = (json.load(open(name)) for name in sys.argv[1:])
			sweep = status["sweep"]
			found = trouble if isinstance(trouble, list) else next(v for v in trouble.values() if isinstance(v, list))
			sys.exit(not (status["subnet_up"] and sweep["ports_not_active"] == 0 and
			              sweep["unreachable_pairs"] == 0 and not found))
		EOF
}

is_routed() {
	on_ibsim $host ibnetdiscover >"$dir/seen" 2>/dev/null &&
		on_ibsim $host dump_lfts >"$dir/lfts" 2>/dev/null &&
		python3 "$top/tests/integration/walk_tables.py" "$dir/seen" "$dir/lfts" >"$dir/walk.out" 2>&1 &&
		grep -q "^$whole " "$dir/walk.out"
}

is_whole() {
	is_content && is_routed
}

# How many ports a node has that lead anywhere: leaves 4 up and 4 down, spines 4, hosts 1.
ports_of() {
	case $1 in
	leaf-*) echo 6 ;;
	spine-*) echo 4 ;;
	*) echo 1 ;;
	esac
}

some_node() {
	case $((RANDOM % 4)) in
	0) echo "spine-$((RANDOM % 2 + 1))" ;;
	1) echo "leaf-$((RANDOM % 4 + 1))" ;;
	*) echo "host-$((RANDOM % 4 + 1))-$((RANDOM % 4 + 1))" ;;
	esac
}

say() {
	echo "	$1" >>"$dir/story"
	ibsim_say "$1"
}

unplug() {
	say "Unlink \"$1\"[$2]"
	out+=("\"$1\"[$2]")
}

put_back_one() {
	[ ${#out[@]} != 0 ] || return
	say "ReLink ${out[0]}"
	out=("${out[@]:1}")
}

# All cables of a node, one after the other; fmd's own host keeps its cable.
take_out() {
	local port
	for ((port = 1; port <= $(ports_of "$1"); port++)); do
		[ "${1}[$port]" = "$own" ] || unplug "$1" "$port"
	done
}

event() {
	local node
	node=$(some_node)
	[ "$node" != $host ] || node=spine-1
	case $((RANDOM % 10)) in
	0 | 1 | 2 | 3)
		local port=$((RANDOM % $(ports_of "$node") + 1))
		[ "${node}[$port]" = "$own" ] || unplug "$node" "$port"
		;;
	4 | 5 | 6) put_back_one ;;
	7 | 8) take_out "$node" ;;
	9) kill_fmd ;;
	esac
	sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
}

play() {
	local n killed_at
	RANDOM=$1 out=()
	: >"$dir/story"
	n=$((RANDOM % 8 + 2))
	killed_at=$((RANDOM % n))
	while ((n-- > 0)); do
		event
		[ $n != $killed_at ] || kill_fmd
	done
	while [ ${#out[@]} != 0 ]; do
		put_back_one
	done
	until_whole "$1"
}

until_whole() {
	local tries
	for ((tries = 0; tries < 150; tries++)); do
		is_whole && return 0
		sleep 0.2
	done
	cat "$dir/story" "$dir/status" "$dir/trouble" "$dir/walk.out"
	tail -n 40 "$dir/fmd.out"
	fail "round $1 does not end in the truth: STORM_ROUNDS=$1-$1"
}

"$build/fmroute" gen pgft 2 4,4 1,2 1,1 >"$dir/net" || fail "fmroute gen"
own="leaf-1[$(sed -n '/"leaf-1"/,/^$/s/^\[\([0-9]*\)\].*"host-1-1".*/\1/p' "$dir/net")]"
simulate "$dir/net" "$dir/ibsim.log"
printf "sweep_interval = 2s\ncontrol_socket = '%s'\n" "$dir/socket" >"$conf"
: >"$dir/story"
start_fmd
until_whole 0 # the bring-up
for ((round = ${rounds%-*}; round <= ${rounds#*-}; round++)); do
	play "$round"
done
! grep -E "ERROR: (Address|Leak)Sanitizer|runtime error" "$dir/fmd.out" || fail "the sanitizer found something"
echo "ok: storms $rounds"
