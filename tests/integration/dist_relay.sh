#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# fmd-agent --relay: a relay whose parent dies, or stands still, follows the next one; an agent below it, and
# one at a relay below that, have what is published meanwhile, and nobody fetches anything whole.
set -u
# shellcheck source=tests/integration/dist.bash
. "$(dirname "$0")/dist.bash"
need_tools redis-cli
has_redis || skip "Redis is absent"

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
cat >"$dir/fmd.conf" <<END
dist_redis = '$dir/first.sock'
sweep_interval = 500ms
control_socket = '$dir/socket'
END
sed -e '/^user relay on/s/^user \([a-z]*\) on/& >of-\1/' -e '/^user default/d' "$top/conf/redis-fmd-users.conf" >"$dir/users.conf"
grep -q "^user relay on >of-relay" "$dir/users.conf" || fail "conf/redis-fmd-users.conf has no user relay"
echo "relay of-relay" >"$dir/auth"
chmod 600 "$dir/auth"
start_redis first --port $ports --repl-ping-replica-period 1
port=()
for name in left right; do
	port[${#port[@]}]=$((ports + 1 + ${#port[@]}))
	start_redis $name --port "${port[-1]}" --replicaof 127.0.0.1 $ports
	eval "$name=$redis_pid"
done
start_redis middle --include "$dir/users.conf" --port $((ports + 3)) --replicaof 127.0.0.1 "${port[0]}"
start_redis last --replicaof 127.0.0.1 $((ports + 3))
start_fmd
follower() { # NAME: the agent that looks after it
	"$build/fmd-agent" -v --relay="unix:$dir/$1.sock" --auth-file="$dir/auth" 127.0.0.1:"${port[0]}" 127.0.0.1:"${port[1]}" >"$dir/follower.out" 2>&1 &
	follower=$!
}
follower middle
agent() { # HOST RELAY
	exec_on_fmsim "$1" "$build/fmd-agent" -v --poll=1 --jitter=0 --file="$dir/$2.paths" "redis:unix:$dir/$2.sock" >"$dir/$2-agent.out" 2>&1 &
	await "$dir/$2-agent.out" "all fetched"
}
agent host-2-1 middle
agent host-2-2 last
info() { # NAME SECTION KEY
	redis-cli -s "$dir/$1.sock" info "$2" | tr -d '\r' | sed -n "s/^$3://p"
}
follows() { # NAME PORT: it does, and the link is up
	[ "$(info "$1" replication master_port) $(info "$1" replication master_link_status)" = "$2 up" ]
}
epoch() { # NAME
	redis-cli -s "$dir/$1.sock" hmget fmd:meta term epoch | tr '\n' ' '
}
n_events=0
event() { # something changes, and all have it
	local what=(unlink relink) before
	before=$(epoch first)
	fmsim_say "${what[n_events % 2]}" "host-3-1[1]" >/dev/null
	n_events=$((n_events + 1))
	until_true is_newer "$before"
	until_true is_at middle
	until_true is_at last
}
is_newer() {
	[ "$(epoch first)" != "$1" ]
}
is_at() { # NAME: the agent there has what is published
	local at
	read -ra at <<<"$(epoch first)"
	redis-cli -s "$dir/$1.sock" client list 2>/dev/null | grep -q "name=fmd-agent:[0-9a-f]*:${at[0]}:${at[1]} "
}
nothing_was_copied() {
	local name
	for name in middle last; do
		[ "$(said "$dir/$name-agent.out" "all fetched")" = 1 ] || fail "an agent fetches all anew: $(cat "$dir/$name-agent.out")"
	done
	[ "$(info middle stats sync_full)" = 1 ] || fail "the relay below is filled anew"
	[ "$(info right stats sync_full)" = 0 ] || fail "the next parent fills the relay"
}
until_true follows middle "${port[0]}"
until_true is_at middle
until_true is_at last
event
nothing_was_copied

kill -9 "$left"
wait "$left" 2>/dev/null
event
until_true follows middle "${port[1]}"
await "$dir/follower.out" "unix:$dir/middle.sock follows 127.0.0.1:${port[1]} now"
await "$dir/follower.out" "unix:$dir/middle.sock has what 127.0.0.1:${port[1]} has"
nothing_was_copied
echo "ok: a parent dies"

# with none there, all are asked again and again, and that is told once
kill -9 "$right"
wait "$right" 2>/dev/null
await "$dir/follower.out" "info .* is gone: unix:$dir/middle.sock follows" 2
[ "$(said "$dir/follower.out" "warning .* follows")" = 2 ] || fail "it is told again and again: $(cat "$dir/follower.out")"
rm -f "$dir/left.sock"
start_redis left --port "${port[0]}" --replicaof 127.0.0.1 $ports
left=$redis_pid
until_true follows middle "${port[0]}"
event
echo "ok: none is there, and one comes back"

# one that stands still: its connection is there
rm -f "$dir/right.sock"
start_redis right --port "${port[1]}" --replicaof 127.0.0.1 $ports
until_true follows right $ports
stand_still "$left"
await "$dir/follower.out" "127.0.0.1:${port[0]} says nothing: unix:$dir/middle.sock follows 127.0.0.1:${port[1]} now"
until_true follows middle "${port[1]}"
kill -CONT "$left"
event
echo "ok: a parent stands still"

# the Redis of the relay itself goes, and is told once
redis-cli -s "$dir/middle.sock" shutdown nosave >/dev/null 2>&1
await "$dir/follower.out" "the Redis of this relay"
rm -f "$dir/middle.sock"
start_redis middle --include "$dir/users.conf" --port $((ports + 3)) --replicaof 127.0.0.1 "${port[0]}"
await "$dir/follower.out" "unix:$dir/middle.sock answers"
# one that leads is left alone
redis-cli -s "$dir/middle.sock" replicaof no one >/dev/null
await "$dir/follower.out" "follows nobody and is left alone: give it replicaof"
[ "$(info middle replication role)" = master ] || fail "a Redis that leads is made to follow"
# a user who may not
redis-cli -s "$dir/middle.sock" replicaof 127.0.0.1 1 >/dev/null
redis-cli -s "$dir/middle.sock" acl setuser relay -replicaof >/dev/null
await "$dir/follower.out" "NOPERM"
redis-cli -s "$dir/middle.sock" acl setuser relay +replicaof >/dev/null
until_true follows middle "${port[0]}"
kill "$follower"
wait "$follower" || fail "SIGTERM ends it with $?"
echo "ok: its own Redis"

for denied in "set x y" "get fmd:subnet" "config get maxmemory" "flushall" "shutdown" "client kill type normal" "client setname x"; do
	read -ra words <<<"$denied"
	redis-cli -s "$dir/middle.sock" --no-auth-warning --user relay --pass of-relay "${words[@]}" 2>&1 | grep -q NOPERM || fail "\"$denied\" is not denied"
done
refuses() { # WORDS ARGUMENT...
	local words=$1 rc=0
	shift
	"$build/fmd-agent" "$@" >"$dir/answer" 2>&1 || rc=$?
	[ $rc = 1 ] || fail "fmd-agent $* exits with $rc"
	says "$words"
}
refuses "no parent is named" --relay="unix:$dir/middle.sock"
refuses "expected unix:SOCKET or an address of this host" --relay=192.0.2.1:6379 127.0.0.1:1
refuses "\"nonsense\": expected unix:PATH or HOST:PORT" --relay=nonsense 127.0.0.1:1
refuses "expected HOST:PORT, a Redis follows no socket" --relay="unix:$dir/middle.sock" "unix:$dir/left.sock"
refuses "192.0.2.1:1 is plain text that anybody on the way can change" --relay="unix:$dir/middle.sock" 192.0.2.1:1
refuses "it has neither --once nor --port-guid" --once --relay="unix:$dir/middle.sock" 127.0.0.1:1
echo "ok: sentences"
