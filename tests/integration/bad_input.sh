#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Bad input, as a table: what is given, the exit code, and words of the
# sentence that says what is wrong.  Then files garbled by seed.
set -u
top=${FMD_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${FMD_BUILD:-$PWD}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
n=0 n_wrong=0

fmd=$build/fmd fmroute=$build/fmroute fmctl=$build/fmctl engines=$build/plugins/engines/.libs

# expect CODE WORDS COMMAND...: and, whatever it is, no crash and no hang.
expect() {
	local code=$1 words=$2 got
	shift 2
	timeout 30 "$@" >out 2>err
	got=$?
	n=$((n + 1))
	[ "$got" = "$code" ] && grep -qF -- "$words" err && return
	n_wrong=$((n_wrong + 1))
	echo "wrong: $* exits with $got, not $code; or says not \"$words\" but: $(head -n 3 err)"
}

# The same, with standard output as the words say: ">/dev/full", ">&-".
expect_output() {
	local output=$1
	shift
	expect 1 'cannot write' sh -c 'exec "$@" '"$output" sh "$@"
}

# The same for a configuration of these lines.
expect_conf() {
	printf '%s\n' "$3" >bad.conf
	expect "$1" "bad.conf:$2" "$fmd" --check --config=bad.conf
}

"$fmroute" gen pgft 2 4,8 1,4 1,1 >good.net && "$fmroute" good.net --dump=good >/dev/null 2>&1 || exit 1
printf 'lmc = 1\n\nupdn "a" { roots = { "spine-*" } }\n' >good.conf

# ---- fabrics
head -c 1500 good.net >cut.net
: >empty.net
printf '\0\1\2' >binary.net
sed 's/^Switch.*/Switch 300 "s"/' good.net >ports.net
printf 'Switch 4 "s"\n[9] "t"[1]\n\nSwitch 4 "t"\n[1] "s"[9]\n' >port.net
printf 'Switch 4 "s"\n[1] "t"[1]\n\nSwitch 4 "s"\n[1] "t"[2]\n' >twice.net
printf 'Switch 4 "s"\n[1 "t"[1]\n' >bracket.net
expect 2 'cut.net:' "$fmroute" cut.net
expect 2 'is it cut off?' "$fmroute" cut.net
expect 2 'no node in the file' "$fmroute" empty.net
expect 2 'this is no text file' "$fmroute" binary.net
expect 2 '1..254 ports' "$fmroute" ports.net
expect 2 'port.net:2: port 9 of "s", which has 4 ports' "$fmroute" port.net
expect 2 'twice.net:4:' "$fmroute" twice.net
expect 2 'bracket.net:2:' "$fmroute" bracket.net
expect 2 'nosuch.net: No such file' "$fmroute" nosuch.net
expect 2 'Is a directory' "$fmroute" .
expect 2 'this is no text file' "$fmroute" /dev/zero
expect 2 'Is a directory' "$fmd" --once --state-dir=state --transport=sim:.
expect 2 'cut.net:' "$fmroute" check cut.net good/lfts
expect 2 'cut.net:' "$fmroute" fail cut.net --links=1
expect 2 'cut.net:' "$fmd" --once --state-dir=state --transport=sim:cut.net

# ---- tables
head -c 3000 good/lfts >cut.lfts
head -n 20 good/lfts >half.lfts
sed 's/ 00[0-9] :/ 999 :/' good/lfts >ports.lfts
sed 's/^0x00/0xd0/' good/lfts >lids.lfts
sed 's/ guid 0x0/ guid 0x9/' good/lfts >other.lfts
expect 2 'cut.lfts:' "$fmroute" check good.net cut.lfts
expect 3 'half.lfts:20: the file ends without 11 of the switches of this fabric, leaf-2 the first: is it cut off?' "$fmroute" check good.net half.lfts
expect 2 '--engine=LIST routes neither good nor good' "$fmroute" diff good good --engine=updn
expect 2 '--engine=LIST routes neither good nor engine:updn' "$fmroute" diff good engine:updn --fabric=good.net --engine=minhop
expect 2 'standard input, which can be read once' "$fmroute" diff - -
expect 2 'standard input, which can be read once' "$fmroute" diff good engine:updn --fabric=-
expect 3 'is it cut off?' "$fmroute" diff good half.lfts --fabric=good.net
expect 2 'ports.lfts:4: the LID is not followed by a port' "$fmroute" check good.net ports.lfts
expect 2 'lids.lfts:4:' "$fmroute" check good.net lids.lfts
expect 3 'no entry of the tables fits this fabric' "$fmroute" check good.net other.lfts
expect 2 'good.net:' "$fmroute" check good.net good.net
expect 2 'no switch in the file' "$fmroute" check good.net empty.net
expect 2 'nosuch: No such file' "$fmroute" check good.net nosuch

# ---- configurations
expect_conf 2 '1: sm_key = -1 is less than 0' 'sm_key = -1'
expect_conf 2 '1: guid = 2c9030000a1b2c is no number: hexadecimal is written with 0x, as 0x2c9030000a1b2c' \
	'guid = 2c9030000a1b2c'
expect_conf 2 '1: dist_redis: host:99999 is no path: write that of the Unix socket' 'dist_redis = "host:99999"'
expect_conf 2 '1: lmc = 9 is outside 0..7' 'lmc = 9'
expect_conf 2 '2: unknown key nosuch' $'lmc = 1\nnosuch = 1'
expect_conf 2 "1: chain: no engine 'nosuch'" 'chain = { "nosuch" }'
expect_conf 2 '1: the list of chain that begins here is never closed' 'chain = {'
expect_conf 2 '1: lmc = abc is no number' 'lmc = abc'
expect_conf 2 '1: fallback = maybe is neither yes nor no' 'fallback = maybe'
expect_conf 2 '1: unknown key nosuch of updn' 'updn "a" { nosuch = 1 }'
expect_conf 2 '1: sweep_interval = 10q has no unit' 'sweep_interval = 10q'
expect_conf 2 '3: a second section updn "a": put its keys into the first' $'updn "a" {\n}\nupdn "a" { }'
expect_conf 2 '1: m_key = 0x1ffffffffffffffff is more than 64 bits' 'm_key = 0x1ffffffffffffffff'
expect_conf 2 '1: the string that begins here has no closing' 'transport = "'
printf 'x\n' >bad.lids
expect_conf 2 '3: fallback = maybe is neither yes nor no' $'lmc = 9\nguid2lid = "bad.lids"\nfallback = maybe'
expect 2 'bad.lids:1: the GUID is not' "$fmd" --check --config=bad.conf
expect_conf 2 '1: guid2lid: nosuch: No such file' 'guid2lid = "nosuch"'
printf '0x0002c90300000001 0x0001 0x0001\n\n0x0002c90300000002 0x0001 0x0001\n' >bad.lids
expect_bad_lids() { printf 'guid2lid = "bad.lids"\n' >lids.conf && expect 2 'bad.lids:3:' "$@" --config=lids.conf; }
expect_bad_lids "$fmd" --check
expect_bad_lids "$fmd" --once --state-dir=state --transport=sim:good.net
expect 2 'nosuch.conf: No such file' "$fmd" --check --config=nosuch.conf
expect 2 'not a regular file' "$fmd" --check --config=.
expect 2 'this is no text file' "$fmd" --check --config=binary.net
expect 2 'bad.conf:1' "$fmd" --once --state-dir=state --transport=sim:good.net --config=bad.conf


# Routing chains: the mistakes of all three files at once, and none that follows from another.
printf 'port-group\nname: a\nport-guid: x\nend-port-group\n' >r.pgrp
printf 'topology\nid: 1\nsw-grp: a\nhca-grp: a\nend-topology\n' >r.topo
printf 'unicast-step\nid: 0\nengine: updn\nend-unicast-step\nunicast-step\nid: 2\nend-unicast-step\n' >r.rch
printf 'unicast-step\nid: 3\nengine: updn\ntopology: 1\nend-unicast-step\n' >>r.rch
printf '%s\n' 'chain = { "chains" }' 'pgrp_policy_file = "r.pgrp"' 'topo_policy_file = "r.topo"' \
	'rch_policy_file = "r.rch"' >r.conf
expect 2 'r.rch:5: this unicast-step has no engine' "$fmd" --check --config=r.conf
for words in 'r.pgrp:3: ' 'r.rch:2: id: 0: '; do
	grep -qF -- "$words" err || { n_wrong=$((n_wrong + 1)); echo "wrong: not said: $words but: $(cat err)"; }
done
! grep -E 'there is no (topology|port-group)' err || n_wrong=$((n_wrong + 1))

# Where the folder that engines are installed in has some, too, nobody can be without.
mkdir empty
! "$fmd" --list-engines --plugin-dir=empty | grep -q '^No engines found' || expect 0 'no engine is installed: the built-in up/down routes alone' \
	"$fmd" --check --config=none --plugin-dir=empty

# ---- plugins
mkdir cut renamed junk
head -c 4000 "$engines/updn.so" >cut/fromcut.so
cp "$engines/updn.so" renamed/other.so
head -c 5000 good.net >junk/junk.so
expect 2 'ends before its contents' "$fmd" --check --plugin-dir=cut --engine=fromcut
expect 2 "file's name must be the engine's: call it updn" "$fmd" --check --plugin-dir=renamed --engine=other
expect 2 'no ELF image' "$fmd" --check --plugin-dir=junk --engine=junk
expect 2 'plugin directory nosuch: No such file' "$fmd" --check --plugin-dir=nosuch
for i in 1 2 3; do cp junk/junk.so "junk/$i.so"; done
expect 2 'n=4: 1.so 2.so 3.so junk.so' "$fmd" --check --plugin-dir=junk --config=none --engine=nosuch
expect_conf 2 "2: no engine 'nosuch': fmd --list-engines" $'lmc = 0\nnosuch { x = 1 }'

# ---- command lines
expect 2 'usage' "$fmroute"
expect 2 "no engine 'nosuch'" "$fmroute" good.net --engine=nosuch
expect 2 'is outside 1..15' "$fmroute" good.net --vls=99
expect 2 'is outside 0..7' "$fmroute" good.net --lmc=8
expect 2 'is no number: write 0..256 threads' "$fmroute" good.net --workers=x
expect 2 '1..1000 is right' "$fmroute" good.net --repeat=0
expect 2 '--nosuch is no option' "$fmroute" good.net --nosuch
expect 2 '2 given' "$fmroute" gen pgft 2 4
expect 2 'no kind of fabric' "$fmroute" gen nosuch
expect 2 'not a number in 1..' "$fmroute" gen torus 0x3 1
expect 2 '0% to 100% are right' "$fmroute" fail good.net --links=200%
expect 2 'takes FABRIC and TABLES' "$fmroute" check good.net
[ -d /sys/class/infiniband ] || [ ! -e "$build/.libs/libfmsim-umad.so" ] ||
	expect 1 'no InfiniBand adapter is known to the kernel' "$fmd" --once --config=none --state-dir=state --transport=umad
expect 2 '"nosuch" is no transport' "$fmd" --once --state-dir=state --transport=nosuch
expect 2 'a share such as 1%' "$fmd" --once --state-dir=state --transport=sim:good.net,loss=2
expect 2 'there is no key "nosuch"' "$fmd" --once --state-dir=state --transport=sim:good.net,nosuch=1
expect 2 'no node of this name' "$fmd" --once --state-dir=state --transport=sim:good.net,local=nosuch
expect 2 'good.net:3: this is no action' "$fmd" --once --state-dir=state --transport=sim:good.net,script=good.net
expect 2 'an empty name' "$fmd" --engine=,
expect 2 'needs a value' "$fmd" --engine
expect 2 'unexpected argument x' "$fmd" x
expect 2 "no engine 'nosuch'" "$fmd" --help=nosuch
expect 2 'no command' "$fmctl"
expect 2 '0% to 100% are right' "$fmroute" fail good.net --links=%
expect 2 'the path is too long' "$fmctl" --state-dir="$(printf '%5000s' x)" status
expect 2 'is no UTF-8 text' "$fmctl" path "$(printf '\344')" x
expect 2 'unexpected argument c' "$fmctl" path a b c
expect 2 'status takes no --degraded' "$fmctl" status --degraded
expect 2 'nosuch takes no --wait' "$fmctl" nosuch --wait
expect 2 'unexpected argument heavy' "$fmctl" sweep light heavy
expect 2 "portstatus is of OpenSM's console: here it is fmctl links" "$fmctl" portstatus ca
expect 2 "resweep is of OpenSM's console: here it is fmctl sweep light or" "$fmctl" resweep heavy
expect 2 "sweep off is of OpenSM's console: here it is sweep_interval = 0 and" "$fmctl" sweep off
expect 2 "priority is of OpenSM's console: here it is sm_priority in the conf" "$fmctl" priority 5
expect 2 'a path of 1 to 107 bytes is right' "$build/fmsim" good.net --socket="$(printf '%200s' x)"
expect 2 'serves a fabric already' "$build/fmsim" good.net --tell help
expect 1 'no fmsim answers at' "$build/fmsim" --socket=nosuch --tell help
expect 2 'write 1..86400 seconds' "$fmctl" --timeout=x status
expect 1 'no fmd answers at' "$fmctl" --socket=nosuch status
# ---- what is printed and does not arrive
mkdir engine && cp "$engines/updn.so" engine/
for output in ">/dev/full" ">&-"; do
	expect_output "$output" "$fmroute" --help
	expect_output "$output" "$fmroute" good.net
	expect_output "$output" "$fmroute" diff good good
	expect_output "$output" "$fmroute" what-if good.net --down=switch:spine-1
	expect_output "$output" "$fmd" --help
	expect_output "$output" "$fmd" --check --config=none
	expect_output "$output" "$fmd" --list-engines
	expect_output "$output" "$fmd" --once --dry-run --config=none --state-dir=state --transport=sim:good.net
	expect_output "$output" "$fmd" --once --config=none --state-dir=state --transport=sim:good.net
	expect_output "$output" "$fmctl" --help
	expect_output "$output" "$build/fmsim" --help
	expect_output "$output" "$build/fmd-engine-check" engine/updn.so good.net
	expect_output "$output" "$fmroute" gen torus 3x3 1
	expect_output "$output" "$fmroute" good.net --json
done
# A log that is closed does not end up in the files that fmd opens (1: nor can the summary be written).
(exec >&- 2>&- && timeout 30 "$fmd" --once --config=none --state-dir=closed --transport=sim:good.net)
closed=$?
n=$((n + 1))
if [ $closed != 1 ] || [ ! -s closed/data.mdb ] || grep -q 'SUBNET UP' -r --exclude=events.jsonl closed || grep -qv '^{"n":' closed/events.jsonl; then
	n_wrong=$((n_wrong + 1))
	echo "wrong: fmd without standard output and error exits with $closed: $(ls closed)"
fi

expect 2 'is no directory' "$fmroute" good.net --dump=good.net
expect 2 'is no directory' "$fmd" --once --state-dir=state --transport=sim:good.net --dump=good.net
expect 1 "there is no $dir/no to make it in; --state-dir=DIR" "$fmd" --once --transport=sim:good.net --config=none --state-dir="$dir/no/state"
expect 1 'cannot make the state directory' "$fmd" --once --transport=sim:good.net --state-dir=/proc/nosuch

[ "$n_wrong" = 0 ] || { echo "$n_wrong of $n are wrong"; exit 1; }
echo "ok: $n cases"
command -v python3 >/dev/null 2>&1 || { echo "no python3, nothing garbled"; exit 0; }
python3 "$top/tests/integration/garble.py" "$build" "${FMD_GARBLED:-300}"
