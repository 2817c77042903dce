#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Paths published for hosts: a folder and Redis lead to the same file, byte by byte; a relay behind
# a relay that dies is left for the next one, and no epoch is fetched whole a second time; an fmd
# that takes over publishes no row.  The part with Redis is left out where redis-server is absent.
set -u
# shellcheck source=tests/integration/dist.bash
. "$(dirname "$0")/dist.bash"

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"

cat >"$dir/fmd.conf" <<END
dist_files = '$dir/dist'
dist_addresses = '$dir/addresses'
sweep_interval = 1s
control_socket = '$dir/socket'
END
! has_redis || echo "dist_redis = '$dir/first.sock'" >>"$dir/fmd.conf"
cat >"$dir/addresses" <<END
10.0.0.1 host-1-1
fd00::2  host-1-2
10.0.0.3 nobody-here and-more
END

first= second=
if has_redis; then
	start_redis first
	first=$redis_pid
fi
exec_on_fmsim host-1-1 "$build/fmd" --config="$dir/fmd.conf" --state-dir="$dir/state" >"$dir/fmd.out" 2>&1 &
fmd=$!
await "$dir/fmd.out" "SUBNET UP"
await "$dir/fmd.out" "addresses:3: \"nobody-here\" has something behind it"

dist_json() {
	"$build/fmctl" --socket="$dir/socket" --json dist
}
published() { # all places have an epoch
	dist_json | python3 -c 'import json,sys; p=json.load(sys.stdin)["places"]; sys.exit(not p or any(x["epoch"] == 0 or x["state"] != "published" for x in p))'
}
until_true published
[ "$(stat -c %a "$dir/dist/lock")" = 600 ] || fail "others than fmd can hold the lock: $(ls -l "$dir/dist")"
"$build/fmctl" --socket="$dir/socket" dist | grep -q "published" || fail "fmctl dist shows nothing"
echo "ok: paths are published"

on_fmsim host-2-1 "$build/fmd-agent" --once --file="$dir/by-files" "files:$dir/dist" || fail "no file from the folder"
[ -s "$dir/by-files" ] || fail "the file from the folder is empty"
on_fmsim host-2-1 "$build/fmd-agent" --once --file="$dir/nothing" "files:$dir/nowhere"
code=$?
[ $code = 3 ] || fail "nothing published: exit code $code, not 3"
echo "ok: an agent follows a folder"

"$build/fmd-agent" --once redis:10.1.2.3:6379 2>"$dir/said.out" && fail "plain text beyond the host is taken"
grep -q -- "--insecure" "$dir/said.out" || fail "no word about --insecure"
"$build/fmd-agent" --jitter=much files:/x 2>"$dir/said.out" && fail "nonsense is taken"
grep -q -- "--jitter=much: expected seconds" "$dir/said.out" || fail "no sentence about --jitter"
"$build/fmd-agent" --once redis:127.example.com:6379 2>"$dir/said.out" && fail "a name that begins like loopback is taken"
grep -q -- "--insecure" "$dir/said.out" || fail "127.example.com passes as this host"
"$build/fmd-agent" --once redis:127.0.0.1:port 2>"$dir/said.out" && fail "a port that is none is taken"
grep -q "expected unix:PATH or HOST:PORT" "$dir/said.out" || fail "no sentence about the port"
echo "ok: bad words are refused"

if ! has_redis; then
	echo "ok: Redis is absent, and left out"
	exit 0
fi

same() { # FILE: the same as by way of the folder, but for the header's term and epoch
	on_fmsim host-2-1 "$build/fmd-agent" --once --file="$dir/by-files" "files:$dir/dist" || return 1
	cmp -s <(tail -c +257 "$dir/by-files") <(tail -c +257 "$1")
}

start_redis second --replicaof no one
second=$redis_pid
kill "$second"
wait "$second" 2>/dev/null
# replicas need TCP of the one before them: on loopback
kill "$first"
wait "$first" 2>/dev/null
port=$ports
start_redis first --port $port --bind 127.0.0.1 --protected-mode no
first=$redis_pid
await "$dir/fmd.out" "is published to again"
start_redis second --replicaof 127.0.0.1 $port
second=$redis_pid

exec_on_fmsim host-2-1 "$build/fmd-agent" -v --backup-after=0.2 --jitter=0.1 --file="$dir/by-redis" \
	"redis:unix:$dir/second.sock" "redis:unix:$dir/first.sock" >"$dir/agent.out" 2>&1 &
agent=$!
await "$dir/agent.out" "all fetched"
until_true same "$dir/by-redis"
echo "ok: an agent follows a relay behind a relay"

fmsim_say unlink 'host-3-1[1]' >/dev/null
until_true grep -q "host-3-1" "$dir/fmd.out"
until_true same "$dir/by-redis"
whole=$(said "$dir/agent.out" "all fetched")
echo "ok: events reach it"

# the relay that it follows dies, and there are events meanwhile
followed=$(sed -n 's/.*second.sock.*/second/p' "$dir/agent.out" | head -n 1)
kill -9 "$second"
wait "$second" 2>/dev/null
fmsim_say relink 'host-3-1[1]' >/dev/null
until_true same "$dir/by-redis"
[ "$(said "$dir/agent.out" "all fetched")" = "$whole" ] || fail "all was fetched again after a relay died ($followed)"
echo "ok: a relay that dies costs no epoch"

# the one above its relay dies: it notices, and goes on when that is there again
start_middle() {
	rm -f "$dir/second.sock"
	start_redis second --replicaof 127.0.0.1 $port --port $((port + 2)) --bind 127.0.0.1
	second=$redis_pid
}
start_middle
start_redis third --replicaof 127.0.0.1 $((port + 2))
exec_on_fmsim host-2-1 "$build/fmd-agent" -v --poll=1 --backup-after=0.2 --jitter=0.1 --file="$dir/by-third" \
	"redis:unix:$dir/third.sock" >"$dir/agent3.out" 2>&1 &
agent3=$!
await "$dir/agent3.out" "all fetched"
kill -9 "$second"
wait "$second" 2>/dev/null
await "$dir/agent3.out" "has lost the one above"
start_middle
await "$dir/agent3.out" "third.sock answers"
fmsim_say unlink 'host-3-2[1]' >/dev/null
until_true grep -q "host-3-2" "$dir/fmd.out"
until_true same "$dir/by-third"
[ "$(said "$dir/agent3.out" "all fetched")" = 1 ] || fail "all was fetched again after a relay above died"
kill "$agent3"
wait "$agent3"
echo "ok: a relay that has lost the one above"

kill -9 "$fmd"
wait "$fmd" 2>/dev/null
exec_on_fmsim host-1-1 "$build/fmd" --config="$dir/fmd.conf" --state-dir="$dir/state" >"$dir/fmd2.out" 2>&1 &
fmd=$!
await "$dir/fmd2.out" "SUBNET UP"
until_true published
bytes=$(dist_json | python3 -c 'import json,sys; print(sum(x["bytes"] for x in json.load(sys.stdin)["places"]))')
[ "$bytes" = 0 ] || fail "an fmd that comes again publishes $bytes bytes"
until_true same "$dir/by-redis"
[ "$(said "$dir/agent.out" "all fetched")" = "$whole" ] || fail "all was fetched again after fmd came again"
echo "ok: an fmd that comes again publishes nothing but its term"
# a file that somebody has removed comes again
rm "$dir/by-redis"
fmsim_say unlink 'host-4-1[1]' >/dev/null
until_true same "$dir/by-redis"
echo "ok: a file that was removed comes again"
kill "$agent"
wait "$agent"
code=$?
[ $code = 0 ] || fail "SIGTERM ends the agent with $code"
kill "$fmd"
wait "$fmd"
echo "ok: all end cleanly"

# ---- the users that are shipped: each can do what it needs, and nothing else
sed -e '/^user \(fmd\|replica\|agent\) on/s/^user \([a-z]*\) on/& >of-\1/' "$top/conf/redis-fmd-users.conf" >"$dir/users.conf"
closed_port=$((port + 1))
start_redis closed --include "$dir/users.conf" --port $closed_port --bind 127.0.0.1
closed=$redis_pid
start_redis below --include "$dir/users.conf" --replicaof 127.0.0.1 $closed_port --masteruser replica --masterauth of-replica
below=$redis_pid
sed -e "s|first.sock|closed.sock|; /dist_files/d" "$dir/fmd.conf" >"$dir/closed.conf"
echo "dist_auth_file = '$dir/fmd.auth'" >>"$dir/closed.conf"
echo "fmd of-somebody" >"$dir/fmd.auth"
exec_on_fmsim host-1-1 "$build/fmd" --config="$dir/closed.conf" --state-dir="$dir/state" >"$dir/fmd3.out" 2>&1 &
fmd=$!
await "$dir/fmd3.out" "WRONGPASS"
echo "fmd of-fmd" >"$dir/fmd.auth"
until_true published
echo "agent of-agent" >"$dir/agent.auth"
agent_from() { # the socket
	on_fmsim host-2-1 "$build/fmd-agent" --once --auth-file="$dir/agent.auth" --file="$dir/by-user" "redis:unix:$1"
}
until_true agent_from "$dir/below.sock"
chmod 644 "$dir/agent.auth"
agent_from "$dir/below.sock" >"$dir/said.out" 2>&1 || fail "fmd-agent with a login: $(cat "$dir/said.out")"
grep -q "agent.auth: everybody may read the password in it (mode 0644): chmod 640 it" "$dir/said.out" || fail "of a login that all can read nothing is said: $(cat "$dir/said.out")"
chmod 600 "$dir/agent.auth"
! agent_from "$dir/below.sock" 2>&1 | grep "everybody may read" || fail "of a login that nobody else can read it is said that all can"
on_fmsim host-2-1 "$build/fmd-agent" --once --file="$dir/by-nobody" "redis:unix:$dir/closed.sock" 2>"$dir/said.out" &&
	fail "who has not logged in reads paths"
grep -q NOAUTH "$dir/said.out" || fail "nothing is said of NOAUTH: $(cat "$dir/said.out")"
as_user() { # USER COMMAND...
	redis-cli -s "$dir/closed.sock" --no-auth-warning --user "$1" --pass "of-$1" "${@:2}" 2>&1
}
for denied in "agent set fmd:subnet x" "agent keys *" "agent config get *" "agent get other" "agent replicaof no one" "agent flushall" \
	"replica get fmd:subnet" "replica set fmd:subnet x" "fmd config get *" "fmd flushall" "fmd set other x" "fmd acl list"; do
	read -ra words <<<"$denied" # * is no pattern here
	as_user "${words[@]}" | grep -q NOPERM || fail "\"$denied\" is not denied"
done
kill "$fmd"
wait "$fmd"
kill "$closed" "$below"
wait "$closed" "$below" 2>/dev/null
echo "ok: users of Redis"
