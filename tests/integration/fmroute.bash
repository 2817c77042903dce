# SPDX-License-Identifier: BSD-2-Clause
# What the tests of fmroute share; sourced in the build directory.  Sets $top and
# $bin, both absolute, $fmroute, and $tmp, a folder of the test's own that goes
# when it ends; stays there.
# shellcheck shell=sh

bin=$PWD
top=$(cd "${srcdir:-..}" && pwd)
fmroute=$bin/fmroute
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"

fail() { echo "FAIL: $*"; exit 1; }

# Does the command come true within a minute?
comes_true() {
	for _ in $(seq 600); do
		"$@" && return
		sleep 0.1
	done
	return 1
}

# run CODE ARGS...: standard output to out, errors to err.
run() {
	want=$1
	shift
	rc=0
	$fmroute "$@" >out 2>err || rc=$?
	[ $rc = "$want" ] || fail "fmroute $* exits with $rc, not $want: $(head -n 3 err)"
}

# A value of the object in out, and what it must be.
value() { sed -n "s/^ \"$1\": \(.*[^,]\),*\$/\1/p" out; }
is() { [ "$(value "$1")" = "$2" ] || fail "$1 is $(value "$1"), not $2: $(head -n 60 out)"; }
