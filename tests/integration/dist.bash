# SPDX-License-Identifier: BSD-2-Clause
# What the scripts on paths for hosts share; sourced.
# shellcheck shell=bash

# shellcheck source=tests/integration/fmsim.bash
. "$(dirname "${BASH_SOURCE[0]}")/fmsim.bash"
[ -x "$build/fmd-agent" ] || skip "there is no fmd-agent"

# That of an fmd whose control_socket is in $dir.
fmctl() {
	"$build/fmctl" --socket="$dir/socket" "$@"
}

has_redis() {
	command -v redis-server >/dev/null && grep -qs "define HAVE_HIREDIS 1" "$build/config.h"
}

# A Redis at $dir/NAME.sock, without TCP where no --port is given; its process id in $redis_pid.
start_redis() { # NAME [OPTION...]
	local name=$1
	shift
	redis-server --port 0 --bind 127.0.0.1 --unixsocket "$dir/$name.sock" --save '' --dir "$dir" \
		--dbfilename "$name.rdb" --repl-diskless-sync-delay 0 --logfile "$dir/$name.out" "$@" >/dev/null 2>&1 &
	redis_pid=$!
	until_true test -S "$dir/$name.sock"
}
