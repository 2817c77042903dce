#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The generated fmd.conf and man pages are those of the engines built now; the
# file parses as it is and with every key uncommented; so does each example.
# Runs in the build directory.
set -eu
top=$(cd "${srcdir:-..}" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
check() { ./fmd --config="$1" --plugin-dir=plugins/engines/.libs --check >"$tmp/out" 2>&1 || { echo "$1:"; cat "$tmp/out"; exit 1; }; }

./fmd-doc conf plugins/engines/.libs | cmp - conf/fmd.conf
./fmd-doc man plugins/engines/.libs >"$tmp/options"
cat "$top/doc/fmd.conf.5.in" "$tmp/options" | cmp - doc/fmd.conf.5
./fmd-doc events plugins/engines/.libs >"$tmp/kinds"
cat "$top/doc/fmd-events.7.in" "$tmp/kinds" | cmp - doc/fmd-events.7
check conf/fmd.conf
sed 's/^\(\t*\)#\([a-z_0-9]* = \)/\1\2/' conf/fmd.conf >"$tmp/fmd.conf"
[ "$(grep -c '^	*#[a-z]' "$tmp/fmd.conf")" = 0 ]
check "$tmp/fmd.conf"
for f in "$top"/conf/examples/*.conf; do
	case $f in
	*/partitions.conf) echo "partition_config_file = \"$f\"" >"$tmp/partitions.conf" && check "$tmp/partitions.conf" ;;
	*/qos-policy.conf)
		printf 'qos = yes\nqos_policy_file = "%s"\n' "$f" >"$tmp/qos.conf" && check "$tmp/qos.conf" ;;
	*) check "$f" ;;
	esac
done
# What stands in such a file is checked, too.
printf 'A=1 : ALL;\nB=2 : 0x12g;\n' >"$tmp/p"
echo "partition_config_file = \"$tmp/p\"" >"$tmp/bad.conf"
rc=0
./fmd --config="$tmp/bad.conf" --check 2>"$tmp/err" || rc=$?
[ $rc = 2 ] && grep -q 'p:2: "0x12g" is no port' "$tmp/err"
printf 'qos-levels\n\tqos-level\n\t\tsl: 16\n' >"$tmp/q"
echo "qos_policy_file = \"$tmp/q\"" >"$tmp/bad.conf"
rc=0
./fmd --config="$tmp/bad.conf" --check 2>"$tmp/err" || rc=$?
[ $rc = 2 ] && grep -q 'q:3: "16" is no number 0..15' "$tmp/err"
printf 'qos = yes\nqos_swe_sl2vl = "0,1"\n' >"$tmp/bad.conf"
rc=0
./fmd --config="$tmp/bad.conf" --check 2>"$tmp/err" || rc=$?
[ $rc = 2 ] && grep -q 'bad.conf:2: qos_swe_sl2vl: "0,1" is no list of 16 VLs' "$tmp/err"
# So are routing chains, whether a chain uses them or not: each file by itself and all
# of them together.
cp "$top"/conf/examples/path-bits.* "$tmp"
bad_chains() { # WORDS, a line of fmd.conf more
	{ grep -v '^chain = ' "$tmp/path-bits.conf"; echo "$2"; } >"$tmp/unused.conf"
	rc=0
	./fmd --config="$tmp/unused.conf" --plugin-dir=plugins/engines/.libs --check >"$tmp/out" 2>&1 || rc=$?
	[ $rc = "$3" ] && grep -qF -e "$1" "$tmp/out" || { echo "not $3, \"$1\" but $rc:"; cat "$tmp/out"; exit 1; }
}
bad_chains "path-bits.rch is read, but not used: chains is in no chain" '' 0
bad_chains "path-bits.rch is read, but not used: chains is in no chain" 'chain = { "updn" }' 0
sed -i 's/engine: ftree/engine: ftre/' "$tmp/path-bits.rch"
bad_chains "path-bits.rch:9: step 20: no engine 'ftre': did you mean ftree?" '' 2
sed -i 's/^engine:.*//' "$tmp/path-bits.rch"
bad_chains "path-bits.rch:2: this unicast-step has no engine" '' 2
sed -i 's/^hca-grp: storage/hca-grp: storages/' "$tmp/path-bits.topo"
bad_chains "path-bits.topo:5: hca-grp: there is no port-group storages" '' 2
sed -i '/^rch_policy_file/d' "$tmp/path-bits.conf"
bad_chains "path-bits.topo:5: hca-grp: there is no port-group storages" '' 2
echo rubbish >>"$tmp/path-bits.pgrp"
bad_chains "path-bits.pgrp:13:" '' 2
sed -i '/^topo_policy_file/d' "$tmp/path-bits.conf"
bad_chains "path-bits.pgrp:13:" '' 2
# And a bad one is refused, with exit code 2.
echo 'lmc = 9' >"$tmp/bad.conf"
rc=0
./fmd --config="$tmp/bad.conf" --check 2>"$tmp/err" || rc=$?
[ $rc = 2 ] && grep -q "bad.conf:1: lmc = 9 is outside 0..7 bits" "$tmp/err"
# README's screen of --once is what --once prints, times apart.
sed -n '/^    [$] build.fmd --once /,/^$/p' "$top/README.md" | sed '1d; /^$/d; s/^    //; s/^time .*/time/' >"$tmp/said"
[ "$(wc -l <"$tmp/said")" -gt 8 ]
./fmroute gen pgft 2 18,36 1,18 1,1 >"$tmp/ft-648.net"
./fmd --once --config=none --plugin-dir=plugins/engines/.libs --state-dir="$tmp/state" --transport=sim:"$tmp/ft-648.net" 2>"$tmp/err" >"$tmp/once"
sed 's/^time .*/time/' "$tmp/once" | diff - "$tmp/said" || { echo "README.md shows another summary of fmd --once"; exit 1; }
if command -v man >/dev/null; then
	for page in "$top"/doc/*.[178] doc/fmd.conf.5; do
		[ -z "$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -l "$page" 2>&1 >/dev/null)" ] ||
			{ echo "$page: troff warns"; exit 1; }
	done
fi
