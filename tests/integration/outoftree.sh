#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Engines built elsewhere, with pkg-config against what "make install" lays down,
# dropped into a folder and found: the skeleton copied out and renamed, and the one
# that doc/writing-engines.md shows a newcomer, text and commands as they stand there.
# Runs in the build directory.
set -eu
top=$(cd "${srcdir:-..}" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
command -v pkg-config >/dev/null || exit 77

# Only what an author needs; DESTDIR keeps the prefix of this build.
make -s install-fmincludeHEADERS install-pkgconfigDATA install-libLIBRARIES DESTDIR="$tmp/root" >"$tmp/log" 2>&1 ||
	{ cat "$tmp/log"; exit 1; }
pc=$(find "$tmp/root" -name fmd-engine.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
PKG_CONFIG_SYSROOT_DIR=$tmp/root
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR

[ "fmd $(pkg-config --modversion fmd-engine)" = "$(./fmd --version | sed -n '1s/,.*//p')" ] ||
	{ echo "fmd-engine.pc is of another version"; exit 1; }
[ ! -e "$(find "$tmp/root" -name own.h)" ] || { echo "own.h is installed"; exit 1; }

# What man pages, headers and guides name is installed beside them.
make -s install-dist_docDATA install-dist_docpagesDATA install-dist_examplesDATA DESTDIR="$tmp/root" >"$tmp/log" 2>&1 ||
	{ cat "$tmp/log"; exit 1; }
docs=$(dirname "$(find "$tmp/root" -name HACKING.md)")
named=$(cat "$top/HACKING.md" "$top/README.md" "$top/doc/writing-engines.md" "$top"/doc/*.[158] "$top"/doc/*.in "$top"/include/fmd/*.h |
	grep -o 'doc/[a-z-]*\.md' | sort -u)
[ "$(echo "$named" | wc -l)" -gt 5 ] || { echo "only named: $named"; exit 1; }
for f in README.md $named examples/template.c; do
	[ -s "$docs/$f" ] || { echo "$f is not installed"; find "$docs"; exit 1; }
done

mkdir "$tmp/engines"
sed 's/FM_ENGINE(template/FM_ENGINE(myengine/' "$docs/examples/template.c" >"$tmp/myengine.c"
# shellcheck disable=SC2046
${CC:-cc} -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror -O2 -shared -fPIC -fvisibility=hidden \
	-o "$tmp/engines/myengine.so" "$tmp/myengine.c" $(pkg-config --cflags --libs fmd-engine) -lpthread

./fmroute gen pgft 2 6,6 1,6 1,1 >"$tmp/tree.net"
./fmd-engine-check "$tmp/engines/myengine.so" "$tmp/tree.net" | grep '^ok ' ||
	{ echo "the engine built out of tree does not hold"; exit 1; }

# ---- the engine that is kept of ABI 1.0: its source builds against the header of today, in C++ a
# ---- descriptor does, and by the compiler it was built by it is the same file
abi=$top/tests/abi/1.0
# shellcheck disable=SC2046
${CC:-cc} -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror -shared -fPIC -o "$tmp/engines/frozen.so" "$abi/frozen.c" \
	$(pkg-config --cflags fmd-engine)
./fmd-engine-check "$tmp/engines/frozen.so" "$tmp/tree.net" | grep '^ok ' ||
	{ echo "the engine of ABI 1.0, built against the header of today, does not hold"; exit 1; }
if command -v c++ >/dev/null; then
	printf '%s\n' '#include <fmd/engine.h>' 'static int r(const fm_host *, const fm_fabric *, const fm_request *, const void *,' \
		'    fm_tables *, fm_error *) { return 0; }' \
		'FM_ENGINE(plus, .summary = "C++", .traits = FM_PROVIDES_LFT | FM_PROVIDES_SL, .route = r);' >"$tmp/plus.cc"
	# shellcheck disable=SC2046
	c++ -std=c++20 -fvisibility=hidden -Wall -Wextra -Werror -Wno-missing-field-initializers -shared -fPIC -o "$tmp/engines/plus.so" "$tmp/plus.cc" \
		$(pkg-config --cflags fmd-engine)
	./fmd --list-engines --plugin-dir="$tmp/engines" | grep -q '^plus$' || { echo "no engine of C++"; exit 1; }
fi
if [ "$(uname -m)" = x86_64 ] && cc --version | grep -q 'Debian 12\.2\.0' && ld --version | grep -q ' 2\.40$'; then
	CC=cc "$abi/build" "$tmp/frozen.so" && cmp "$tmp/frozen.so" "$abi/frozen.so" ||
		{ echo "tests/abi/1.0/build does not make tests/abi/1.0/frozen.so"; exit 1; }
fi

# ---- doc/writing-engines.md alone: its engine, its command to build it, its commands to use it
guide=$top/doc/writing-engines.md
mkdir "$tmp/guide"
sed -n '/^   ```c$/,/^   ```$/p' "$guide" | sed '1d;$d;s/^   //' >"$tmp/guide/my.c"
n=$(wc -l <"$tmp/guide/my.c")
[ "$n" -gt 20 ] && [ "$n" -lt 100 ] || { echo "the engine of doc/writing-engines.md has $n lines"; exit 1; }
build=$(sed -n 's/^2\. Build: `\(.*\)`\.$/\1/p' "$guide")
case $build in
*pkg-config*my.c*) ;;
*) echo "no command to build my.c in doc/writing-engines.md: $build"; exit 1 ;;
esac
(cd "$tmp/guide" && eval "$build -Wall -Werror") || { echo "doc/writing-engines.md does not build: $build"; exit 1; }
./fmd-engine-check "$tmp/guide/my.so" "$tmp/tree.net" | grep '^ok ' ||
	{ echo "the engine of doc/writing-engines.md does not hold"; exit 1; }

# step NUMBER: the first command of this step, with FABRIC in it, run in the folder.
step() {
	command=$(sed -n "s/^$1\\. [A-Z][a-z]*: \`\([^\`]*\)\`.*/\1/p" "$guide" | sed "s|FABRIC[.]*|$tmp/tree.net|")
	(cd "$tmp/guide" && PATH=$build_dir:$PATH && export PATH && eval "$command $2")
}
build_dir=$PWD
step 3 '' | grep -q '^ok ' || { echo "step 3 of doc/writing-engines.md: $command"; exit 1; }
step 4 '--config=none --json' >"$tmp/out" || { echo "step 4 of doc/writing-engines.md: $command"; exit 1; }
for fact in '"engine": "my"' '"refused": \[\]' '"unreachable_pairs": 0' '"loops": 0' '"credit_loops": 0' '"a2a_max_over_avg"'; do
	grep -q "$fact" "$tmp/out" || { echo "step 4 of doc/writing-engines.md, no $fact:"; cat "$tmp/out"; exit 1; }
done
daemon=$(sed -n 's/^ *`\(fmd --plugin-dir[^`]*\)`.*/\1/p' "$guide")
[ -n "$daemon" ] || { echo "doc/writing-engines.md does not start fmd"; exit 1; }
(cd "$tmp/guide" && PATH=$build_dir:$PATH && export PATH &&
	eval "$daemon --plugin-dir=$build_dir/plugins/engines/.libs --config=none --transport=sim:$tmp/tree.net --state-dir=$tmp/state --once") \
	>"$tmp/log" 2>&1 && grep -q 'SUBNET UP.*engine my' "$tmp/log" ||
	{ echo "fmd does not bring the subnet up by the engine of doc/writing-engines.md:"; cat "$tmp/log"; exit 1; }

# ---- what the check says of it: loops it did not promise absent, and where it crashes
./fmroute gen torus 5 1 >"$tmp/ring.net"
./fmd-engine-check "$tmp/guide/my.so" "$tmp/ring.net" >"$tmp/out" || { cat "$tmp/out"; exit 1; }
grep -q '^ok .*has credit loops (not promised): credit loop over ' "$tmp/out" &&
	grep -q '^note .*my never asks should_stop' "$tmp/out" || { cat "$tmp/out"; exit 1; }
mkdir "$tmp/crash"
sed '/queue == NULL || port == NULL/,/return/d' "$tmp/guide/my.c" >"$tmp/crash/my.c"
(cd "$tmp/crash" && eval "$build") || exit 1
rc=0
./fmd-engine-check "$tmp/crash/my.so" "$tmp/tree.net" >"$tmp/out" 2>"$tmp/err" || rc=$?
[ $rc -gt 128 ] && grep -q 'the engine crashes: my on .*tree.net, memory: scratch allocation 1 fails' "$tmp/err" ||
	{ echo "a crash: exit $rc"; cat "$tmp/out" "$tmp/err"; exit 1; }
