/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as what a relay sends to an agent: the file that is made of it is refused, or every
 * question to it gets an answer of the right form.
 *
 * The input is a row of steps: what (a kind of blob, a patch of a row, a blob that is gone), its
 * number (2 bytes), bytes (2 bytes), and these.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/agent/replica.h"
#include "tests/fuzz/fuzz.h"

#define STEP_BYTES 5
#define OWN_GUID UINT64_C(0x11)
#define LIDS 40

static char path[64];

static void
leave(void)
{
	unlink(path);
}

static void
begin(void)
{
	if (path[0] != '\0')
		return;
	snprintf(path, sizeof(path), "%s/fmd-fuzz-relay-%d",
	    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid());
	must(atexit(leave) == 0);
}

/* A step; false: the input has ended. */
static bool
step(struct replica *r, const uint8_t **data, size_t *size)
{
	uint16_t number, n;
	uint8_t what;

	if (*size < STEP_BYTES)
		return false;
	what = (*data)[0] % (BLOB_KINDS + 2);
	number = blob_get16(*data + 1);
	n = blob_get16(*data + 3);
	*data += STEP_BYTES;
	*size -= STEP_BYTES;
	if (n > *size)
		n = (uint16_t)*size;
	if (what < BLOB_KINDS)
		replica_put(r, (enum blob_kind)what, number, *data, n);
	else if (what == BLOB_KINDS)
		replica_patch(r, number & 7, number >> 3, *data, n);
	else
		replica_put(r, (enum blob_kind)(number % BLOB_KINDS), number >> 4, NULL, 0);
	*data += n;
	*size -= n;
	must(replica_find_rows(r));
	return true;
}

static void
ask(const struct paths *p)
{
	struct sa_path_record record;
	uint16_t lid[2];

	paths_lids_of_name(p, "a", lid, 2);
	paths_lid_of_guid(p, OWN_GUID);
	for (uint16_t s = 0; s < LIDS; s++)
		for (uint16_t d = 0; d < LIDS; d++) {
			struct paths_query q = { s, d, 0 };

			if (paths_record(p, &q, &record))
				must(record.slid == s && record.dlid == d && record.pkey != 0);
		}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct replica r = { .own = { OWN_GUID }, .n_own = 1 };
	struct fm_error err = { 0 };
	struct paths *p = NULL;

	begin();
	fuzz_be_quiet();
	while (step(&r, &data, &size))
		continue;
	must(replica_n_blocks(&r) <= REPLICA_BLOCKS);
	must(replica_hops(&r, "a") <= UINT8_MAX && replica_hops(&r, "5") <= UINT8_MAX);
	if (replica_write(&r, path, &err) != 0 || paths_read(path, &p, &err) != 0)
		must(err.msg[0] != '\0');
	else
		ask(p);
	paths_free(p);
	replica_fini(&r);
	return 0;
}
