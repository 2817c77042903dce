#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What makes a fault harder to use is in the programs and engines, where configure has found
# that compiler and linker can.  Runs in the build directory.
set -eu
fail() { echo "FAIL: $*"; exit 1; }
skip() { echo "$*: skipped"; exit 77; }

command -v readelf >/dev/null && command -v objdump >/dev/null || skip "binutils are absent"
flags=$(sed -n 's/^FM_CFLAGS = //p; s/^FM_LDFLAGS = //p; s/^FM_PROGRAM_LDFLAGS = //p' Makefile | tr '\n' ' ')
has() { case " $flags " in *" $1 "*) ;; *) return 1 ;; esac; }
has -Wl,-z,now || skip "built without hardening, or with sanitizers"
program() { if [ -x ".libs/$1" ]; then echo ".libs/$1"; else echo "$1"; fi; }

for f in "$(program fmd)" "$(program fmctl)" "$(program fmroute)" plugins/engines/.libs/*.so; do
	readelf -Wd "$f" | grep -q 'BIND_NOW\|(FLAGS_1).*NOW' || fail "$f: symbols are looked up late"
	readelf -Wl "$f" | grep -q GNU_RELRO || fail "$f: no RELRO"
	readelf -Wl "$f" | grep -q 'GNU_STACK.*RWE' && fail "$f: the stack can be run"
done
for f in "$(program fmd)" "$(program fmctl)" "$(program fmroute)"; do
	! has -pie || readelf -Wd "$f" | grep -q '(FLAGS_1).*PIE' || fail "$f: it lies at a fixed place"
done
f=$(program fmd)
case $flags in *_FORTIFY_SOURCE*)
	readelf -Ws "$f" | grep -q '__[a-z]*_chk' || fail "$f: no call is checked (_FORTIFY_SOURCE)"
	;;
esac
! has -fcf-protection || [ "$(objdump -d "$f" | grep -c endbr)" -gt 500 ] || fail "$f: no landing pads (CET)"
readelf -Ws "$f" | grep -q __stack_chk_fail || fail "$f: no canaries"
echo "ok: hardening"
