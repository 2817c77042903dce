#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# log_file and dump_files_dir: where they point at the start, after a reload, and after SIGUSR1; a
# file that cannot be opened is told at the start, where the log stays on stderr, and refused in a
# reload.  Runs in the build
# directory.
set -eu
. "${srcdir:-..}/tests/integration/fmroute.bash"
daemon=
trap '[ -z "$daemon" ] || kill $daemon 2>/dev/null; rm -rf "$tmp"' EXIT
await() { # COMMAND...
	comes_true "$@" || fail "never true: $*: $(tail -n 5 err log* 2>/dev/null)"
}
fmd=("$bin/fmd" --config=fmd.conf --plugin-dir="$bin/plugins/engines/.libs" --state-dir="$tmp/state")

"$bin/fmroute" gen pgft 2 4,4 1,2 1,1 >net
printf 'log_file = "%s/absent/log"\n' "$tmp" >fmd.conf
"${fmd[@]}" --once --transport=sim:net >out 2>err || fail "a log that cannot be opened keeps fmd from its work"
grep -q "log_file: $tmp/absent/log: No such file" err || fail "no word of the log: $(cat err)"
# so a check warns of it, and does not keep a service from its start
warns() { # SENTENCE
	"${fmd[@]}" --check >out 2>err || fail "a check refuses it: $(cat err)"
	grep -qF "fmd.conf:1: $1" err || fail "no \"$1\": $(cat err)"
}
warns "log_file: there is no folder $tmp/absent: make it, or name another"
echo 'log_file = "/dev/null/log"' >fmd.conf
warns "log_file: /dev/null is no folder: name another"
printf 'log_file = "%s"\n' "$tmp" >fmd.conf
warns "log_file: $tmp is a folder: name a file in it"
printf 'dump_files_dir = "%s/absent/dumps/"\n' "$tmp" >fmd.conf
warns "dump_files_dir: there is no folder $tmp/absent: make it, or name another"
echo 'dump_files_dir = "/dev/null"' >fmd.conf
warns "dump_files_dir: /dev/null is no folder, and tables are several files"
printf 'dump_files_dir = "%s/dumps/"\n' "$tmp" >fmd.conf
"${fmd[@]}" --check >out 2>err && [ ! -s err ] || fail "a folder that fmd makes itself: $(cat err)"

printf 'log_file = "%s/log"\ndump_files_dir = "%s/dumps"\n' "$tmp" "$tmp" >fmd.conf
"${fmd[@]}" --transport=sim:net,clock=wall >out 2>err &
daemon=$!
await grep -qs "SUBNET UP" log
await test -s dumps/opensm-subnet.lst
[ ! -s err ] || fail "there is something on stderr: $(cat err)"
mv log log.moved
kill -USR1 $daemon
await test -e log
kill -HUP $daemon
await grep -qs "SUBNET UP" log

printf 'log_file = "%s/absent/log"\n' "$tmp" >fmd.conf
kill -HUP $daemon
await grep -qs "log_file: $tmp/absent/log.*the old configuration stays" log
printf 'log_file = "%s/log2"\n' "$tmp" >fmd.conf
kill -HUP $daemon
await grep -qs "SUBNET UP" log2
kill $daemon
wait $daemon || fail "fmd ends with $?"
daemon=
tail -n 1 log2 | grep -q "stopped by signal" || fail "the last line is not in the new log"
echo "ok: log_file"
