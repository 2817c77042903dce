#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# acm_rate.sh KIND...: how fast stock ibacm answers a host on the fabric that "fmroute gen KIND..."
# makes, from the file that fmd-agent has written and, without it, by the SA.  A line each:
# found|SA, the way of asking, and what acm_probe says.  Runs in the build directory; dev/bench
# --dist makes a table of it.
set -u

# shellcheck source=tests/integration/acm.bash
. "$(dirname "$0")/../integration/acm.bash"

"$build/fmroute" gen "$@" >"$dir/net" || exit 1
simulate "$dir/net"
sm=$(sed -n 's/^Ca[[:space:]]*[0-9]*[[:space:]]*"\([^"]*\)".*/\1/p' "$dir/net" | head -n 1)
host=$(sed -n 's/^Ca[[:space:]]*[0-9]*[[:space:]]*"\([^"]*\)".*/\1/p' "$dir/net" | tail -n 1)
: >"$dir/addresses"
printf "%s\n" "transport = umad" "dist_files = '$dir/dist'" "dist_addresses = '$dir/addresses'" "sweep_interval = 1s" \
	"control_socket = '$dir/socket'" >"$dir/fmd.conf"
exec_on_fmsim "$sm" "$build/fmd" --config="$dir/fmd.conf" --state-dir="$dir/state" >"$dir/fmd.out" 2>&1 &
fmd=$!
await "$dir/fmd.out" "SUBNET UP"
run_on "$sm" "$probe" hosts >"$dir/addresses.new" && mv "$dir/addresses.new" "$dir/addresses"
inside "$host" <<'END' || exit $?
has_file() {
	on_node "$FMD_BUILD/fmd-agent" --once --file="$dir/paths" "files:$dir/dist" >"$dir/agent.out" 2>&1 &&
		on_node "$probe" pairs 1 1 librdmacm >"$dir/pairs" && grep -q "asked 1: 1 found" "$dir/pairs"
}
on_node "$probe" addresses >"$dir/addr" || fail "no addresses"
start_acm
until_true has_file
rate() { # WORD, N, WAY...
	echo "$1 $3 $(on_node "$probe" rate "$2" 1 "${@:3}")"
}
rate found 20000 socket
rate found 20000 netlink "$acm"
rate found 20000 librdmacm
rm "$dir/paths"
rate SA 5000 paths
rate SA 5000 netlink "$acm"
sed -n 's/VmRSS:[[:space:]]*/memory of ibacm: /p' "/proc/$acm/status"
end_job "$acm"
exit 0
END
kill "$fmd"
wait "$fmd"
exit 0
