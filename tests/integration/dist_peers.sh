#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# fmctl dist peers: the tree of a Redis, a relay of it, a relay of that, and an agent at each; who is
# behind, who has lost the one above, and who cannot be asked are told as that.
set -u
# shellcheck source=tests/integration/dist.bash
. "$(dirname "$0")/dist.bash"
need_tools python3
has_redis || skip "Redis is absent"

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
shows() { # CODE WORDS...: dist peers does, some time
	local want=$1 rc=0 words
	shift
	# shellcheck disable=SC2086
	fmctl dist peers $given >"$dir/answer" 2>&1 || rc=$?
	[ $rc = "$want" ] || return 1
	for words in "$@"; do
		grep -q -- "$words" "$dir/answer" || return 1
	done
}
given=
port=$ports

cat >"$dir/fmd.conf" <<END
dist_redis = '$dir/first.sock'
sweep_interval = 1s
control_socket = '$dir/socket'
END
start_redis first --port $port
start_redis second --port $((port + 1)) --replicaof 127.0.0.1 $port
second=$redis_pid
start_redis third --port $((port + 2)) --replicaof 127.0.0.1 $((port + 1))
start_fmd
agent() { # HOST RELAY
	exec_on_fmsim "$1" "$build/fmd-agent" -v --file="$dir/$2.paths" "redis:unix:$dir/$2.sock" >"$dir/$2-agent.out" 2>&1 &
	await "$dir/$2-agent.out" "all fetched"
}
agent host-2-1 first
agent host-2-2 third
until_true shows 0 "^ *0  *relay  *unix:$dir/first.sock .*current" "^ *1  *agent  *0x.*unix:$dir/first.sock .*current" \
	"^ *1  *relay  *127.0.0.1:$((port + 1))  *unix:$dir/first.sock .*current" \
	"^ *2  *relay  *127.0.0.1:$((port + 2))  *127.0.0.1:$((port + 1)) .*current" \
	"^ *3  *agent .*127.0.0.1:$((port + 2)) .*current" "^relays  *3, agents 2; behind 0, link down 0, gone 0, unknown 0$"
fmctl dist peers --json >"$dir/answer" || fail "--json has another exit code"
says '"kind": "agent"' '"unknown": 0'
[ "$(grep -c '"lag_bytes": 0,' "$dir/answer")" = 3 ] || fail "relays that have all are behind: $(cat "$dir/answer")"
echo "ok: the tree"

dist_says() { # CODE WORDS...: dist does, some time
	local want=$1 rc=0 words
	shift
	fmctl dist >"$dir/answer" 2>&1 || rc=$?
	[ $rc = "$want" ] || return 1
	for words in "$@"; do
		grep -q -- "$words" "$dir/answer" || return 1
	done
}
until_true dist_says 0 "^127.0.0.1:$((port + 1))  *following  *1  *1"
says_nothing_is_wrong() {
	fmctl trouble | grep -qx none
}
until_true says_nothing_is_wrong

# one that is given by its address, and is in the tree, is in it once
given=unix:$dir/third.sock
until_true shows 0 "^relays  *3, agents 2;"
# the one in the middle dies: fmd names it, and all else is well
kill -9 "$second"
wait "$second" 2>/dev/null
until_true dist_says 5 "^127.0.0.1:$((port + 1))  *gone  *0  *1  *20..-"
await "$dir/fmd.out" "127.0.0.1:$((port + 1)) follows $dir/first.sock no more (0 of 1 are there)"
fmctl trouble >"$dir/answer"
says "follower-gone .*127.0.0.1:$((port + 1)) follows $dir/first.sock no more"
subnet_is_well() {
	fmctl status --json >"$dir/answer" && grep -q '"converged": true' "$dir/answer" && grep -q '"troubles": 0' "$dir/answer"
}
until_true subnet_is_well
# what was below it is found where its address is given, and says so
given=
until_true shows 5 "^ *1  *relay  *127.0.0.1:$((port + 1))  *unix:$dir/first.sock .*gone .*0 of 1 are there since 20" \
	"^relays  *1, agents 1; .*link down 0, gone 1, unknown 0$"
given=unix:$dir/third.sock
until_true shows 5 "unix:$dir/third.sock .*link down .*it has lost the one above" "^relays  *2, agents 2; .*link down 1, gone 1, unknown 0$"
given=127.0.0.1:$((port + 1))
until_true shows 1 "127.0.0.1:$((port + 1)) .*unknown .*Connection refused"
given=192.0.2.1:6379
until_true shows 1 "192.0.2.1:6379 .*unknown .*plain text .*write --insecure"
given=nonsense
until_true shows 1 "nonsense .*unknown .*expected unix:PATH or HOST:PORT"
given=
# an epoch that the one below does not have: its agent is behind
given=unix:$dir/third.sock
fmsim_say unlink 'host-3-1[1]' >/dev/null
until_true shows 5 "^ *[0-9]  *agent .*unix:$dir/third.sock .*behind"
echo "ok: who is behind, down, gone, unknown"

# it is back
rm -f "$dir/second.sock"
start_redis second --port $((port + 1)) --replicaof 127.0.0.1 $port
second=$redis_pid
until_true dist_says 0 "^127.0.0.1:$((port + 1))  *following  *1  *1"
await "$dir/fmd.out" "127.0.0.1:$((port + 1)) follows $dir/first.sock again"
until_true says_nothing_is_wrong
given=
until_true shows 0 "^relays  *3, agents 2; behind 0, link down 0, gone 0, unknown 0$"
# one that stands still: its connection is there
stand_still "$second"
until_true dist_says 5 "^127.0.0.1:$((port + 1))  *gone  *0  *1  *20..-"
kill -CONT "$second"
until_true dist_says 0 "^127.0.0.1:$((port + 1))  *following  *1  *1"
echo "ok: who comes back"

# a replica behind a tunnel that ends at the socket: it has no address, unless it announces one
cat >"$dir/tunnel.py" <<'END'
import socket, sys, threading


def pump(a, b):
    while data := a.recv(65536):
        b.sendall(data)
    b.shutdown(socket.SHUT_WR)  # else the replica that has left is one for Redis' repl-timeout


with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as s:
    print("listens", flush=True)
    while True:
        near = s.accept()[0]
        far = socket.socket(socket.AF_UNIX)
        far.connect(sys.argv[2])
        threading.Thread(target=pump, args=(near, far), daemon=True).start()
        threading.Thread(target=pump, args=(far, near), daemon=True).start()
END
given=
python3 "$dir/tunnel.py" $((port + 3)) "$dir/first.sock" >"$dir/tunnel.out" &
tunnel=$!
await "$dir/tunnel.out" listens
start_redis fourth --port $((port + 4)) --replicaof 127.0.0.1 $((port + 3))
fourth=$redis_pid
until_true shows 1 "unknown .*it announces no address: give it replica-announce-ip and replica-announce-port"
until_true dist_says 0 "^/unixsocket:$((port + 4))  *following  *1  *1"
kill "$fourth"
wait "$fourth" 2>/dev/null
start_redis fourth --port $((port + 4)) --replicaof 127.0.0.1 $((port + 3)) --replica-announce-ip 127.0.0.1 --replica-announce-port $((port + 4))
until_true shows 0 "^ *1  *relay  *127.0.0.1:$((port + 4))  *unix:$dir/first.sock .*current"
kill "$redis_pid" "$tunnel"
wait "$redis_pid" "$tunnel" 2>/dev/null
echo "ok: a replica behind a tunnel"

# servers that say anything: an array without end, a text without end, an end; each is unknown
cat >"$dir/enemy.py" <<'END'
import itertools, socket, sys, threading

ANSWERS = [b"*2000000000\r\n", b"$-7\r\n", b"*-1\r\n", b"+\r\n", b"$5\r\nINFO\n\r\n", b"\0\xff:\r\n", b"-NO\r\n", b""]


def serve(client, i):
    with client:
        client.recv(1000)
        try:
            if i % 9 == 8:
                client.sendall(b"$500000000\r\n")
                while True:
                    client.sendall(b"x" * 65536)
            client.sendall(ANSWERS[i % 9])
        except OSError:
            pass


with socket.socket(socket.AF_UNIX) as s:
    s.bind(sys.argv[1])
    s.listen(16)
    for i in itertools.count():
        threading.Thread(target=serve, args=(s.accept()[0], i), daemon=True).start()
END
python3 "$dir/enemy.py" "$dir/enemy.sock" &
until_true test -S "$dir/enemy.sock"
for ((i = 0; i < 9; i++)); do
	exits 1 dist peers "unix:$dir/enemy.sock"
	says "unix:$dir/enemy.sock .*unknown "
done
echo "ok: nonsense"

# one that shows more agents than there can be, and hears nothing
cat >"$dir/crowd.py" <<'END'
import socket, sys


def text(words):
    return b"$%d\r\n%s\r\n" % (len(words), words)


crowd = b"".join(b"id=%d name=fmd-agent:%x:1:1 age=0\n" % (i, i) for i in range(66000))
with socket.socket(socket.AF_UNIX) as s:
    s.bind(sys.argv[1])
    s.listen(1)
    client = s.accept()[0]
    for question in iter(lambda: client.recv(1000), b""):
        client.sendall(
            text(b"role:slave\r\nmaster_link_status:up\r\nmaster_last_io_seconds_ago:31\r\nrun_id:crowd\r\n") if b"INFO" in question
            else text(crowd) if b"CLIENT" in question
            else b"*2\r\n" + text(b"1") + text(b"1"))
END
python3 "$dir/crowd.py" "$dir/crowd.sock" &
until_true test -S "$dir/crowd.sock"
exits 1 dist peers "unix:$dir/crowd.sock"
says "unknown .*it shows more agents than a subnet has ports" "agents 65536;" "link down .*it has heard nothing from the one above for 31 s"
echo "ok: a crowd"

# a user that has what the shipped one has
given=
cat >"$dir/say.py" <<'END'
import socket, sys

with socket.socket(socket.AF_UNIX) as s:
    s.connect(sys.argv[1])
    words = ["ACL", "SETUSER"] + sys.argv[2:]
    s.sendall(("*%d\r\n" % len(words) + "".join("$%d\r\n%s\r\n" % (len(w), w) for w in words)).encode())
    answer = s.recv(1000)
    sys.exit(answer != b"+OK\r\n" and answer)
END
allow() { # USER: what the shipped one may
	local words
	read -ra words <<<"$(sed -n "s/^user $1 //p" "$top/conf/redis-fmd-users.conf")"
	python3 "$dir/say.py" "$dir/first.sock" "$1" "${words[@]}" ">secret" || fail "Redis does not take the user $1"
}
allow monitor
allow fmd
# an fmd that has been started anew does not know who has followed before
kill "$fmd" "$second"
wait "$fmd" "$second"
echo "fmd secret" >"$dir/fmd.auth"
chmod 600 "$dir/fmd.auth"
echo "dist_auth_file = '$dir/fmd.auth'" >>"$dir/fmd.conf"
start_fmd
until_true dist_says 0 "^redis .* published "
until_true says_nothing_is_wrong
echo "monitor secret" >"$dir/auth"
given=--auth-file=$dir/auth
until_true shows 0 "^relays  *1, agents 1; behind 0, link down 0, gone 0, unknown 0$"
python3 "$dir/say.py" "$dir/first.sock" monitor "-client|list" || fail "Redis does not take the user"
until_true shows 1 "^ *1  *agents .*unknown .*NOPERM" "^relays  *1, agents 0; behind 0, link down 0, gone 0, unknown 1$"
python3 "$dir/say.py" "$dir/first.sock" monitor "-hmget" || fail "Redis does not take the user"
until_true shows 1 "^ *0  *relay .*unknown .*NOPERM"
echo "monitor wrong" >"$dir/auth"
until_true shows 1 "^ *0  *relay .*unknown .*WRONGPASS"
python3 "$dir/say.py" "$dir/first.sock" fmd "-info" || fail "Redis does not take the user"
until_true dist_says 1 "^redis .* published " "^followers   not all known: Redis answers \"NOPERM"
await "$dir/fmd.out" "it is not known who follows $dir/first.sock: Redis answers"
echo "ok: users of their own"

exits 2 dist status --auth-file="$dir/fmd.conf"
says "--auth-file= is for dist peers"
exits 2 dist peers --auth-file="$dir/nowhere"
says "cannot read $dir/nowhere"
echo "ok: sentences"
