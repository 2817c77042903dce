#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Debian's packages, as far as that can be told without building them: every file that "make install"
# lays down is in one package and no more, every line of debian/*.install finds something, all units and
# programs that documents have a machine install are in packages that there are, versions agree.
# dev/deb builds, installs, upgrades and purges them.  Runs in the build directory.
set -eu
top=$(cd "${srcdir:-..}" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAIL: $*" >&2; exit 1; }
shopt -s nullglob

make -s install DESTDIR="$tmp/made" >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
# Moved to where debian/rules has configure put it.
value() { printf 'value:\n\t@echo $(%s)\n' "$1" | make -s -f Makefile -f - value; }
mkdir -p "$tmp/laid/usr" "$tmp/laid/lib"
prefix=$tmp/made$(value prefix) lib=$tmp/made$(value libdir) etc=$tmp/made$(value sysconfdir) units=$tmp/made$(value systemdsystemunitdir)
beside=$(cd "$units/../.." && pwd)
mv "$beside/systemd" "$beside/udev" "$beside/sysusers.d" "$tmp/laid/lib"
mv "$etc" "$tmp/laid/etc"
mv "$lib" "$tmp/triplet"
mv "$prefix"/* "$tmp/laid/usr/"
mkdir -p "$tmp/laid/usr/lib"
mv "$tmp/triplet" "$tmp/laid/usr/lib/triplet"
mapfile -t packages < <(sed -n 's/^Package: //p' "$top/debian/control")
[ ${#packages[@]} = 8 ] || fail "debian/control has ${packages[*]}"
absent() { # a part that this build does without
	case $1 in
	*fmd-web*) [ ! -x fmd-web ] ;;
	*libfmdacm.so) [ ! -e .libs/libfmdacm.so ] ;;
	*) return 1 ;;
	esac
}
take() { # FILE-OF-LINES PACKAGE
	local line found f
	while read -r line _; do
		case $line in '' | '#'*) continue ;; esac
		# shellcheck disable=SC2206
		found=("$tmp/laid"/$line)
		for f in "${found[@]}"; do [ -e "$f" ] || found=(); done
		[ ${#found[@]} -gt 0 ] || absent "$line" || fail "$1: nothing is installed as $line"
		for f in "${found[@]}"; do find "$f" ! -type d -print; done | sed "s|^$tmp/laid/||; s|\$| $2|"
	done <"$1"
}
for package in "${packages[@]}"; do
	[ -s "$top/debian/$package.install" ] || fail "$package has nothing in it: there is no debian/$package.install"
	take "$top/debian/$package.install" "$package"
done >"$tmp/taken"
take "$top/debian/not-installed" nobody >>"$tmp/taken"
(cd "$tmp/laid" && find . ! -type d) | sed 's|^\./||' | sort >"$tmp/all"
sed 's/ [^ ]*$//' "$tmp/taken" | sort >"$tmp/files"
[ "$(wc -l <"$tmp/all")" -gt 90 ] || fail "only these are installed: $(cat "$tmp/all")"
twice=$(uniq -d "$tmp/files")
[ -z "$twice" ] || fail "in two packages: $(grep -F "$twice" "$tmp/taken")"
missing=$(comm -23 "$tmp/all" "$tmp/files")
[ -z "$missing" ] || fail "in no package, nor in debian/not-installed: $missing"
echo "ok: $(wc -l <"$tmp/all") files in ${#packages[@]} packages"

# ---- fmd.conf has sections of engines that are installed, no others
sections=$(sed -n 's/^\([a-z0-9]*\) {$/\1/p' "$tmp/laid/etc/fmd/fmd.conf")
[ "$(echo "$sections" | wc -l)" -ge 10 ] || fail "fmd.conf has these sections: $sections"
for section in $sections; do
	[ -e "$tmp/laid/usr/lib/triplet/fmd/$section.so" ] || fail "fmd.conf has a section $section, which is no engine that is installed"
done
echo "ok: fmd.conf"

# ---- a program has its page, and a unit its program, in the same package
of() { sed -n "s|^$1 ||p" "$tmp/taken"; }
while read -r file package; do
	name=$(basename "$file")
	case $file in
	usr/bin/* | usr/sbin/*)
		grep -q "^usr/share/man/man[18]/$name\.[18] $package$" "$tmp/taken" || fail "$package has $name, not its page" ;;
	lib/systemd/system/*)
		program=$(sed -n 's/^ExecStart=[^ ]*\/\([a-z-]*\).*/\1/p' "$tmp/laid/$file")
		case $program in
		fmd*) [ "$(of "usr/sbin/$program")" = "$package" ] || fail "$package has $name, but $program is in $(of "usr/sbin/$program")" ;;
		stunnel | redis-server) ;;
		*) fail "$name starts \"$program\"" ;;
		esac ;;
	esac
done <"$tmp/taken"
echo "ok: pages and units"

# ---- what documents have a machine install
n=0
while read -r words; do
	n=$((n + 1))
	for word in $words; do
		case $word in
		./*_\*.deb) word=${word#./} && [[ " ${packages[*]} " == *" ${word%_*} "* ]] || fail "\"apt install $words\": there is no package ${word%_*}" ;;
		redis-server | stunnel4) ;;
		*) fail "\"apt install $words\": $word is neither a package of ours nor known here" ;;
		esac
	done
	# apt takes from files only what it is given: what of ours is needed is named, too
	for word in $(grep -o 'fmd[a-z-]*_' <<<"$words" | tr -d _); do
		for needed in $(sed -n "/^Package: $word$/,/^$/s/^Depends: //p" "$top/debian/control" | grep -o 'fmd[a-z-]*'); do
			[[ $words == *"./${needed}_"* ]] || fail "\"apt install $words\": $word needs $needed"
		done
	done
done < <(sed -n 's/^ *apt install \(\.\/fmd[^#]*\)#.*/\1/p' "$top/doc/running.md" "$top/doc/distribution.md")
[ $n -ge 6 ] || fail "documents have $n commands that install packages"
for package in "${packages[@]}"; do
	grep -q "apt install.* \./${package}_" "$top/doc/running.md" "$top/doc/distribution.md" || fail "no machine is told to install $package"
	grep -q "^| \`$package\` |" "$top/doc/running.md" || fail "doc/running.md does not say what $package is for"
done
# What they copy lies where they say, once installed.
for f in $(grep -o '/usr/share/doc/fmd-[a-z]*/examples/[a-z*._-]*' "$top/doc/distribution.md" "$top/doc/standby.md" | sed 's/.*://' | sort -u); do
	name=$(basename "$f") package=${f#/usr/share/doc/} && package=${package%%/*}
	grep -q "/examples/${name%%\**}.* /*usr/share/doc/$package/examples$" "$top/debian/$package.install" || fail "$f is not in $package"
done
echo "ok: $n commands"

# ---- versions; what a build needs is in the list that developers install from
version=$(./fmd --version | sed -n 's/^fmd \([0-9.]*\),.*/\1/p')
grep -q "^fmd ($version) " <(head -n 1 "$top/debian/changelog") || fail "fmd is $version: $(head -n 1 "$top/debian/changelog")"
grep -q "^## $version" "$top/ChangeLog" || fail "ChangeLog has no heading $version"
for needed in $(sed -n '/^Build-Depends:/,/^[A-Z][a-z-]*-V/s/^ \([a-z0-9-]*\).*/\1/p' "$top/debian/control"); do
	case $needed in debhelper-compat | dh-sequence-*) needed=debhelper ;; esac
	grep -q "^[a-z]* $needed$" "$top/dev/packages" || fail "debian/control needs $needed, dev/packages does not know it"
done
echo "ok: versions"
