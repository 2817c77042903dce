# Helpers to run programs on ibsim; sourced by dev/run, tests and benchmarks.
# shellcheck shell=bash
#
#	ibsim_start FABRIC [LOG]	serve a fabric; sets IBSIM_PID; stopped on exit
#	ibsim_say COMMAND		tell its console, as 'Unlink "leaf-1"[3]'; back when that is done
#	on_ibsim NODE CMD...		run a command attached to that node
#	exec_on_ibsim NODE CMD...	the same in place of a subshell: its $! is the command
#
# The server's socket has a name of its own, so that several may run side by side.
#
# Programs of infiniband-diags give up after a second, which a busy machine may need: they
# are told to be patient.
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
	local fabric=$1
	IBSIM_FOLDER=$(mktemp -d)
	IBSIM_LOG=$(realpath -m "${2:-$IBSIM_FOLDER/log}")
	export IBSIM_SOCKNAME=fmd-${IBSIM_FOLDER##*/}
	mkfifo "$IBSIM_FOLDER/console"
	ibsim -s -N 65536 -S 8192 -P 400000 -L 49152 "$fabric" <"$IBSIM_FOLDER/console" >"$IBSIM_LOG" 2>&1 &
	IBSIM_PID=$!
	exec 7>"$IBSIM_FOLDER/console"
	trap ibsim_stop EXIT
	# it listens to its console when its sockets are there
	ibsim_say "#" || { tail -n 3 "$IBSIM_LOG" >&2; echo "ibsim did not start on $fabric" >&2; return 1; }
}

ibsim_stop() {
	[ -n "$IBSIM_PID" ] || return 0
	# its status is the signal's; under set -e that would become ours
	kill "$IBSIM_PID" 2>/dev/null || true
	wait "$IBSIM_PID" 2>/dev/null || true
	IBSIM_PID=
	exec 7>&-
	rm -rf "$IBSIM_FOLDER"
}

ibsim_say() {
	local mark="# said $BASHPID-$RANDOM-$RANDOM" tries
	(printf '%s\n%s\n' "$*" "$mark" >&7) 2>/dev/null # of its own: the console may be gone
	for ((tries = 0; tries < 3000; tries++)); do
		grep -qsF "$mark" "$IBSIM_LOG" && return 0 # it repeats comments
		kill -0 "$IBSIM_PID" 2>/dev/null || break
		sleep 0.02
	done
	return 1
}

exec_on_ibsim() {
	local node=$1 runtime
	shift
	case $1 in
	ibnetdiscover | dump_lfts | dump_mfts | ibtracert | iblinkinfo | smpquery | sminfo | saquery) set -- "$1" -t 5000 "${@:2}" ;;
	esac
	runtime=$(ldd "$(command -v "$1")" 2>/dev/null | awk '/lib[at]san\.so/ { print $3; exit }')
	SIM_HOST=$node ASAN_OPTIONS=verify_asan_link_order=0:replace_intrin=0${ASAN_OPTIONS:+:$ASAN_OPTIONS} \
		LD_PRELOAD=${runtime:+$runtime:}${FMD_PRELOAD:+$FMD_PRELOAD:}$UMAD2SIM exec "$@" 7>&-
}

on_ibsim() {
	(exec_on_ibsim "$@")
}
