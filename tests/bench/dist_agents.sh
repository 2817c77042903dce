#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# dist_agents.sh N KIND...: N real fmd-agent at two relays of fmd's Redis, on the fabric that "fmroute
# gen KIND..." makes, under an event every half second; one relay is killed.  Prints what became of the
# agents.  Runs in the build directory; dev/bench --dist makes a table of it.
set -u

# shellcheck source=tests/integration/fmsim.bash
. "$(dirname "$0")/../integration/fmsim.bash"
command -v redis-server >/dev/null && command -v redis-cli >/dev/null || skip "Redis is absent"
n=$1
shift
"$build/fmroute" gen "$@" >"$dir/net" || exit 1
simulate "$dir/net"
mapfile -t hosts < <(sed -n 's/^Ca[[:space:]]*[0-9]*[[:space:]]*"\([^"]*\)".*/\1/p' "$dir/net")
mapfile -t guids < <(sed -n 's/^\[[0-9]*\][[:space:]]*"host[^"]*"\[1\](\([0-9a-f]*\)).*/0x\1/p' "$dir/net" | sort -u)
[ ${#guids[@]} -ge "$n" ] || fail "${#guids[@]} hosts are too few"
base=$((20000 + $$ % 20000))
start_redis() { # NAME OPTION...
	redis-server "$top/conf/redis-fmd.conf" --unixsocket "$dir/$1.sock" --dir "$dir" --bind 127.0.0.1 --logfile "$dir/$1.redis" "${@:2}" \
		>/dev/null 2>&1 &
	redis=$!
	until_true test -S "$dir/$1.sock"
}
start_redis first --port $base
start_redis one --replicaof 127.0.0.1 $base
one=$redis
start_redis two --replicaof 127.0.0.1 $base
printf "%s\n" "transport = umad" "dist_redis = '$dir/first.sock'" "sweep_interval = 10s" "control_socket = '$dir/socket'" >"$dir/fmd.conf"
exec_on_fmsim "${hosts[0]}" "$build/fmd" --config="$dir/fmd.conf" --state-dir="$dir/state" >"$dir/fmd.out" 2>&1 &
await "$dir/fmd.out" "SUBNET UP"
agents=()
for ((i = 0; i < n; i++)); do
	"$build/fmd-agent" -v --port-guid="${guids[i]}" --file="$dir/paths-$i" "redis:unix:$dir/one.sock" "redis:unix:$dir/two.sock" 2>"$dir/agent-$i" &
	agents+=($!)
done
all_have() { # a file each
	[ "$(find "$dir" -name 'paths-*' | wc -l)" = "$n" ]
}
until_true all_have
events() { # N: each of another host, as a host that flaps is damped
	local i
	for ((i = 0; i < $1; i++)); do
		fmsim_say unlink "${hosts[$((-1 - i))]}[1]" >/dev/null
		sleep 0.5
	done
}
events 4
followed=$(redis-cli -s "$dir/one.sock" client list | grep -c "name=fmd-agent")
kill -9 "$one"
events 60
meta=$(redis-cli -s "$dir/first.sock" hmget fmd:meta term epoch | paste -sd ' ')
read -r term epoch <<<"$meta"
all_at() {
	[ "$(grep -l "term $term, epoch $epoch," "$dir"/agent-* | wc -l)" = "$n" ]
}
until_true all_at
python3 - "$dir" "$n" "$followed" <<'END'
import datetime, re, sys

folder, n, followed = sys.argv[1], int(sys.argv[2]), sys.argv[3]
back, whole = [], 0
at = lambda line: datetime.datetime.fromisoformat(line[:23]).timestamp()
for i in range(n):
    left = None
    for line in open(f"{folder}/agent-{i}"):
        if " warning " in line or " warn " in line:
            left = at(line)
        elif "answers" in line and left is not None:
            back.append(at(line) - left)
        whole += "all fetched" in line
back.sort()
print(f"agents {n}, moved {followed}, back {len(back)}, first {back[0]:.1f} s, median {back[len(back) // 2]:.1f} s, "
      f"last {back[-1]:.1f} s, whole again {whole - n}")
END
awk '/VmRSS/ { if ($2 > m) m = $2 } END { print "memory " m " kB" }' $(printf "/proc/%s/status " "${agents[@]}")
exit 0
