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
# The property of a program is that of all its parts; where those of the C library have none (Debian
# 12), neither has a program.  Ours all have it.
if has -fcf-protection; then
	find . -name '*.o' -path '*/core/*' | while read -r o; do
		readelf -Wn "$o" | grep -q 'IBT, SHSTK' || fail "$o: built without CET"
	done
	start=$(${CC:-gcc} -print-file-name=Scrt1.o)
	! readelf -Wn "$start" | grep -q 'IBT, SHSTK' || readelf -Wn "$f" | grep -q 'IBT, SHSTK' ||
		fail "$f: its parts have CET, it has not"
fi
readelf -Ws "$f" | grep -q __stack_chk_fail || fail "$f: no canaries"
echo "ok: hardening"
