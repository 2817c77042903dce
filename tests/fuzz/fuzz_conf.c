/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as fmd.conf: a configuration, or an error that names the file; its
 * regions on a small fabric: found, or an error.  Run beside the engines of the build (in
 * the build directory), it covers their sections too.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/conf/conf.h"
#include "tests/fuzz/engines.h"
#include "tests/fuzz/fabric.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct conf_source source = { 0 };
	struct fm_error err = { 0 };
	struct conf *conf = NULL;
	char path[64];
	int fd = memfd_create("fmd.conf", 0), rc;

	fuzz_be_quiet();
	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	source.path = path;
	rc = conf_load(&source, fuzz_engines(), &conf, &err);
	must((rc == 0) == (conf != NULL));
	must(rc == 0 || err.msg[0] != '\0');
	if (rc == 0)
		must((rc = regions_check(
			  &conf->regions.set, fuzz_fabric("pgft 2 2,3 1,2 1,1"), &err)) == 0 ||
		    (rc == FM_E_CONFIG && err.msg[0] != '\0'));
	conf_put(conf);
	close(fd);
	return 0;
}
