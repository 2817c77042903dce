# Helpers to run programs on ibsim; sourced by dev/run, tests and benchmarks.
# shellcheck shell=bash
#
#	ibsim_start FABRIC [LOG]	serve a fabric; sets IBSIM_PID; stopped on exit
#	ibsim_say COMMAND		tell its console, as 'Unlink "leaf-1"[3]'
#	on_ibsim NODE CMD...		run a command attached to that node
#	exec_on_ibsim NODE CMD...	the same in place of a subshell: its $! is the command
#
# The server's socket has a name of its own (from the process id), so that
# several may run side by side.
#
# A sanitized program wants its runtime first, so that is preloaded before
# umad2sim; and umad2sim reads 32 bytes beyond each MAD that it queues, which
# is not for our tests to find.

UMAD2SIM=$(ls /usr/lib/*/umad2sim/libumad2sim.so 2>/dev/null | head -n 1)
IBSIM_PID=

ibsim_available() {
	command -v ibsim >/dev/null 2>&1 && [ -n "$UMAD2SIM" ]
}

ibsim_start() {
	local fabric=$1 log=${2:-} tries console
	console=$(mktemp -u)
	[ -n "$log" ] || log=$console.log
	export IBSIM_SOCKNAME=fmd-$$-${IBSIM_RUN:=0}
	IBSIM_RUN=$((IBSIM_RUN + 1))
	mkfifo "$console"
	ibsim -s -N 65536 -S 8192 -P 400000 -L 49152 "$fabric" <"$console" >"$log" 2>&1 &
	IBSIM_PID=$!
	exec 7>"$console"
	trap ibsim_stop EXIT
	for ((tries = 0; tries < 600; tries++)); do
		grep -qs "simulator ready" "$log" && break
		kill -0 "$IBSIM_PID" 2>/dev/null || break
		sleep 0.1
	done
	sleep 0.1 # its sockets come after the word
	kill -0 "$IBSIM_PID" 2>/dev/null || { tail -n 3 "$log" >&2; echo "ibsim did not start on $fabric" >&2; return 1; }
	rm -f "$console" "$console.log"
}

ibsim_stop() {
	[ -n "$IBSIM_PID" ] || return 0
	# its status is the signal's; under set -e that would become ours
	kill "$IBSIM_PID" 2>/dev/null || true
	wait "$IBSIM_PID" 2>/dev/null || true
	IBSIM_PID=
	exec 7>&-
}

ibsim_say() {
	echo "$*" >&7
}

exec_on_ibsim() {
	local node=$1 runtime
	shift
	runtime=$(ldd "$(command -v "$1")" 2>/dev/null | awk '/lib[at]san\.so/ { print $3; exit }')
	SIM_HOST=$node ASAN_OPTIONS=verify_asan_link_order=0:replace_intrin=0${ASAN_OPTIONS:+:$ASAN_OPTIONS} \
		LD_PRELOAD=${runtime:+$runtime:}${FMD_PRELOAD:+$FMD_PRELOAD:}$UMAD2SIM exec "$@" 7>&-
}

on_ibsim() {
	(exec_on_ibsim "$@")
}
