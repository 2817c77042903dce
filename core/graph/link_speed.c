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
	const char *signal;
} speeds[] = {
	{ "SDR", 2000, "2.5" },
	{ "DDR", 4000, "5" },
	{ "QDR", 8000, "10" },
	{ "FDR10", 10000, "FDR10" },
	{ "FDR", 13640, "14" },
	{ "EDR", 25000, "25" },
	{ "HDR", 50000, "50" },
	{ "NDR", 100000, "100" },
	{ "XDR", 200000, "200" },
	/* only read, never written: they stand behind their equals */
	{ "2.5", 2000, NULL },
	{ "5.0", 4000, NULL },
	{ "10.0", 8000, NULL },
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

/* The row of the nearest known below. */
static size_t
row_of(uint32_t lane_mbps)
{
	size_t best = 0;

	for (size_t i = 0; i < N_WORDS; i++)
		if (speeds[i].lane_mbps <= lane_mbps)
			best = i;
	return best;
}

const char *
link_speed_word(uint32_t lane_mbps)
{
	return speeds[row_of(lane_mbps)].word;
}

const char *
link_speed_signal(uint32_t lane_mbps)
{
	return speeds[row_of(lane_mbps)].signal;
}

uint8_t
link_speed_lanes(uint32_t mbps)
{
	static const uint8_t lanes[] = { 4, 1, 2, 8, 12 };

	for (size_t k = 0; k < sizeof(lanes); k++)
		for (size_t i = 0; i < N_WORDS; i++)
			if (speeds[i].lane_mbps * lanes[k] == mbps)
				return lanes[k];
	return 0;
}

uint32_t
link_speed_of_signal(const char *word, size_t len)
{
	for (size_t i = 0; i < N_WORDS; i++)
		if (strlen(speeds[i].signal) == len && memcmp(speeds[i].signal, word, len) == 0)
			return speeds[i].lane_mbps;
	return 0;
}
