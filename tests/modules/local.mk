# SPDX-License-Identifier: BSD-2-Clause
# tests/modules/: engines for the tests of the loader, most of them broken.
# -rpath makes libtool build a shared object of what is never installed.
module_ldflags = -module -avoid-version -shared -rpath /nowhere
check_LTLIBRARIES += tests/modules/good.la tests/modules/bad_magic.la tests/modules/bad_major.la \
	tests/modules/bad_minor.la tests/modules/bad_size.la tests/modules/bad_route.la \
	tests/modules/bad_name.la tests/modules/bad_symbol.la tests/modules/bad_library.la \
	tests/modules/bad_option.la tests/modules/bad_alias.la tests/modules/slow.la \
	tests/modules/deaf.la
tests_modules_good_la_SOURCES = tests/modules/good.c tests/modules/bad.h
tests_modules_good_la_LDFLAGS = $(module_ldflags)
tests_modules_bad_magic_la_SOURCES = tests/modules/bad_magic.c
tests_modules_bad_magic_la_LDFLAGS = $(module_ldflags)
tests_modules_bad_major_la_SOURCES = tests/modules/bad_major.c
tests_modules_bad_major_la_LDFLAGS = $(module_ldflags)
tests_modules_bad_minor_la_SOURCES = tests/modules/bad_minor.c
tests_modules_bad_minor_la_LDFLAGS = $(module_ldflags)
tests_modules_bad_size_la_SOURCES = tests/modules/bad_size.c
tests_modules_bad_size_la_LDFLAGS = $(module_ldflags)
tests_modules_bad_route_la_SOURCES = tests/modules/bad_route.c
tests_modules_bad_route_la_LDFLAGS = $(module_ldflags)
tests_modules_bad_name_la_SOURCES = tests/modules/bad_name.c
tests_modules_bad_name_la_LDFLAGS = $(module_ldflags)
tests_modules_bad_symbol_la_SOURCES = tests/modules/bad_symbol.c
tests_modules_bad_symbol_la_LDFLAGS = $(module_ldflags)
tests_modules_bad_library_la_SOURCES = tests/modules/bad_library.c
tests_modules_bad_library_la_LDFLAGS = $(module_ldflags)
tests_modules_bad_option_la_SOURCES = tests/modules/bad_option.c
tests_modules_bad_option_la_LDFLAGS = $(module_ldflags)
tests_modules_bad_alias_la_SOURCES = tests/modules/bad_alias.c
tests_modules_bad_alias_la_LDFLAGS = $(module_ldflags)
tests_modules_slow_la_SOURCES = tests/modules/slow.c tests/modules/bad.h
tests_modules_slow_la_LDFLAGS = $(module_ldflags)
tests_modules_deaf_la_SOURCES = tests/modules/deaf.c tests/modules/bad.h
tests_modules_deaf_la_LDFLAGS = $(module_ldflags)
