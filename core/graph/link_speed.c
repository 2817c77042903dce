/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data rates are signalling rates less line coding: 8b/10b up to QDR, 64b/66b
 * from FDR10 on (IBA volume 2, 5.7); HDR and above by their names.
 */
#include "core/graph/link_speed.h"

#include <string.h>

static const struct {
	const char *word;
	uint32_t lane_mbps;
} speeds[] = {
	{ "SDR", 2000 },
	{ "DDR", 4000 },
	{ "QDR", 8000 },
	{ "FDR10", 10000 },
	{ "FDR", 13640 },
	{ "EDR", 25000 },
	{ "HDR", 50000 },
	{ "NDR", 100000 },
	{ "XDR", 200000 },
	/* only read, never written: they stand behind their equals */
	{ "2.5", 2000 },
	{ "5.0", 4000 },
	{ "10.0", 8000 },
};
#define N_SPEEDS (sizeof(speeds) / sizeof(speeds[0]))
#define N_WORDS 9

uint32_t
link_speed_mbps(const char *word, size_t len)
{
	for (size_t i = 0; i < N_SPEEDS; i++)
		if (strlen(speeds[i].word) == len && memcmp(speeds[i].word, word, len) == 0)
			return speeds[i].lane_mbps;
	return 0;
}

const char *
link_speed_word(uint32_t lane_mbps)
{
	const char *best = speeds[0].word;

	for (size_t i = 0; i < N_WORDS; i++)
		if (speeds[i].lane_mbps <= lane_mbps)
			best = speeds[i].word;
	return best;
}
