#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fmctl topo on files: each kind of fabric is saved as a topology file and is the same when it is read
# again; fmroute routes it; wrong files get a sentence; ibutils' ibtopodiff tells of the same cables
# as fmctl topo diff on 20 fabrics with some of them unplugged, swapped and moved.  Runs in the build
# directory.
set -eu
. "${srcdir:-..}/tests/integration/fmroute.bash"
fmctl=$bin/fmctl
miscable="python3 $top/tests/integration/miscable.py"

# exits CODE ARGS...: what fmctl topo ARGS says is in out.
exits() {
	want=$1
	shift
	rc=0
	$fmctl topo "$@" >out 2>&1 || rc=$?
	[ $rc = "$want" ] || fail "fmctl topo $* exits with $rc, not $want: $(head -n 3 out)"
}
says() { grep -q -- "$1" out || fail "no \"$1\" in $(head -n 5 out)"; }

# ---- there and back
for words in "pgft 2 4,8 1,4 1,1" "torus 4x4x2 2" "hypercube 3 1" "hyperx 3x4 2" "dragonfly 4 2 2" \
	"slimfly 5 1" "kautz 2 3 1" "random 20 5 2 7" "director 6 4 5 2 2 4 seed=1" \
	"tree3 2 2 2 1 2 3 rails=2 slow=1 aggregation=1 storage=1 seed=2"; do
	# shellcheck disable=SC2086
	$fmroute gen $words >net
	exits 0 save net.topo net
	says "^[0-9]* nodes and [0-9]* cables are in net.topo$"
	exits 0 save back.net net.topo
	exits 0 diff net.topo net
	says "^[0-9]* cables are as in the file; 0 differences, 0 notes$"
	exits 0 diff net back.net
	says "0 differences, 0 notes"
	exits 0 save again.topo back.net
	cmp -s net.topo again.topo || fail "$words: the file is another one when it is saved again"
done
echo "ok: there and back"

# ---- fmroute reads it
$fmroute gen pgft 3 3,3,4 1,2,3 1,1,2 | sed 's/4xEDR/4xQDR/' >net
exits 0 save net.topo net
$fmroute net --engine=fattree | grep '^pairs\|^hops' >want
$fmroute net.topo --engine=fattree | grep '^pairs\|^hops' >got
cmp -s want got || fail "fmroute: $(cat got), not $(cat want)"
echo "ok: fmroute"

# ---- wrong words, wrong files
exits 2 look net.topo net
says 'topo takes save or diff, not "look"'
exits 2 diff
says "say which file: topo diff FILE"
exits 2 diff absent.topo net
says "cannot open fabric file absent.topo: No such file or directory"
sed '4s/->/=>/' net.topo >bad.topo
exits 2 diff bad.topo net
says 'bad.topo:4: "-4x-10G=>" is no arrow: -> is right, or -4x-10G->'
exits 1 save /nowhere/x.topo net
says "cannot write /nowhere/x.topo: No such file or directory"
echo "ok: wrong files"

# ---- twenty fabrics, two programs
command -v python3 >/dev/null || { echo "ok: python3 is absent, so ibtopodiff is not asked"; exit 0; }
for program in ibtopodiff cc; do
	command -v $program >/dev/null || { echo "ok: $program is absent, so ibtopodiff is not asked"; exit 0; }
done
# ibtopodiff writes 19 bytes into 18 that it has for a GUID, which Debian's build dies of: the last
# byte is a NUL, and what is read of it does not change
cat >shorter.c <<'END'
#include <stdarg.h>
#include <stdio.h>
int __sprintf_chk(char *s, int flag, size_t size, const char *format, ...);
int __sprintf_chk(char *s, int flag, size_t size, const char *format, ...)
{
	va_list ap;
	int n;

	(void)flag;
	va_start(ap, format);
	n = vsnprintf(s, size, format, ap);
	va_end(ap);
	return n;
}
END
cc -O0 -U_FORTIFY_SOURCE -shared -fPIC -o shorter.so shorter.c
# three levels are more than it can follow where two cables of a switch are wrong
$fmroute gen pgft 2 6,12 1,6 1,1 | sed 's/4xEDR/4xQDR/' >net
exits 0 save net.topo net
$miscable ibnl net.topo ibnl
export IBDM_IBNL_PATH="$tmp/ibnl"
asks() {
	rm -rf dump
	$fmroute "$1" --engine=minhop --dump=dump >/dev/null
	# hosts are known by their names where their adapter is called HCA-1
	sed 's/{\(host[^} ]*\)}/{\1 HCA-1}/g' dump/opensm-subnet.lst >subnet.lst
	LD_PRELOAD=$tmp/shorter.so ibtopodiff -e -t net.topo -d subnet.lst >theirs 2>&1 ||
		fail "ibtopodiff: $(tail -n 3 theirs)"
}
asks net
! grep -q '^-E-' theirs || fail "ibtopodiff on the same fabric: $(grep '^-E-' theirs)"
for seed in $(seq 20); do
	$miscable hurt net "$seed" >hurt.net
	asks hurt.net
	exits 5 diff net.topo hurt.net --json
	$miscable same out theirs || fail "seed $seed"
done
echo "ok: ibtopodiff"
