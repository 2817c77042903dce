/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/cdg/sl_model.h - under which SLs packets of a pair are reckoned with.
 */
#ifndef CORE_CDG_SL_MODEL_H
#define CORE_CDG_SL_MODEL_H

enum verify_sl_model {
	VERIFY_BOTH,   /* (s,d) is used under SL(s,d) and, by replies, SL(d,s) */
	VERIFY_FORWARD /* only SL(s,d) */
};

#endif
