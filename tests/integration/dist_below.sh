#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What is lost below a relay is told up: the SM's Redis has two relays, a third is below one of these, a fourth below that,
# an agent at the end.  When the first of this chain dies, fmd names it, what was below it follows the other one, is not
# called lost, and fetches nothing whole; when the last one dies, whom fmd's Redis has never seen, fmd names it as well.
set -u
# shellcheck source=tests/integration/dist.bash
. "$(dirname "$0")/dist.bash"
need_tools redis-cli
has_redis || skip "Redis is absent"

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
cat >"$dir/fmd.conf" <<END
dist_redis = '$dir/first.sock'
dist_auth_file = '$dir/fmd.auth'
sweep_interval = 500ms
control_socket = '$dir/socket'
END
sed -e '/^user /s/^user \([a-z]*\) on/& >of-\1/' -e '/^user default/d' "$top/conf/redis-fmd-users.conf" >"$dir/users.conf"
for user in fmd relay replica; do
	grep -q "^user $user on >of-$user" "$dir/users.conf" || fail "conf/redis-fmd-users.conf has no user $user"
	echo "$user of-$user" >"$dir/$user.auth"
	chmod 600 "$dir/$user.auth"
done
# Below which ones by their ports, and the fmd-agent that keeps it there.
start_relay() { # NAME PORT PARENT...
	local name=$1 port=$2 parents=() parent
	shift 2
	for parent in "$@"; do parents[${#parents[@]}]=127.0.0.1:$parent; done
	rm -f "$dir/$name.sock"
	start_redis "$name" --include "$dir/users.conf" --port "$port" --replicaof 127.0.0.1 "$1" \
		--masteruser replica --masterauth of-replica --repl-ping-replica-period 1
	eval "${name}_redis=$redis_pid"
	[ -n "${on_host["$name"]:-}" ] && return
	"$build/fmd-agent" -v --relay="unix:$dir/$name.sock" --name="$name" --auth-file="$dir/relay.auth" \
		--parents-auth-file="$dir/replica.auth" "${parents[@]}" >"$dir/$name-relay.out" 2>&1 &
	on_host[$name]=$!
}
declare -A on_host
start_redis first --include "$dir/users.conf" --port $ports --repl-ping-replica-period 1
start_relay left $((ports + 1)) $ports
start_relay right $((ports + 2)) $ports
start_relay middle $((ports + 3)) $((ports + 1)) $((ports + 2))
start_relay last $((ports + 4)) $((ports + 3))
start_fmd
exec_on_fmsim host-2-1 "$build/fmd-agent" -v --poll=1 --jitter=0 --file="$dir/paths" "redis:unix:$dir/last.sock" >"$dir/agent.out" 2>&1 &
await "$dir/agent.out" "all fetched"
dist_says() { # CODE WORDS...: dist does, some time
	local want=$1 rc=0 words
	shift
	fmctl dist >"$dir/answer" 2>&1 || rc=$?
	[ $rc = "$want" ] || return 1
	for words in "$@"; do
		grep -q -- "$words" "$dir/answer" || return 1
	done
}
nothing_is_wrong() {
	fmctl trouble | grep -qx none
}
has_what_is_published() { # the agent
	local at
	read -ra at <<<"$(redis-cli -s "$dir/first.sock" hmget fmd:meta term epoch | tr '\n' ' ')"
	redis-cli -s "$dir/last.sock" client list 2>/dev/null | grep -q "name=fmd-agent:[0-9a-f]*:${at[0]}:${at[1]} "
}
until_true dist_says 0 "^left  *following  *1  *1" "^right  *following  *1  *1" "^middle  *following  *1  *1" "^last  *following  *1  *1"
until_true nothing_is_wrong
echo "ok: all are known"

# the first of the chain
kill -9 "$left_redis"
wait "$left_redis" 2>/dev/null
killed=$SECONDS
fmsim_say unlink 'host-3-1[1]' >/dev/null
await "$dir/middle-relay.out" "has what 127.0.0.1:$((ports + 2)) has"
is_newer() {
	[ "$(redis-cli -s "$dir/first.sock" hget fmd:meta epoch)" -gt 1 ]
}
until_true is_newer
until_true has_what_is_published
back=$((SECONDS - killed))
[ "$(said "$dir/agent.out" "all fetched")" = 1 ] || fail "the agent fetches all anew: $(cat "$dir/agent.out")"
for name in middle last; do
	[ "$(redis-cli -s "$dir/$name.sock" info stats | tr -d '\r' | sed -n 's/^sync_full://p')" = "$([ $name = middle ] && echo 1 || echo 0)" ] ||
		fail "a relay below $name is filled anew"
done
until_true dist_says 5 "^left  *gone  *0  *1  *20..-" "^right  *following" "^middle  *following" "^last  *following"
await "$dir/fmd.out" "nothing is heard at $dir/first.sock of the relay at left any more"
[ "$(said "$dir/fmd.out" "of the relay at middle")$(said "$dir/fmd.out" "of the relay at last")" = 00 ] || fail "what follows another relay is called lost"
fmctl trouble >"$dir/answer"
says "follower-gone .*of the relay at left"
start_relay left $((ports + 1)) $ports
until_true dist_says 0 "^left  *following" "^middle  *following" "^last  *following"
until_true nothing_is_wrong
echo "ok: a relay in the middle dies (the agent below was back after $back s)"

# the last one, whom the SM's Redis has never seen
kill -9 "$last_redis"
wait "$last_redis" 2>/dev/null
until_true dist_says 5 "^last  *gone  *0  *1  *20..-" "^middle  *following"
fmctl trouble >"$dir/answer"
says "follower-gone .*of the relay at last"
rc=0
fmctl dist peers >"$dir/answer" 2>&1 || rc=$?
says "^ *1  *relay  *last  *gone .*0 of 1 are there since 20"
start_relay last $((ports + 4)) $((ports + 3))
until_true dist_says 0 "^last  *following"
# one that stands still, with its connections
stand_still "${on_host[middle]}"
stand_still "$middle_redis"
until_true dist_says 5 "^middle  *gone" "^last  *gone" "^left  *following"
kill -CONT "$middle_redis" "${on_host[middle]}"
until_true dist_says 0 "^middle  *following" "^last  *following"
until_true all_over follower-lost fmctl
echo "ok: below a relay"

# users who may not
redis-cli -s "$dir/right.sock" acl setuser replica -subscribe >/dev/null
await "$dir/middle-relay.out" "127.0.0.1:$((ports + 2)) is not told that this relay is there, nor who is below it: .*NOPERM"
redis-cli -s "$dir/right.sock" acl setuser replica +subscribe >/dev/null
redis-cli -s "$dir/first.sock" acl setuser fmd "-client|list" >/dev/null
until_true dist_says 1 "^followers   not all known: Redis answers \"NOPERM"
redis-cli -s "$dir/first.sock" acl setuser fmd "+client|list" >/dev/null
until_true dist_says 0 "^last  *following"
for denied in "subscribe other" "get fmd:subnet" "client list" "client kill type normal" "publish fmd:relays x"; do
	read -ra words <<<"$denied"
	redis-cli -s "$dir/first.sock" --no-auth-warning --user replica --pass of-replica "${words[@]}" 2>&1 | grep -q NOPERM || fail "\"$denied\" is not denied"
done
rc=0
"$build/fmd-agent" --name=x files:/ >"$dir/answer" 2>&1 || rc=$?
[ $rc = 1 ] || fail "--name without --relay exits with $rc"
says "--parents-auth-file and --name are for --relay"
echo "ok: users of their own"
