/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/printable.h - text from the wire, for logs, status and dumps.
 *
 * A node may call itself anything: sequences that a terminal obeys, letters that turn those
 * behind them around, bytes that are no UTF-8, which JSON does not take.
 */
#ifndef FM_LIB_PRINTABLE_H
#define FM_LIB_PRINTABLE_H

/* In place; it becomes no longer.  Then it is UTF-8, by the shortest forms, of signs that are
 * seen: control characters of ASCII become blanks, and one ? each byte that is no UTF-8, C1 control
 * (0x80-0x9f), line or paragraph separator, direction mark, and sign of no width. */
void fm_printable(char *text);

#endif
