# Helpers to run programs on fmsim; sourced by tests, as dev/ibsim-lib.sh is.
# shellcheck shell=bash
#
#	fmsim_start BUILD FABRIC [OPTION...]	serve a fabric; sets FMSIM_PID
#	fmsim_say COMMAND			to its console; its answer on stdout
#	on_fmsim NODE CMD...			run a command attached to that node
#	exec_on_fmsim NODE CMD...		the same in place of a subshell: $! is the command
#	fmsim_stop
#
# A sanitized library wants its runtime first in programs that are not, and
# their leaks are not ours to find.  The runtime looks at what send() has sent
# when it is back: by then OpenSM's receiver may have freed it, rightly.

FMSIM_PID=

fmsim_start() {
	local tries
	FMSIM_BUILD=$1
	shift
	FMSIM_DIR=$(mktemp -d)
	export FMSIM_SOCKET=$FMSIM_DIR/socket
	FMSIM_PRELOAD=$FMSIM_BUILD/.libs/libfmsim-umad.so
	FMSIM_RUNTIME=$(ldd "$FMSIM_PRELOAD" 2>/dev/null | awk '/lib[at]san\.so/ { print $3; exit }')
	"$FMSIM_BUILD/fmsim" "$@" </dev/null >"$FMSIM_DIR/out" 2>&1 &
	FMSIM_PID=$!
	for ((tries = 0; tries < 600; tries++)); do
		grep -qs "^fmsim: .* at " "$FMSIM_DIR/out" && return 0
		kill -0 "$FMSIM_PID" 2>/dev/null || break
		sleep 0.1
	done
	cat "$FMSIM_DIR/out" >&2
	return 1
}

fmsim_stop() {
	[ -n "$FMSIM_PID" ] || return 0
	kill "$FMSIM_PID" 2>/dev/null || true
	wait "$FMSIM_PID"
	FMSIM_STATUS=$?
	FMSIM_PID=
	rm -rf "$FMSIM_DIR"
}

fmsim_say() {
	"$FMSIM_BUILD/fmsim" --tell "$*"
}

exec_on_fmsim() {
	local node=$1
	shift
	FMSIM_NODE=$node ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0:intercept_send=0${ASAN_OPTIONS:+:$ASAN_OPTIONS} \
		LD_PRELOAD=${FMSIM_RUNTIME:+$FMSIM_RUNTIME:}$FMSIM_PRELOAD exec "$@"
}

on_fmsim() {
	(exec_on_fmsim "$@")
}
