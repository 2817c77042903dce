/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/wire/sm_proof.h - an SM shows that it has the SM_Key without telling it.
 *
 * IBA shows SM_Key as 0 "unless the requester is authenticated" (14.2.5.13), and says not how.
 * Between two fmd it is shown by a sum.  Behind SMInfo, in what IBA leaves reserved of the
 * attribute's 64 bytes, a Get holds a mark and a number drawn at random, the answer the mark, the
 * same number, and SipHash-2-4 of the number and of the SMInfo that it shows (SM_Key as 0), keyed
 * with the SM_Key.  GUID, priority and state are under the sum, so that it cannot be passed on by
 * another port; the number is new each time, so that it cannot be kept.  Other SMs send zeros
 * there and do not look.
 *
 *	byte  0  SMInfo (21 bytes)
 *	     32  the mark, "fmd proo"
 *	     40  the number
 *	     48  the sum (answers)
 */
#ifndef CORE_WIRE_SM_PROOF_H
#define CORE_WIRE_SM_PROOF_H

#include <stdbool.h>
#include <stdint.h>

/* data: the 64 bytes of an SMInfo, in wire order. */

/* Does who asks want a sum for an answer, and no more? */
bool proof_is_asked(const uint8_t *data);
/* Into a Get: the number. */
void proof_ask(uint8_t *data, uint64_t number);
/* Into an answer that is whole but for this: the sum for the number in `asked`, if there is one.
 * With a key of 0 there is nothing to prove. */
void proof_give(uint8_t *data, const uint8_t *asked, uint64_t sm_key);
/* Does the answer to a Get with `asked` show that who made it has the key? */
bool proof_holds(const uint8_t *data, const uint8_t *asked, uint64_t sm_key);

/* SipHash-2-4 (Aumasson, Bernstein, INDOCRYPT 2012) of n bytes under the key (k0, k1). */
uint64_t siphash(const uint8_t *at, unsigned n, uint64_t k0, uint64_t k1);

#endif
