/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/wire/ip_service.h - an IP address of a port as a ServiceRecord, IBA 15.2.5.14.
 *
 *	ServiceID	IP_SERVICE_ID | a number of 32 bits that no other address of the port has;
 *			0x02 at its beginning: the host's to assign, IBA annex A3
 *	ServiceGID	the GID of the interface: of the port that registers, or an alias of it
 *	ServiceP_Key	of the interface
 *	ServiceLease	seconds; who registers does so again at a half of it
 *	ServiceName	"fmd:ip:" and the address as text, for who looks at it; not evaluated
 *	ServiceData8	the address; of IPv4 as ::ffff:a.b.c.d
 *	ServiceData16	[0]: IP_SERVICE_FORMAT
 *	ServiceData32	[0]: the first four bytes of the hardware address, RFC 4391 9.1.1: flags
 *			(8 bits), QPN (24 bits)
 *
 * All else is 0, and not looked at.  O(1).
 */
#ifndef CORE_WIRE_IP_SERVICE_H
#define CORE_WIRE_IP_SERVICE_H

#include "core/wire/sa_wire.h"

#define IP_SERVICE_ID UINT64_C(0x02666d6400000000)
#define IP_SERVICE_FORMAT 1
/* What of the record is said: the component mask of a Set. */
#define IP_SERVICE_MASK \
	(SA_SR_ID | SA_SR_GID | SA_SR_PKEY | SA_SR_LEASE | SA_SR_NAME | UINT64_C(0xffff) << 7 | \
	    UINT64_C(1) << 23 | UINT64_C(1) << 31)
#define IP_HARDWARE_BYTES 20
#define IP_TEXT 46 /* bytes of an address as text, its NUL as well */

struct ip_service {
	uint8_t ip[16]; /* IPv4 as ::ffff:a.b.c.d */
	struct sa_gid gid;
	uint32_t hardware; /* flags << 24 | QPN */
	uint16_t pkey;
};

/* Is it the ServiceID of an address? */
bool ip_service_is(uint64_t service_id);
/* number: the low 32 bits of the ServiceID. */
void ip_service_put(
    const struct ip_service *s, uint32_t number, uint32_t lease_s, struct sa_service_record *rec);
/* NULL, or why the record tells no address: words that go on "10.0.0.1 ..." */
const char *ip_service_get(const struct sa_service_record *rec, struct ip_service *s);
/* The hardware address of an interface of IPoIB: flags, QPN, GID.  bytes[IP_HARDWARE_BYTES] */
void ip_hardware_put(uint8_t *bytes, uint32_t hardware, struct sa_gid gid);
void ip_hardware_get(const uint8_t *bytes, struct ip_service *s);
/* Why it is no address of one host, in words that go on "10.0.0.1 ..."; NULL: it is one. */
const char *ip_why_not(const uint8_t ip[16]);
/* An address as people write it; returns text. */
const char *ip_text(const uint8_t ip[16], char text[IP_TEXT]);

#endif
