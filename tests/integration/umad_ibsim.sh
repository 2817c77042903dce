#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The umad transport against ibsim: every node of the netlist is found from a
# CA and from a switch, at any window, with and without losses; SIGTERM ends
# it cleanly.  Exit 77 (skipped) where ibsim or umad2sim is absent.
set -u

umad2sim=$(ls /usr/lib/*/umad2sim/libumad2sim.so 2>/dev/null | head -n 1)
command -v ibsim >/dev/null 2>&1 && [ -n "$umad2sim" ] || {
	echo "ibsim is absent: skipped"
	exit 77
}
probe=${FMD_BUILD:-$PWD}/tests/integration/umad_probe
[ -x "$probe" ] || {
	echo "umad_probe is not built: skipped"
	exit 77
}
dir=$(mktemp -d)
ibsim_pid=
cleanup() {
	exec 7>&-
	[ -z "$ibsim_pid" ] || { kill "$ibsim_pid" 2>/dev/null; wait "$ibsim_pid" 2>/dev/null; }
	rm -rf "$dir"
}
trap cleanup EXIT
fail() {
	echo "FAIL: $*"
	cat "$dir"/out 2>/dev/null
	exit 1
}

# Three leaves under two spines, two CAs per leaf.
cable() {
	printf '[%d] "%s"[%d] # lid 0 4xQDR\n' "$@"
}
netlist() {
	local leaf spine ca
	for leaf in 1 2 3; do
		printf '\nSwitch 8 "leaf-%d"\n' "$leaf"
		for spine in 1 2; do
			cable "$spine" "spine-$spine" "$leaf"
			cable $((spine + 4)) "host-$leaf-$spine" 1
		done
	done
	for spine in 1 2; do
		printf '\nSwitch 8 "spine-%d"\n' "$spine"
		for leaf in 1 2 3; do
			cable "$leaf" "leaf-$leaf" "$spine"
		done
	done
	for leaf in 1 2 3; do
		for ca in 1 2; do
			printf '\nHca 2 "host-%d-%d"\n' "$leaf" "$ca"
			cable 1 "leaf-$leaf" $((ca + 4))
		done
	done
}
netlist >"$dir/net"
n_nodes=11

cd "$dir" || exit 1
export IBSIM_SOCKNAME=fmd-check-$$
mkfifo console
ibsim -s "$dir/net" <console >ibsim.log 2>&1 &
ibsim_pid=$!
exec 7>console
for _ in $(seq 100); do
	grep -q "simulator ready" ibsim.log && break
	kill -0 "$ibsim_pid" 2>/dev/null || break
	sleep 0.1
done
kill -0 "$ibsim_pid" 2>/dev/null || { cat ibsim.log; fail "ibsim did not start"; }

# A build with sanitizers brings its own runtime, which is then not first; and
# umad2sim reads 32 bytes beyond each MAD it queues.
export ASAN_OPTIONS=verify_asan_link_order=0:replace_intrin=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
probe_at() {
	local host=$1
	shift
	SIM_HOST=$host LD_PRELOAD=$umad2sim timeout 60 "$probe" "$@" >out 2>&1
}

for host in host-1-1 spine-2; do
	for window in 1 4 128; do
		probe_at "$host" "$window" 500 || fail "from $host, window $window"
		grep -q "^nodes=$n_nodes .*answered=500 " out || fail "from $host, window $window: not all found"
		# on a busy machine a request is sent again, and then answered twice
		resent=$(sed -n 's/.*answered=\([0-9]*\) sent=\([0-9]*\) .*/\2 - \1/p' out)
		doubled=$(sed -n 's/^failed=0 foreign=0 duplicates=\([0-9]*\) .*/\1/p' out)
		[ "${doubled:-1000000}" -le $((resent)) ] || fail "from $host: strange answers"
	done
done

# Losses at one switch: retries get through, and nothing is taken twice.
probe_at host-1-1 16 300 || fail "before the losses"
sent=$(sed -n 's/.* sent=\([0-9]*\) .*/\1/p' out)
echo 'Error "leaf-2" 10' >&7
sleep 0.3
probe_at host-1-1 16 300 || fail "with losses"
grep -q "^nodes=$n_nodes .*answered=300 " out || fail "with losses: not all found"
[ "$(sed -n 's/.* sent=\([0-9]*\) .*/\1/p' out)" -gt "$sent" ] || fail "with losses: there were none"
echo 'Error "leaf-2" 0' >&7

# SIGTERM in the middle of the work: an orderly end, and the port is free again.
SIM_HOST=host-1-1 LD_PRELOAD=$umad2sim "$probe" 16 100000000 >out 2>&1 &
pid=$!
for _ in $(seq 100); do
	grep -q "attached" out && break
	sleep 0.1
done
sleep 0.5
kill -TERM "$pid"
wait "$pid"
rc=$?
[ "$rc" -eq 1 ] || fail "SIGTERM: exit code $rc"
grep -q "stopped while" out || fail "SIGTERM: no word of it"
probe_at host-1-1 16 100 || fail "after SIGTERM"
echo "ok"
