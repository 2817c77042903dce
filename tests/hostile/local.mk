# SPDX-License-Identifier: BSD-2-Clause
# tests/hostile/: engines that mean no good, apart from tests/modules: who loads that folder into
# his own process gets none of them.
check_LTLIBRARIES += tests/hostile/hostile.la
tests_hostile_hostile_la_SOURCES = tests/hostile/hostile.c tests/modules/bad.h
tests_hostile_hostile_la_LDFLAGS = $(module_ldflags)
check_LTLIBRARIES += tests/hostile/load_abort.la tests/hostile/load_exit.la tests/hostile/load_spin.la \
	tests/hostile/load_socket.la tests/hostile/load_write.la tests/hostile/load_look.la \
	tests/hostile/load_vm.la tests/hostile/load_trace.la tests/hostile/load_int80.la tests/hostile/load_x32.la
tests_hostile_load_abort_la_SOURCES = tests/hostile/hostile_load.c
tests_hostile_load_abort_la_CPPFLAGS = $(AM_CPPFLAGS) -DNAME=load_abort -DLOADED='abort()'
tests_hostile_load_abort_la_LDFLAGS = $(module_ldflags)
tests_hostile_load_exit_la_SOURCES = tests/hostile/hostile_load.c
tests_hostile_load_exit_la_CPPFLAGS = $(AM_CPPFLAGS) -DNAME=load_exit -DLOADED='exit(0)'
tests_hostile_load_exit_la_LDFLAGS = $(module_ldflags)
tests_hostile_load_spin_la_SOURCES = tests/hostile/hostile_load.c
tests_hostile_load_spin_la_CPPFLAGS = $(AM_CPPFLAGS) -DNAME=load_spin -DLOADED='for (;;) continue'
tests_hostile_load_spin_la_LDFLAGS = $(module_ldflags)
tests_hostile_load_socket_la_SOURCES = tests/hostile/hostile_load.c
tests_hostile_load_socket_la_CPPFLAGS = $(AM_CPPFLAGS) -DNAME=load_socket -DLOADED='socket(AF_UNIX, SOCK_STREAM, 0)'
tests_hostile_load_socket_la_LDFLAGS = $(module_ldflags)
# It is loaded: a file that cannot be opened for writing is an error to it, and it goes on.
tests_hostile_load_write_la_SOURCES = tests/hostile/hostile_load.c
tests_hostile_load_write_la_CPPFLAGS = $(AM_CPPFLAGS) -DNAME=load_write \
	-DLOADED='if (open("/tmp/fmd-engine-was-here", O_WRONLY | O_CREAT, 0600) >= 0) abort()'
tests_hostile_load_write_la_LDFLAGS = $(module_ldflags)
# What a constructor may look for: files of the one who runs it, his memory; calls of other
# architectures.
tests_hostile_load_look_la_SOURCES = tests/hostile/hostile_look.c
tests_hostile_load_look_la_LDFLAGS = $(module_ldflags)
tests_hostile_load_vm_la_SOURCES = tests/hostile/hostile_load.c
tests_hostile_load_vm_la_CPPFLAGS = $(AM_CPPFLAGS) -DNAME=load_vm \
	-DLOADED='syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0)'
tests_hostile_load_vm_la_LDFLAGS = $(module_ldflags)
tests_hostile_load_trace_la_SOURCES = tests/hostile/hostile_load.c
tests_hostile_load_trace_la_CPPFLAGS = $(AM_CPPFLAGS) -DNAME=load_trace \
	-DLOADED='syscall(SYS_ptrace, 16, getppid(), NULL, NULL)'
tests_hostile_load_trace_la_LDFLAGS = $(module_ldflags)
tests_hostile_load_int80_la_SOURCES = tests/hostile/hostile_load.c
tests_hostile_load_int80_la_CPPFLAGS = $(AM_CPPFLAGS) -DNAME=load_int80 -DLOADED='INT80_GETPID'
tests_hostile_load_int80_la_LDFLAGS = $(module_ldflags)
tests_hostile_load_x32_la_SOURCES = tests/hostile/hostile_load.c
tests_hostile_load_x32_la_CPPFLAGS = $(AM_CPPFLAGS) -DNAME=load_x32 -DLOADED='syscall(0x40000000 + 39)'
tests_hostile_load_x32_la_LDFLAGS = $(module_ldflags)
# Programmers of adaptive routing of that kind.
check_LTLIBRARIES += tests/hostile/vendor_hostile.la tests/hostile/vendor_abort.la tests/hostile/vendor_spin.la \
	tests/hostile/vendor_newer.la tests/hostile/vendor_liar.la
tests_hostile_vendor_hostile_la_SOURCES = tests/hostile/vendor.c tests/hostile/vendor.h
tests_hostile_vendor_hostile_la_LDFLAGS = $(module_ldflags)
tests_hostile_vendor_abort_la_SOURCES = tests/hostile/vendor.c
tests_hostile_vendor_abort_la_CPPFLAGS = $(AM_CPPFLAGS) -DNAME=vendor_abort -DLOADED='abort()'
tests_hostile_vendor_abort_la_LDFLAGS = $(module_ldflags)
tests_hostile_vendor_spin_la_SOURCES = tests/hostile/vendor.c
tests_hostile_vendor_spin_la_CPPFLAGS = $(AM_CPPFLAGS) -DNAME=vendor_spin -DLOADED='for (;;) continue'
tests_hostile_vendor_spin_la_LDFLAGS = $(module_ldflags)
tests_hostile_vendor_newer_la_SOURCES = tests/hostile/vendor.c
tests_hostile_vendor_newer_la_CPPFLAGS = $(AM_CPPFLAGS) -DNAME=vendor_newer -DMINOR='FM_VENDOR_MINOR + 1'
tests_hostile_vendor_newer_la_LDFLAGS = $(module_ldflags)
tests_hostile_vendor_liar_la_SOURCES = tests/hostile/vendor.c
tests_hostile_vendor_liar_la_CPPFLAGS = $(AM_CPPFLAGS) -DNAME=vendor_liar -DLOADED='lie()'
tests_hostile_vendor_liar_la_LDFLAGS = $(module_ldflags)
