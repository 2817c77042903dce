#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Every man page has EXAMPLES, and each of them does what it should: commands are run line by line
# as they stand there, pieces of fmd.conf are checked.  Runs in the build directory.
set -u

. "$(dirname "$0")/fmsim.bash"
need_tools grep sed awk
export TMPDIR=$dir PATH=$build:$PATH
unset FMSIM_SOCKET
library=$build/.libs/libfmsim-umad.so

# The examples of a page as they are read, a line "----" behind each.
examples() {
	sed -n '/^\.SH EXAMPLES/,/^\.SH [^E]/p' "$1" | awk '/^\.EX/ { on = 1; next } /^\.EE/ { on = 0; print "----" } on' |
		sed 's/\\-/-/g'
}
fmctl() { # pages of others name the folder
	"$build/fmctl" --state-dir=state "$@"
}
fmd-engine-check() {
	"$build/fmd-engine-check" "${@/my.so/updn.so}"
}
answers() { fmctl status --json 2>/dev/null | grep -q '"subnet_up": true'; }
serves() { "$build/fmsim" --tell attached >/dev/null 2>&1; }

# A job's number is the program's: it is what is ended.
in_background() { # LINE
	(
		fmd() { exec "$build/fmd" "$@"; }
		fmsim() { exec "$build/fmsim" "$@"; }
		at() { LD_PRELOAD=$library exec "$@"; }
		eval "${1%&}"
	) </dev/null >"$dir/job.out" 2>&1 &
	case $1 in
	fmsim*) until_true serves ;;
	*) until_true answers ;;
	esac
}

# In one shell, as a person types them.
run_page() { # PAGE
	local line n=0
	mkdir -p "$dir/$1" && cd "$dir/$1" || exit 1
	while IFS= read -r line <&3; do
		line=${line//LIBDIR/$build/.libs}
		case $line in
		----) continue ;;
		*" at saquery "* | *" at ibnetdiscover"*) command -v "$(sed 's/.* at \([a-z]*\).*/\1/' <<<"$line")" >/dev/null || continue ;;
		esac
		if [[ $line == *' &' ]]; then
			in_background "$line"
		else
			eval "$line" >"$dir/answer" 2>&1 || fail "$1: $line: exit code $?: $(cat "$dir/answer")"
		fi
		n=$((n + 1))
	done 3< <(examples "$top/doc/$1")
	[ $n -ge 4 ] || fail "$1 has $n lines of examples"
	kill_jobs 0 2>/dev/null # one may have ended by itself
	cd "$build" || exit 1
	echo "ok: $1: $n lines"
}

mkdir "$dir/fmd-engine-check.1" && cp "$build/plugins/engines/.libs/updn.so" "$dir/fmd-engine-check.1/updn.so" || exit 1
run_page fmd-engine-check.1
run_page fmroute.1
run_page fmd.8
! command -v openssl >/dev/null || run_page fmd-copy-setup.8
if [ -e "$library" ] && ! ldd "$library" | grep -q 'lib[at]san'; then
	run_page fmsim.1
fi
mkdir "$dir/fmctl.8" && cd "$dir/fmctl.8" && fmroute gen pgft 2 4,4 1,2 1,1 >net || exit 1
in_background 'fmd --config=none --transport=sim:net,clock=wall --state-dir=state &'
run_page fmctl.8

# fmd.conf(5): each piece by itself
mkdir "$dir/conf" && cd "$dir/conf" || exit 1
cp "$top/conf/examples/partitions.conf" . && n=0
while IFS= read -r line; do
	if [ "$line" != ---- ]; then
		echo "$line" >>fmd.conf
		continue
	fi
	fmd --check --config=fmd.conf >"$dir/answer" 2>&1 || fail "fmd.conf.5: $(cat "$dir/answer")"
	n=$((n + 1))
	rm fmd.conf
done < <(examples "$build/doc/fmd.conf.5")
[ $n -ge 4 ] || fail "fmd.conf.5 has $n examples"
echo "ok: fmd.conf.5: $n pieces"
