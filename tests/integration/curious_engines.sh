#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Engines whose constructors look round: neither a file nor the memory of the fmd that loads them
# can be read, fmd as root or not; what only somebody does who means harm ends their process at
# once.  Where the kernel has no Landlock they are refused, unless that is asked for.
# Runs in the build directory.
set -eu
. "${srcdir:-..}/tests/integration/fmroute.bash"
hostile=$bin/tests/hostile/.libs
chmod 755 .
mkdir plugins secret
echo "m_key = 0x5ec7e7" >secret/fmd.conf
cp "$hostile"/load_{look,vm,trace,int80,x32}.so plugins/

as_user=() # how a command is run as the user in question
run() { # ARGUMENTS of fmd
	"${as_user[@]}" "${on_kernel[@]}" "$bin/fmd" --plugin-dir=plugins --config=none "$@" >out 2>&1 || fail "$who: fmd $*: exit $?: $(cat out)"
}
says() { grep -qF -- "$1" out || fail "$who: it does not say \"$1\": $(grep -F load_ out)"; }
could_read() { sed -n 's/^load_look: It could read://p' out; }

look() { # WHO
	who=$1
	on_kernel=(env)
	run --list-engines
	if grep -qF "no Landlock" out; then
		echo "no Landlock here: seen only that they are refused"
	else
		for deed in vm trace x32; do
			says "load_$deed.so: its process was killed by signal 31 (SIGSYS)"
		done
		[ "$(uname -m)" != x86_64 ] || says "load_int80.so: its process was killed by signal"
		run --help=load_look
		says "It could read:"
		[ -z "$(could_read)" ] || fail "$who: it could read$(could_read)"
	fi
	on_kernel=("$bin/tests/integration/no_landlock")
	run --list-engines
	says "load_look.so: this kernel cannot hide files from it while it is loaded (no Landlock"
	run --engine-isolation=without-landlock --help=load_look
	says "It could read:"
	case "$(could_read)" in # the processes of a user can be read by him; not fmd's
	*" mem"* | *" maps"* | *" environ"*) fail "$who: without Landlock it could read$(could_read)" ;;
	*" passwd"*) ;;
	*) fail "$who: it did not look, so nothing is seen here: $(cat out)" ;;
	esac
	echo "ok: $who"
}

who=anybody
on_kernel=(env)
as_user=(env)
run --list-engines
! grep -q "built without libseccomp" out || { echo "built without libseccomp: skipped"; exit 77; }
look "as $(id -un)"
[ "$(id -u)" = 0 ] || exit 0
chown -R 12345:12345 plugins secret
chmod 700 secret
touch out
as_user=(setpriv --reuid=12345 --regid=12345 --clear-groups)
"${as_user[@]}" "$bin/fmd" --version >/dev/null 2>&1 || { echo "another user cannot run fmd: seen as root alone"; exit 0; }
look "as another user"
