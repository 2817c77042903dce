#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# dev/run on a small fabric, with the build under test: it ends with 0 when all
# is well, whatever becomes of the simulator that it stops on the way out, and
# with something else when fmd cannot start.
set -u
# shellcheck source=tests/integration/lib.bash
. "$(dirname "$0")/lib.bash"
need ibnetdiscover dump_lfts smpquery ibtracert
[ -x "$top/dev/run" ] || skip "dev/run is not in the archive"

run() {
	FMD_BUILD=$build "$top/dev/run" "$@" >"$dir/run.out" 2>&1
}

"$build/fmroute" gen pgft 2 2,4 1,2 1,1 >"$dir/net" || fail "fmroute gen"
run net
code=$?
[ $code = 0 ] || fail "dev/run ends with $code"
grep -q "SUBNET UP" "$dir/run.out" || fail "no SUBNET UP"
grep -q "^6 switches, 8 CAs$" "$dir/run.out" || fail "ibnetdiscover sees something else"
grep -q "^pairs  *104 reachable, 0 unreachable" "$dir/run.out" || fail "no verdict"
grep -q '^To ca' "$dir/run.out" || fail "ibtracert does not arrive"

# ours are not the only ports: the first host has none that is cabled
sed '/^Ca.*"host-1-1"/,/^$/d; /"host-1-1"/d' "$dir/net" >"$dir/odd.net"
printf 'Ca\t1 "lonely"\n\n' | cat - "$dir/odd.net" >"$dir/lonely.net"
run lonely.net
code=$?
[ $code != 0 ] || fail "dev/run ends with 0 though fmd has no link"
echo "ok"
