/* SPDX-License-Identifier: BSD-2-Clause */
/* core/wire/ip_service.c - IP addresses of ports as ServiceRecords, and back. */
#include "core/wire/ip_service.h"

#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>

#define ID_BITS UINT64_C(0xffffffff00000000)
#define QPN_BITS 0xffffff
#define LAST_SPECIAL_QPN 1 /* of management */

static const uint8_t v4[12] = { [10] = 0xff, [11] = 0xff };

bool
ip_service_is(uint64_t service_id)
{
	return (service_id & ID_BITS) == IP_SERVICE_ID;
}

const char *
ip_text(const uint8_t ip[16], char text[IP_TEXT])
{
	bool is_v4 = memcmp(ip, v4, sizeof(v4)) == 0;

	inet_ntop(is_v4 ? AF_INET : AF_INET6, is_v4 ? ip + sizeof(v4) : ip, text, IP_TEXT);
	return text;
}

static const char *
why_not_v4(const uint8_t *ip)
{
	if (ip[0] == 0)
		return "is of the network 0.0.0.0/8, which no host has";
	if (ip[0] == 127)
		return "is a loopback address";
	return ip[0] >= 224 ? "is no unicast address" : NULL;
}

const char *
ip_why_not(const uint8_t ip[16])
{
	static const uint8_t zero[15];

	if (memcmp(ip, v4, sizeof(v4)) == 0)
		return why_not_v4(ip + sizeof(v4));
	if (memcmp(ip, zero, sizeof(zero)) == 0 && ip[15] <= 1)
		return ip[15] == 0 ? "is the unspecified address" : "is a loopback address";
	if (ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80)
		return "is a link-local address";
	return ip[0] == 0xff ? "is no unicast address" : NULL;
}

void
ip_hardware_put(uint8_t *bytes, uint32_t hardware, struct sa_gid gid)
{
	hardware = htobe32(hardware);
	memcpy(bytes, &hardware, sizeof(hardware));
	sa_gid_put(bytes + sizeof(hardware), gid);
}

void
ip_hardware_get(const uint8_t *bytes, struct ip_service *s)
{
	memcpy(&s->hardware, bytes, sizeof(s->hardware));
	s->hardware = be32toh(s->hardware);
	s->gid = sa_gid_get(bytes + sizeof(s->hardware));
}

void
ip_service_put(
    const struct ip_service *s, uint32_t number, uint32_t lease_s, struct sa_service_record *rec)
{
	char text[IP_TEXT];

	*rec = (struct sa_service_record){ .id = IP_SERVICE_ID | number,
		.gid = s->gid,
		.pkey = s->pkey,
		.lease_s = lease_s,
		.data16 = { IP_SERVICE_FORMAT },
		.data32 = { s->hardware } };
	snprintf((char *)rec->name, sizeof(rec->name), "fmd:ip:%s", ip_text(s->ip, text));
	memcpy(rec->data8, s->ip, sizeof(rec->data8));
}

const char *
ip_service_get(const struct sa_service_record *rec, struct ip_service *s)
{
	*s = (struct ip_service){ .gid = rec->gid, .hardware = rec->data32[0], .pkey = rec->pkey };
	memcpy(s->ip, rec->data8, sizeof(s->ip));
	if (!ip_service_is(rec->id))
		return "has a ServiceID that is none of an address";
	if (rec->data16[0] != IP_SERVICE_FORMAT)
		return "is registered in a format that this fmd does not know";
	if ((rec->data32[0] & QPN_BITS) <= LAST_SPECIAL_QPN)
		return "is registered with a QPN that no interface has";
	return ip_why_not(s->ip);
}
