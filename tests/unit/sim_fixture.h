/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/sim_fixture.h - a small simulated fabric and the hands of an SM.
 *
 *	H1[1]--[1]S1[2]--[1]S2[2]--[1]H2      S1[4]--[4]S2 in parallel, slower
 *	H1[2]--[3]S2  S1[3]--[1]H3            S2[5]--[6]S2 a loopback cable
 *
 * hops are egress ports: "" is H1 itself, "\1\2" leaves H1 by port 1 and S1 by
 * port 2.  One fabric at a time.
 */
#ifndef TESTS_UNIT_SIM_FIXTURE_H
#define TESTS_UNIT_SIM_FIXTURE_H

#include <check.h>
#include <string.h>

#include "lab/sim/sim.h"

enum { S1, S2, H1, H2, H3, N_NODES };
#define SWITCH_PORTS 8
#define MS INT64_C(1000000)
#define SIM_ARRIVED_MAX 64

extern struct sim *sim;
extern struct transport *local; /* H1 port 1 */
extern struct fm_error err;
extern struct mad arrived[SIM_ARRIVED_MAX]; /* newest last */
extern unsigned n_arrived;
extern uint64_t key;	  /* M_Key of our requests */
extern uint64_t next_tid; /* of our next request */

void on_mad(void *arg, const struct mad *m);
void build(struct netlist *nl);
void start(const struct sim_options *o);
void setup(void);
void setup_strict(void);
void teardown(void);
struct mad request(
    uint8_t mgmt_class, uint8_t method, uint16_t attr, uint32_t modifier, const uint8_t *data);
void direct(struct mad *m, const char *hops);
const struct mad *ask(const struct mad *m);
const struct mad *smp(
    const char *hops, uint8_t method, uint16_t attr, uint32_t modifier, const uint8_t *data);
uint16_t status_of(const struct mad *m);
const uint8_t *get(const char *hops, uint16_t attr, uint32_t modifier);
uint16_t set(const char *hops, uint16_t attr, uint32_t modifier, const uint8_t *data);
struct wire_port_info get_port(const char *hops, uint32_t port);
uint16_t set_port(const char *hops, uint32_t port, const struct wire_port_info *pi);
struct wire_port_info edit_port(const char *hops, uint32_t port);
uint16_t set_state(const char *hops, uint32_t port, uint8_t state, uint8_t phys);
void give_lid(const char *hops, uint32_t port, uint16_t lid);
void set_lft(const char *hops, const uint8_t *block0);
void configure(void);
/* Both ends of the links from H1 to H2 armed, then one end made active. */
void activate(void);
bool has_changed(const char *hops);
void clear_change(const char *hops);
void wait_ms(int64_t ms);

#endif
