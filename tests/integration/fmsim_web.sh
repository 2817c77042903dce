#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# fmd-web: it listens on this host alone, and answers by names of its own; what it tells is what fmctl shows, in the form that
# Prometheus reads; it passes nothing on that changes something; whatever strangers send is answered
# or hung up on; events are told once, and a gap is told; an fmd that stands still is told in time;
# and fmd sends not one SMP more, whatever happens to fmd-web.
# shellcheck disable=SC2154
set -u

. "$(dirname "$0")/fmsim.bash"
need grep curl python3
[ -x "$build/fmd-web" ] && [ -x "$build/fmd-perf" ] || skip "there is no fmd-web"
if command -v promtool >/dev/null 2>&1; then
	promtool check rules "$top/conf/fmd-alerts.yml" >"$dir/said.out" 2>&1 || fail "the rules: $(cat "$dir/said.out")"
	promtool test rules "$top/tests/integration/alerts.yml" >"$dir/said.out" 2>&1 || fail "the alerts: $(cat "$dir/said.out")"
	echo "ok: each alert on its fault, and not without"
fi
python3 -m json.tool "$top/conf/fmd-grafana.json" >/dev/null || fail "the board is no JSON"

web() { # ADDRESS: into $dir/answer; the code
	curl -s -g --max-time 60 -o "$dir/answer" -w '%{http_code}' --unix-socket "$dir/web.sock" "http://localhost$1"
}
get() { # CODE ADDRESS
	local code
	code=$(web "$2")
	[ "$code" = "$1" ] || fail "$2: $code, not $1: $(head -c 600 "$dir/answer")"
}
is_told() { # LINE, ADDRESS (/metrics)
	web "${2:-/metrics}" >/dev/null
	grep -q -x -F "$1" "$dir/answer"
}
check_metrics() {
	command -v promtool >/dev/null 2>&1 || return 0
	promtool check metrics <"$dir/answer" >"$dir/said.out" 2>&1 || fail "promtool: $(cat "$dir/said.out")"
}
visit() { # WHAT...
	python3 "$top/tests/integration/web_visitors.py" "$dir/web.sock" "$@"
}
start_web() {
	"$build/fmd-web" --listen="$dir/web.sock" --host=fmd.example.org,monitor --state-dir="$dir/state" >>"$dir/web.out" 2>&1 &
	web=$!
	await "$dir/web.out" "listens at" "$1"
}

# ---- where it may listen
refuses() { # EXIT-CODE, WORDS, OPTION...
	local want=$1 words=$2 rc=0
	shift 2
	"$build/fmd-web" "$@" >"$dir/said.out" 2>&1 || rc=$?
	[ $rc = "$want" ] && grep -q -e "$words" "$dir/said.out" || fail "$*: $rc, $(cat "$dir/said.out")"
}
for where in 0.0.0.0:9690 192.0.2.1:80 "[::]:9690" "[2001:db8::1]:80"; do
	refuses 2 "others could reach that.*put a proxy before it" --listen="$where"
done
for where in 9690 127.0.0.1 127.0.0.1:x 127.0.0.1:0 127.0.0.1:70000 localhost: host:80 ""; do
	refuses 2 "expected an address of this host and a port" --listen="$where"
done
for names in "" , fmd, ,fmd fmd,,x https://fmd fmd:443 "[::1]" "fmd x" "fmd/"; do
	refuses 2 "expected a name as fmd.example.org" --host="$names"
done
refuses 2 "no such option" --device=mlx5_0
refuses 0 "usage: fmd-web" --help
: >"$dir/file"
refuses 2 "is no socket" --listen="$dir/file"

# ---- nobody is there yet
"$build/fmroute" gen pgft 2 4,2 1,2 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
mkdir "$dir/state"
start_web 1
refuses 1 "another fmd answers there" --listen="$dir/web.sock"
get 200 /metrics
says "^fmd_up 0$" "^fmd_perf_up 0$"
check_metrics
get 503 /metrics/ports
says '"error":".*cannot read .*counters'
for address in status fabric "fabric?generation=0123456789abcdef"; do
	get 503 "/api/v1/$address"
	says '"error":"no fmd answers at'
done
for address in cells "cells?over=hour" "history?port=leaf-1:1"; do
	get 503 "/api/v1/$address"
	says '"error":".*cannot read .*counters'
done
get 200 /
# a name of somebody else's may lead to this host: a page of theirs gets nothing to read
asked_by() { # CODE HEADER...
	local code want=$1 headers=()
	for header in "${@:2}"; do headers+=(-H "$header"); done
	code=$(curl -s --max-time 60 -o "$dir/answer" -w '%{http_code}' --unix-socket "$dir/web.sock" "${headers[@]}" http://localhost/metrics)
	[ "$code" = "$want" ] || fail "${*:2}: $code, not $want: $(head -c 600 "$dir/answer")"
	[ "$code" = 200 ] || says '"error":"what was asked for is at another name .*--host=NAME"'
}
own=$(uname -n)
for host in localhost LOCALHOST:9690 localhost. "$own" "${own%%.*}:80" 127.0.0.1:9690 192.0.2.1 "[::1]:9690" "[2001:db8::1]" fmd.example.org FMD.example.org:443 monitor; do
	asked_by 200 "Host: $host"
	asked_by 200 "Host: localhost" "Origin: https://$host"
done
asked_by 200 "Host:" # HTTP/1.0 of a program
for host in evil.example localhost.evil.example "$own.evil.example" 127.0.0.1.evil.example fmd.example fmd.example.org.x monitor,x "monitor,fmd.example.org" \
	"[::1" "[]" "[" "[127.0.0.1]" "[localhost]" 1.2.3 . :80 "$(printf 'a%.0s' {1..5000})"; do
	asked_by 421 "Host: $host"
	asked_by 421 "Host: localhost" "Origin: http://$host"
done
for origin in null https:// nonsense "http://evil.example/http://localhost" "http://localhost@evil.example" "file:///localhost"; do
	asked_by 421 "Host: localhost" "Origin: $origin"
done
asked_by 421 "Host: evil.example" "Origin: http://localhost"
visit slow >"$dir/slow.out" 2>&1 &
slow=$!

# ---- fmd and fmd-perf
printf 'sweep_on_trap = no\nsweep_interval = 0\naudit = 0s\n' >"$dir/fmd.conf"
start_fmd
read_counters() {
	on_fmsim host-1-1 "$build/fmd-perf" --state-dir="$dir/state" --once 2>"$dir/said.out" || fail "fmd-perf: $(cat "$dir/said.out")"
}
read_counters
until_true is_told "fmd_up 1"
says '^fmd_sm_state{state="master"} 1$' "^fmd_subnet_up 1$" '^fmd_nodes{type="switches"} 4$' '^fmd_perf_ports{state="read"} 24$' \
	'^fmd_sweeps_total{outcome="up"} 1$' '^fmd_smps_total{attribute="LinearForwardingTable",method="Set"} [1-9]'
check_metrics
[ "$(grep -c '^[^#]' "$dir/answer")" -le 500 ] || fail "more than 500 series"
until_true is_told 'fmd_level_transmit_bytes_total{from="0",to="1"} 0'
get 200 "/metrics/ports?set=all"
check_metrics
says '^fmd_port_info{guid="0x[0-9a-f]*",port="1",node="leaf-1",peer="host-1-1",peer_port="1",level="1",group="[^"]*"} 1$'
[ "$(grep -c '^fmd_port_transmit_bytes_total{' "$dir/answer")" = 24 ] || fail "not 24 ports"
get 200 "/metrics/ports?names=infiniband_exporter"
check_metrics
[ "$(grep -c '^infiniband_\(switch\|hca\)_port_transmit_data_bytes_total{' "$dir/answer")" = 24 ] || fail "not 24 ports"
fmsim_say count "leaf-2[2]" PortRcvErrors 3 >/dev/null
fmsim_say count "leaf-2[2]" LinkDownedCounter 255 >/dev/null
get 200 /metrics/ports
says "^# TYPE fmd_port_errors_total counter$"
! grep -q "^fmd_port_errors" "$dir/answer" || fail "errors from nowhere"

# ---- commands: as fmctl has them, and none that changes something
for command in nodes links trouble routes; do
	get 200 "/api/v1/$command"
	fmctl "$command" --json >"$dir/by-fmctl"
	python3 -c '
import json, sys
web, fmctl = (json.load(open(path)) for path in sys.argv[1:])
web.pop("next", None)  # fmctl joins the pages
sys.exit(web != fmctl)' "$dir/answer" "$dir/by-fmctl" || fail "$command: $(cat "$dir/answer" "$dir/by-fmctl")"
done
get 200 "/api/v1/path?from=host-1-1&to=host-2-2"
get 200 "/api/v1/counters?node=leaf-1:1"
get 404 /api/v1/nothing
for command in sweep drain handover reload "restore?what=link:leaf-1:5&yes=1" "isolate?what=link:leaf-1:5&yes=1" "isolate?what=link:leaf-1:5&yes=" \
	"verify?readback=1" "verify?readback="; do
	get 403 "/api/v1/$command"
	says "nobody can by HTTP: use fmctl"
done
get 200 /api/v1/status
says '"isolated":0'
get 200 /api/v1/fabric
fmctl fabric --json >"$dir/by-fmctl"
python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1])) != json.load(open(sys.argv[2])))' "$dir/answer" "$dir/by-fmctl" ||
	fail "the fabric is not that of fmctl"
exec_on_fmsim host-1-1 "$build/fmd-perf" --state-dir="$dir/state" -v --interval=1 >"$dir/perf.out" 2>&1 & # --once keeps no readings
perf=$!
await "$dir/perf.out" "sweep [0-9]*: 24 of 24 ports" 2
end_job $perf
visit draw 24 >"$dir/said.out" 2>&1 || fail "$(cat "$dir/said.out")"
cat "$dir/said.out"
visit requests >"$dir/said.out" 2>&1 || fail "$(cat "$dir/said.out")"
cat "$dir/said.out"
visit crowd >"$dir/said.out" 2>&1 || fail "$(cat "$dir/said.out")"
echo "ok: whatever strangers send"

# ---- events, once each
visit listen - >"$dir/stream" 2>/dev/null &
listener=$!
await "$dir/stream" ": events of fmd"
has_event() { # something happens, and is told
	fmctl sweep --wait >/dev/null 2>&1
	grep -q '^data: {"n":' "$dir/stream"
}
until_true has_event
last=$(sed -n 's/^id: //p' "$dir/stream" | tail -n 1)
visit listen 0 >"$dir/all" 2>/dev/null &
visit listen 1000000 >"$dir/gone" 2>/dev/null &
await "$dir/all" "^id: $last$"
sed -n 's/^id: //p' "$dir/all" | head -n "$last" >"$dir/ids"
seq "$last" | cmp - "$dir/ids" || fail "not each event once, in order: $(cat "$dir/ids")"
! grep -q "event: gap" "$dir/stream" "$dir/all" || fail "a gap that is none"
await "$dir/gone" '^data: {"after":1000000,"next":'
echo "ok: events"

# ---- fmd sends not one SMP more; its own port it reads each second
smps() { # but those
	fmctl --json status | python3 -c '
import json, sys
n = json.load(sys.stdin)["smps"]
print(n["gets"].pop("PortInfo") * 0, sorted(n["gets"].items()), sorted(n["sets"].items()))'
}
had=$(smps)
visit flood 200 >"$dir/said.out" 2>&1 || fail "$(cat "$dir/said.out")"
stand_still $web
[ "$(smps)" = "$had" ] || fail "flooded and stopped: $(smps), $had before"
kill -CONT $web
until_true is_told "fmd_up 1"
kill -9 $web
{ wait $web; } 2>/dev/null
[ "$(smps)" = "$had" ] || fail "killed: $(smps), $had before"
start_web 2
echo "ok: fmd does not notice"

# the listener has been told N times that fmd has started and is up
told_of_its_start() {
	[ "$(said "$dir/stream" '"kind":"started"')" = "$1" ] && [ "$(sed -n '/"kind":"started"/,$p' "$dir/stream" | grep -c '"kind":"subnet-up"')" = "$1" ]
}

# ---- fmd stands still: that is told, and commands are answered
visit listen - >"$dir/stream" 2>/dev/null &
await "$dir/stream" ": events of fmd"
fmctl sweep --wait >/dev/null 2>&1
await "$dir/stream" "^id: "
get 200 /api/v1/status
stand_still "$fmd"
visit same 100 >"$dir/said.out" 2>&1 || fail "$(cat "$dir/said.out")"
curl -s -o "$dir/late" --max-time 60 --unix-socket "$dir/web.sock" http://localhost/api/v1/status &
late=$!
until_true is_told "fmd_up 0"
says "^fmd_perf_up 1$"
wait $late
grep -q "it did not answer in time" "$dir/late" || fail "an fmd that stands still: $(cat "$dir/late")"
kill -CONT "$fmd"
until_true is_told "fmd_up 1"
# another fmd counts its events anew; also one that has told as many when it is asked
for n in 1 2; do
	end_job "$fmd"
	rm -rf "$dir/state/events"*
	start_fmd
	await "$dir/stream" "^event: gap$" "$n"
	until_true told_of_its_start "$n"
done

# ---- a file of counters that is spoilt
printf 'no counters\n' >"$dir/new"
mv "$dir/new" "$dir/state/counters"
get 503 /metrics/ports
says "it is no file of counters: it does not begin as one"
until_true is_told "fmd_perf_up 0"
says "^fmd_up 1$"
rm -f "$dir/state/counters"
read_counters
get 200 "/metrics/ports?set=load"
wait $slow || fail "$(cat "$dir/slow.out")"
end_job $web
[ ! -e "$dir/web.sock" ] || fail "its socket is still there"
[ "$(said "$dir/web.out" "Sanitizer")" = 0 ] || fail "$(cat "$dir/web.out")"
echo "ok: what is not there is told"
