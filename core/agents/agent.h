/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/agents/agent.h - one agent: what it is asked, and what follows from its answers.
 *
 *	ClassPortInfo			shows that it is one
 *	CongestionKeyInfo		where we have a CC_Key; Set, if keys are written
 *	CongestionInfo			of a CA
 *	SwitchCongestionSetting		or CACongestionSetting; Set where it differs
 *	CongestionControlTable		of a CA, block by block; likewise
 *	SwitchPortCongestionSetting	of a switch, block by block; Set where a port has one of its
 *					own, which would go before that of the switch
 *
 *	CongestionLog			of a switch that holds all, when that alone is due
 *
 * The first and the third are left out where it has told both since it came.  One MAD at a time;
 * one that is not answered is followed by CongestionKeyInfo, which tells a CC_Key that is not ours
 * from silence.
 */
#ifndef CORE_AGENTS_AGENT_H
#define CORE_AGENTS_AGENT_H

#include "core/agents/agents.h"
#include "core/ask/sweeper.h"

enum agent_step {
	STEP_CLASS,
	STEP_INFO,
	STEP_KEY,
	STEP_SETTING,
	STEP_TABLE,
	STEP_PORTS,
	STEP_LOG,
	STEP_WHY
};

struct agent {
	struct agents *all;
	uint32_t slot, generation, epoch;
	uint8_t port;
	uint8_t state;	      /* enum agent_state: as it has answered in `epoch` */
	uint8_t step;	      /* enum agent_step */
	uint8_t block;	      /* of the table, or of ports */
	uint8_t table_blocks; /* that it can hold */
	bool is_known;	      /* that is as it has told since it came, and it held all then */
	bool busy;	      /* it is being read */
	bool sets;	      /* the step is to be a Set */
	uint8_t n_failed;     /* times in a row that it did not end by holding all */
	struct wire_cc_key_info key; /* that is to be set */
	uint64_t shown;		     /* the CC_Key that opens it */
	int64_t due_ms;		     /* to be read again; INT64_MAX: for a reason only */
	struct agent_log *log;	     /* NULL: none has been read */
	int64_t log_asked_ms;	     /* 0: never */
};

struct agents {
	struct sweeper *s;
	struct conf_congestion set; /* a copy: the sweeper's may be gone while MADs are out */
	uint64_t key_before;	    /* that the settings before have given nodes; 0: none */
	uint32_t epoch;		    /* of the settings, and of our rule */
	FM_VEC(struct agent *)
	of_slot;		      /* [n_ports] of a CA, [1] of a switch; made when first read */
	FM_VEC(struct agent *) ready; /* to be asked on */
	uint32_t under_way;
	uint64_t n_gets, n_sets; /* sent */
	/* the pass over all ports */
	bool passing;
	uint32_t at, at_port;
	uint64_t sweep;		  /* number of the sweep after which it began */
	int64_t again_ms;	  /* some are to be read again then */
	uint64_t n_taken, n_told; /* Sets that were answered, and of them by the last line */
	struct agents_event {
		bool begun;
		uint64_t n; /* its number; 0: nobody keeps events */
	} foreign, unset;
};

/* It is read from the beginning. */
void agent_begin(struct agent *a);
/* When it is to be read again for what time brings; INT64_MAX: never. */
int64_t agent_due_ms(const struct agent *a);
/* Its next MAD; it is busy. */
void agent_ask(struct agent *a);

#endif
