# Helpers to run programs on ibsim; sourced by dev/run, tests and benchmarks.
# shellcheck shell=bash
#
#	ibsim_start FABRIC	serve a fabric; sets IBSIM_PID; stopped on exit
#	on_ibsim NODE CMD...	run a command attached to that node
#
# The server listens on a port of its own on the loopback, chosen from the
# process id, so that several may run side by side.

UMAD2SIM=$(ls /usr/lib/*/umad2sim/libumad2sim.so 2>/dev/null | head -n 1)
IBSIM_PID=

ibsim_available() {
	command -v ibsim >/dev/null 2>&1 && [ -n "$UMAD2SIM" ]
}

ibsim_start() {
	local fabric=$1 log=${2:-/dev/null} tries
	export IBSIM_SERVER_PORT=$((20000 + $$ % 20000)) IBSIM_SOCKNAME=fmd-$$
	IBSIM_STDIN=$(mktemp -u)
	mkfifo "$IBSIM_STDIN"
	ibsim -s -N 65536 -S 8192 -P 400000 -L 49152 "$fabric" <"$IBSIM_STDIN" >"$log" 2>&1 &
	IBSIM_PID=$!
	exec 7>"$IBSIM_STDIN"
	rm -f "$IBSIM_STDIN"
	trap ibsim_stop EXIT
	for tries in $(seq 300); do
		grep -q . "$log" 2>/dev/null || [ "$log" = /dev/null ] || { sleep 0.1; continue; }
		[ "$tries" -gt 5 ] && break
		sleep 0.1
	done
	kill -0 "$IBSIM_PID" 2>/dev/null || { echo "ibsim did not start on $fabric" >&2; return 1; }
}

ibsim_stop() {
	[ -n "$IBSIM_PID" ] || return 0
	kill "$IBSIM_PID" 2>/dev/null
	wait "$IBSIM_PID" 2>/dev/null
	IBSIM_PID=
	exec 7>&-
}

# A console command, as "Unlink \"leaf-1\"[3]".
ibsim_say() {
	echo "$*" >&7
}

on_ibsim() {
	local node=$1
	shift
	SIM_HOST=$node LD_PRELOAD=${FMD_PRELOAD:+$FMD_PRELOAD:}$UMAD2SIM "$@"
}
