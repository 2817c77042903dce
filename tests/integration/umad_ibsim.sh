#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The umad transport against ibsim: every node of the netlist is found from a
# CA and from a switch, at any window, with and without losses; SIGTERM ends
# it cleanly.  Exit 77 (skipped) where ibsim or umad2sim is absent.
set -u
# shellcheck source=tests/integration/lib.bash
. "$(cd "$(dirname "$0")" && pwd)/lib.bash"
need
probe=$build/tests/integration/umad_probe

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
netlist >net
n_nodes=11
simulate net ibsim.log
probe_at() { # HOST WINDOW REQUESTS
	on_ibsim "$1" "$probe" "$2" "$3" >probe.out 2>&1
}

for host in host-1-1 spine-2; do
	for window in 1 4 128; do
		probe_at "$host" "$window" 500 || fail "from $host, window $window"
		grep -q "^nodes=$n_nodes .*answered=500 " probe.out || fail "from $host, window $window: not all found"
		# on a busy machine a request is sent again, and then answered twice
		resent=$(sed -n 's/.*answered=\([0-9]*\) sent=\([0-9]*\) .*/\2 - \1/p' probe.out)
		doubled=$(sed -n 's/^failed=0 forged=0 duplicates=\([0-9]*\) .*/\1/p' probe.out)
		[ "${doubled:-1000000}" -le $((resent)) ] || fail "from $host: strange answers"
	done
done

# Losses at one switch: retries get through, and nothing is taken twice.  Which are lost is
# chance, and so is whether any is.
n_sent() { sed -n 's/.* sent=\([0-9]*\) .*/\1/p' probe.out; }
loses_some() {
	probe_at host-1-1 16 300 || fail "with losses"
	grep -q "^nodes=$n_nodes .*answered=300 " probe.out || fail "with losses: not all found"
	[ "$(n_sent)" -gt "$sent" ]
}
probe_at host-1-1 16 300 || fail "before the losses"
sent=$(n_sent)
ibsim_say 'Error "leaf-2" 10'
until_true loses_some
ibsim_say 'Error "leaf-2" 0'

# SIGTERM in the middle of the work: an orderly end, and the port is free again.
start_on_ibsim host-1-1 "$probe" 16 100000000 >probe.out 2>&1
pid=$!
await /proc/net/unix "@$IBSIM_SOCKNAME:in$pid"
sleep 0.5 # into its work
kill -TERM "$pid"
wait "$pid"
rc=$?
[ "$rc" -eq 1 ] || fail "SIGTERM: exit code $rc"
grep -q "stopped while" probe.out || fail "SIGTERM: no word of it"
probe_at host-1-1 16 100 || fail "after SIGTERM"
echo "ok"
