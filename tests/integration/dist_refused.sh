#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What fmd's Redis may refuse: each is told once, whatever is published meanwhile, and when it is mended
# fmd publishes by itself, all that has been missed.  A Redis that is out of memory, that cannot save, in
# which somebody has put something else, that was made a replica.
set -u
# shellcheck source=tests/integration/dist.bash
. "$(dirname "$0")/dist.bash"
need_tools redis-cli python3
has_redis || skip "Redis is absent"

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
mkdir "$dir/disk"
start_redis first --save "3600 1" --dir "$dir/disk" --dbfilename dump.rdb
cat >"$dir/fmd.conf" <<END
dist_files = '$dir/dist'
dist_redis = '$dir/first.sock'
sweep_interval = 1s
control_socket = '$dir/socket'
END
redis() {
	redis-cli -s "$dir/first.sock" "$@"
}
# what hosts get by Redis is what they get by the folder, which nothing hinders, but for the epoch
is_told() {
	on_fmsim host-2-1 "$build/fmd-agent" --once --file="$dir/by-files" "files:$dir/dist" &&
		on_fmsim host-2-1 "$build/fmd-agent" --once --file="$dir/by-redis" "redis:unix:$dir/first.sock" &&
		cmp -s <(tail -c +257 "$dir/by-files") <(tail -c +257 "$dir/by-redis")
} 2>/dev/null
n_failures() {
	fmctl --json dist |
		python3 -c 'import json,sys; print(sum(x["failures"] for x in json.load(sys.stdin)["places"]))'
}
has_failed() { # so often
	[ "$(n_failures)" -ge "$1" ]
}
n_events=0
event() { # two hosts go, and come again, one each time
	local what=(unlink unlink relink relink)
	fmsim_say "${what[n_events % 4]}" "host-3-$((n_events % 2 + 1))[1]" >/dev/null
	n_events=$((n_events + 1))
}
refuses() { # WORDS MEND...: Redis does; it is told once, and MEND lets fmd publish
	local words=$1 before again
	shift
	again=$(said "$dir/fmd.out" "is published to again")
	before=$(n_failures)
	event
	await "$dir/fmd.out" "$words"
	event
	until_true has_failed $((before + 3))
	[ "$(said "$dir/fmd.out" "$words")" = 1 ] || fail "\"$words\" is told several times"
	"$@" >/dev/null || fail "$* fails"
	await "$dir/fmd.out" "is published to again" $((again + 1))
	until_true is_told
}

exec_on_fmsim host-1-1 "$build/fmd" --config="$dir/fmd.conf" --state-dir="$dir/state" >"$dir/fmd.out" 2>&1 &
await "$dir/fmd.out" "SUBNET UP"
until_true is_told

redis config set maxmemory 1 >/dev/null
refuses "OOM command not allowed" redis config set maxmemory 0
echo "ok: out of memory"

mkdir -p "$dir/disk/dump.rdb/in-the-way"
redis bgsave >/dev/null
misconf() {
	redis set other x 2>&1 | grep -q MISCONF
}
until_true misconf
save() {
	rm -r "$dir/disk/dump.rdb"
	redis save
}
refuses "MISCONF" save
echo "ok: a disk that takes nothing"

redis del fmd:log >/dev/null
redis set fmd:log x >/dev/null
refuses "WRONGTYPE" redis del fmd:log
echo "ok: somebody has put something else there"

again=$(said "$dir/fmd.out" "is published to again")
redis replicaof 127.0.0.1 1 >/dev/null # nobody is there: it keeps what it has
event
await "$dir/fmd.out" "READONLY"
await "$dir/fmd.out" "is published to again" $((again + 1))
until_true is_told
[ "$(said "$dir/fmd.out" READONLY)" = 1 ] || fail "READONLY is told several times"
echo "ok: it was made a replica"
