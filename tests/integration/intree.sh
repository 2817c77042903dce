#!/usr/bin/env bash
# An in-tree configure must refuse, and the folder core/ must survive it
# (autoconf's own checks would remove it).
set -eu
: "${FMD_TOP:?}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$FMD_TOP" && git ls-files -z | xargs -0 cp --parents -t "$work")
cp "$FMD_TOP"/configure "$FMD_TOP"/aclocal.m4 "$FMD_TOP"/config.h.in "$FMD_TOP"/Makefile.in "$work"
cp -r "$FMD_TOP"/build-aux "$work"
cd "$work"
before=$(find core -type f | sort | sha256sum)
if ./configure >out 2>&1; then
	echo "an in-tree configure was not refused"
	exit 1
fi
grep -q "build outside the source tree" out || { echo "the refusal does not say what to do:"; tail -n 3 out; exit 1; }
[ "$(find core -type f | sort | sha256sum)" = "$before" ] || { echo "core/ did not survive"; exit 1; }
