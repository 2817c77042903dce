#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# An engine built elsewhere: the skeleton copied out, renamed, compiled with
# pkg-config against what "make install" lays down, dropped into a folder and
# found.  Runs in the build directory.
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

mkdir "$tmp/engines"
sed 's/FM_ENGINE(template/FM_ENGINE(myengine/' "$top/plugins/engines/template/template.c" >"$tmp/myengine.c"
# shellcheck disable=SC2046
${CC:-cc} -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror -O2 -shared -fPIC -fvisibility=hidden \
	-o "$tmp/engines/myengine.so" "$tmp/myengine.c" $(pkg-config --cflags --libs fmd-engine) -lpthread

./fmroute gen pgft 2 6,6 1,6 1,1 >"$tmp/tree.net"
./fmd-engine-check "$tmp/engines/myengine.so" "$tmp/tree.net" | grep '^ok ' ||
	{ echo "the engine built out of tree does not hold"; exit 1; }
