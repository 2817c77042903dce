#!/usr/bin/env bash
# An in-tree configure must refuse, and the folder core/ must survive it
# (autoconf's own checks would remove it).
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
git -C "$top" ls-files --error-unmatch configure.ac >/dev/null 2>&1 || { echo "no git checkout: skipped"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$top" && git ls-files -z | xargs -0 cp --parents -t "$work")
cp "$top"/configure "$top"/aclocal.m4 "$top"/config.h.in "$top"/Makefile.in "$work"
cp -r "$top"/build-aux "$work"
cd "$work"
before=$(find core -type f | sort | sha256sum)
if ./configure >out 2>&1; then
	echo "an in-tree configure was not refused"
	exit 1
fi
grep -q "build outside the source tree" out || { echo "the refusal does not say what to do:"; tail -n 3 out; exit 1; }
[ "$(find core -type f | sort | sha256sum)" = "$before" ] || { echo "core/ did not survive"; exit 1; }
