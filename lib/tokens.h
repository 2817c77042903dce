/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/tokens.h - a token bucket: `burst` at once, then one per `every_ms`.
 */
#ifndef FM_LIB_TOKENS_H
#define FM_LIB_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

struct fm_tokens { /* zeroed: full */
	int64_t last_ms;
	uint32_t left;
	bool started;
};

/* One of them; false: there is none now. */
static inline bool
fm_tokens_take(struct fm_tokens *t, uint32_t burst, uint32_t every_ms, int64_t now_ms)
{
	int64_t every = every_ms > 0 ? every_ms : 1, gained;

	if (!t->started)
		*t = (struct fm_tokens){ .started = true, .left = burst, .last_ms = now_ms };
	gained = (now_ms - t->last_ms) / every;
	if (gained > 0) {
		t->left = gained >= burst - t->left ? burst : t->left + (uint32_t)gained;
		t->last_ms += gained * every;
	}
	if (t->left == 0)
		return false;
	t->left--;
	return true;
}

#endif
