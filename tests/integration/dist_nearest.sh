#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Agents go to the nearest of their relays, by the hosts that those run on: to one at their own leaf; when that dies, to
# one in their own pod; one that is full comes last, and is taken where no other is left; one that is not nearer,
# or fails, is not gone to.  Nothing is fetched whole again.
set -u
# shellcheck source=tests/integration/dist.bash
. "$(dirname "$0")/dist.bash"
need_tools redis-cli
has_redis || skip "Redis is absent"

"$build/fmroute" gen pgft 3 2,2,2 1,2,2 1,1,1 >"$dir/net" || exit 1
simulate "$dir/net"
cat >"$dir/fmd.conf" <<END
dist_redis = '$dir/first.sock'
sweep_interval = 500ms
control_socket = '$dir/socket'
END
start_redis first --port $ports
start_relay() { # NAME
	rm -f "$dir/$1.sock"
	start_redis "$1" --replicaof 127.0.0.1 $ports --repl-ping-replica-period 1
	eval "$1=$redis_pid"
	until_true has_all "$1"
}
has_all() { # RELAY: what is published
	local epoch
	epoch=$(redis-cli -s "$dir/first.sock" hget fmd:meta epoch)
	[ -n "$epoch" ] && [ "$(redis-cli -s "$dir/$1.sock" hget fmd:meta epoch)" = "$epoch" ]
}
start_fmd host-2-2-2
for name in leaf pod far; do start_relay $name; done
agent() { # NAME RELAY...: it has another name for each
	local name=$1
	shift
	exec_on_fmsim host-1-1-2 "$build/fmd-agent" -v --poll=1 --backup-after=0.2 --jitter=0 --file="$dir/$name.paths" "$@" >"$dir/$name.out" 2>&1 &
	agent=$!
	await "$dir/$name.out" "all fetched"
}
stop_agent() {
	kill "$agent"
	wait "$agent" || fail "SIGTERM ends an agent with $?"
}
is_at() { # RELAY: an agent
	redis-cli -s "$dir/$1.sock" client list 2>/dev/null | grep -q "name=fmd-agent:"
}
is_nowhere_else() { # RELAY
	local name
	for name in leaf pod far; do
		[ $name = "$1" ] || ! is_at $name || return 1
	done
}
goes_to() { # RELAY
	until_true is_at "$1"
	until_true is_nowhere_else "$1"
}
is_kept() { # NAME: of an agent
	[ "$(said "$dir/$1.out" "all fetched")" = 1 ] || fail "all is fetched anew: $(cat "$dir/$1.out")"
}
relays=("redis:unix:$dir/far.sock@host-2-1-1" "redis:unix:$dir/pod.sock@host-1-2-1" "redis:unix:$dir/leaf.sock@host-1-1-1")

# whichever it begins with
agent all "${relays[@]}"
goes_to leaf
kill -9 "$leaf"
wait "$leaf" 2>/dev/null
goes_to pod
is_kept all
stop_agent
# of two, once each is the nearer one: one of these times it is not that which it begins with
start_relay leaf
for near in leaf far; do
	[ $near = leaf ] && other=far || other=leaf
	agent near-$near "redis:unix:$dir/far.sock@host-$([ $near = far ] && echo 1 || echo 2)-1-1" \
		"redis:unix:$dir/leaf.sock@host-$([ $near = leaf ] && echo 1 || echo 2)-1-1"
	goes_to $near
	is_kept near-$near
	grep -q "$near.sock is nearer than redis:unix:.*$other.sock: packets to it pass 1 switches" "$dir/near-$near.out" && went=1
	stop_agent
done
[ "${went:-}" = 1 ] || fail "no agent went to a nearer relay: $(cat "$dir"/near-*.out)"
# by LID; and one of which it is not known where it runs is farther than all others
lid=$(lid_of host-2-1-1)
agent lid "redis:unix:$dir/leaf.sock@nowhere" "redis:unix:$dir/pod.sock" "redis:unix:$dir/far.sock@$lid"
goes_to far
stop_agent
echo "ok: the nearest"

# a full one: eight connections, and its own to the one above; an agent's would be the last of ten
for ((i = 0; i < 8; i++)); do
	redis-cli -s "$dir/leaf.sock" subscribe nothing >/dev/null 2>&1 &
	crowd[i]=$!
done
is_crowded() {
	redis-cli -s "$dir/leaf.sock" info clients | grep -q "^connected_clients:10"
}
until_true is_crowded
redis-cli -s "$dir/leaf.sock" config set maxclients 10 >/dev/null
agent full "${relays[@]}"
goes_to pod
await "$dir/full.out" "leaf.sock: the relay is full: of 10 connections that it takes 10 are there"
# one that refuses
redis-cli -s "$dir/far.sock" config set maxclients 1 >/dev/null
kill -9 "$pod"
wait "$pod" 2>/dev/null
await "$dir/full.out" "warning .*far.sock: the relay"
await "$dir/full.out" "leaf.sock answers"
is_kept full
stop_agent
# the only one there is
agent only "${relays[2]}"
kill "${crowd[@]}"
goes_to leaf
echo "ok: a full one"

refuses() { # WORDS ARGUMENT...
	local words=$1 rc=0
	shift
	"$build/fmd-agent" "$@" >"$dir/answer" 2>&1 || rc=$?
	[ $rc = 1 ] || fail "fmd-agent $* exits with $rc"
	says "$words"
}
refuses "\"nonsense\": expected unix:PATH or HOST:PORT" redis:nonsense@host-1
refuses "192.0.2.1:1 is plain text" redis:192.0.2.1:1@host-1
echo "ok: sentences"
