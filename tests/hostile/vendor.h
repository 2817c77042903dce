/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/hostile/vendor.h - what the programmer of vendor.c can be told to do, and where. */
#ifndef TESTS_HOSTILE_VENDOR_H
#define TESTS_HOSTILE_VENDOR_H

#include <fmd/vendor.h>

#define AT_DEED 60
#define AT_WHERE 61

enum where { IN_READ_INFO, IN_TURN, IN_N_BLOCKS, IN_BLOCK };
enum vendor_deed {
	VENDOR_NOTHING,
	VENDOR_CRASH,
	VENDOR_ABORT,
	VENDOR_EXIT,
	VENDOR_SPIN,
	VENDOR_SOCKET,
	VENDOR_FORK,
	VENDOR_KILL,
	VENDOR_OPEN,
	VENDOR_INPUT, /* writes over what it is handed */
	VENDOR_JUNK,  /* says something else before it replies */
	VENDOR_HANGUP,
	VENDOR_BABBLE,
	VENDOR_TWICE,	   /* replies to the first question twice */
	VENDOR_AFTERWARDS, /* the next question's blocks change when it has replied */
	VENDOR_RANGE,
	VENDOR_REFUSE,
	VENDOR_NONE,
	VENDOR_IBA, /* a block of an attribute that IBA defines */
	VENDOR_NO_BLOCK
};

#endif
