#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Nothing of the SM depends on where its paths are published: a Redis that stands still, a disk that is
# full.  The subnet comes up, events are dealt with, the SA answers, fmd ends; what fails
# is told, and goes on as soon as it can.
set -u
# shellcheck source=tests/integration/fmsim.bash
. "$(dirname "$0")/fmsim.bash"
need_tools python3 unshare nsenter redis-server redis-cli
grep -qs "define HAVE_HIREDIS 1" "$build/config.h" || skip "there is no hiredis"
unshare -m true 2>/dev/null || skip "mounts of one's own are not allowed here"

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
redis-server "$top/conf/redis-fmd.conf" --unixsocket "$dir/sock" --dir "$dir" --logfile "$dir/redis.out" >/dev/null 2>&1 &
redis=$!
answers() {
	redis-cli -s "$dir/sock" ping 2>/dev/null | grep -q PONG
}
until_true answers
stand_still "$redis"
mkdir "$dir/disk"
cat >"$dir/fmd.conf" <<END
dist_files = '$dir/disk/fmd'
dist_redis = '$dir/sock'
sweep_interval = 1s
control_socket = '$dir/socket'
END
# shellcheck disable=SC2016
exec_on_fmsim host-1-1 unshare -m sh -c 'mount -t tmpfs -o size=16k none "$1/disk" && exec "$2/fmd" --config="$1/fmd.conf" --state-dir="$1/state"' \
	sh "$dir" "$build" >"$dir/fmd.out" 2>&1 &
fmd=$!
place() { # KIND EXPRESSION
	"$build/fmctl" --socket="$dir/socket" --json dist 2>/dev/null |
		python3 -c 'import json,sys; p=[x for x in json.load(sys.stdin)["places"] if x["kind"] == sys.argv[1]][0]; sys.exit(not eval(sys.argv[2], {}, p))' "$@" 2>/dev/null
}
goes_on() { # the host that is lost, or comes: the SM deals with it, and the SA answers
	fmsim_say "$1" 'host-4-1[1]' >/dev/null
	await "$dir/fmd.out" "$([ "$1" = unlink ] && echo "lost: host" || echo "came: host").*host-4-1" "$2"
	run_on host-2-1 "$build/tests/integration/sa_ask" "$(lid_of host-1-1)" get "slid=$(lid_of host-2-1)" "dlid=$(lid_of host-3-1)" >"$dir/path.out"
	grep -q "PathRecord dump" "$dir/path.out" || fail "the SA does not answer"
}

await "$dir/fmd.out" "SUBNET UP"
goes_on unlink 1
until_true place files 'state == "failing" and "No space left" in error'
rc=0
"$build/fmctl" --socket="$dir/socket" dist >/dev/null || rc=$?
[ $rc = 5 ] || fail "fmctl dist exits with $rc, not 5"
until_true place redis 'state == "failing"'
all_over not-published "$build/fmctl" --socket="$dir/socket" && fail "it is over, and nothing can be published"
echo "ok: nothing can be published"

nsenter -t "$fmd" -m -r mount -o remount,size=16m "$dir/disk" || fail "no remount"
kill -CONT "$redis"
until_true place files 'state == "published" and epoch > 0'
until_true place redis 'state == "published" and epoch > 0'
goes_on relink 1
until_true all_over not-published "$build/fmctl" --socket="$dir/socket"
echo "ok: it goes on"

stand_still "$redis"
goes_on unlink 2
kill "$fmd"
wait "$fmd" || fail "SIGTERM ends fmd with $?"
kill -CONT "$redis"
echo "ok: fmd ends"
