/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/untrusted.h - what who shows no key may ask the SA for.
 */
#ifndef CORE_SUBNET_UNTRUSTED_H
#define CORE_SUBNET_UNTRUSTED_H

enum sa_untrusted { SA_UNTRUSTED_ALLOW, SA_UNTRUSTED_RESTRICT };

#endif
