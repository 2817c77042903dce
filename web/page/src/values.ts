// SPDX-License-Identifier: BSD-2-Clause
// A byte for each port of what is shown, and its mark: what colours.ts and paint.ts draw.
//
// The cell of a switch's port to a host stands for both ends, as the host has no cell: the worse of
// the two.  Cost: O(ports), 2 ms at 11,664 hosts.

import { DEGRADED, flagsOf, HOST, ISOLATED, LOST, rowOf, STATE, TROUBLE, type Fabric } from "./fabric";
import { loadOf, type Readings } from "./cells";
import type { Show } from "./address";
import { HEALTH } from "./colours";

export const ACTIVE = 4;
/* Later ones go before earlier ones. */
export const MARK = { none: 0, watch: 1, trouble: 2, isolated: 3, bad: 4, lost: 5 };
export const markNames = ["", "watch", "trouble", "isolated", "bad", "lost"] as const;

export interface CableHealth {
	health: string;
	guid: string;
	port: number;
	peer_guid: string;
	peer_port: number;
	node: string;
	peer: string;
	since: string | null;
	reason: string;
	suspect: unknown;
	advice: string | null;
}

function toHost(f: Fabric, row: number): boolean {
	return f.peer[row] >= 0 && f.types[f.nodeOf[f.peer[row]]] === HOST;
}

function worseEnds(f: Fabric, bytes: Uint8Array): Uint8Array {
	const out = Uint8Array.from(bytes);

	for (let row = 0; row < f.rows; row++)
		if (toHost(f, row))
			out[row] = Math.max(bytes[row], bytes[f.peer[row]]);
	return out;
}

function planned(f: Fabric): Uint8Array {
	const out = new Uint8Array(f.rows);
	let most = 0;

	for (let row = 0; row < f.rows; row++)
		most = Math.max(most, f.planned[row]);
	for (let row = 0; row < f.rows; row++)
		if (f.knowsLoads && betweenSwitches(f, row))
			out[row] = 1 + Math.round(254 * f.planned[row] / Math.max(1, most));
	return out;
}

export function mostPlanned(f: Fabric): number {
	return f.planned.reduce((most, n) => Math.max(most, n), 0);
}

function betweenSwitches(f: Fabric, row: number): boolean {
	return f.peer[row] >= 0 && f.types[f.nodeOf[row]] !== HOST && !toHost(f, row) && !(flagsOf(f, row) & LOST);
}

/* How much more of its cable a port uses than its share of the planned routes would have it, of all
 * that is sent between switches: -1 to 1.  NaN: not known. */
export function differences(f: Fabric, r: Readings): Float32Array {
	const out = new Float32Array(f.rows).fill(NaN);
	let routes = 0, sent = 0;
	const speed = (row: number): number => f.rates[f.rate[f.cable[row]]]?.[2] || 1;

	for (let row = 0; row < f.rows; row++) {
		if (!betweenSwitches(f, row) || r.load[row] === 0)
			continue;
		routes += f.planned[row];
		sent += loadOf(r.load[row]) * speed(row);
	}
	for (let row = 0; routes > 0 && row < f.rows; row++)
		if (betweenSwitches(f, row) && r.load[row] !== 0)
			out[row] = loadOf(r.load[row]) - sent * f.planned[row] / routes / speed(row);
	return out;
}

export const DIFFERENCE_MOST = 0.5;

function difference(f: Fabric, r: Readings): Uint8Array {
	return Uint8Array.from(differences(f, r), d =>
		Number.isNaN(d) ? 0 : 128 + Math.round(127 * Math.min(1, Math.max(-1, d / DIFFERENCE_MOST))));
}

function health(f: Fabric, marks: Uint8Array): Uint8Array {
	const by = [HEALTH.ok, HEALTH.watch, HEALTH.trouble, HEALTH.isolated, HEALTH.bad, HEALTH.bad];

	return marks.map((mark, row) => f.cable[row] < 0 ? HEALTH.unknown : by[mark]);
}

export function valuesOf(show: Show, f: Fabric, r: Readings, marks: Uint8Array): Uint8Array {
	switch (show) {
	case "load":
	case "wait":
	case "errors":
		return worseEnds(f, r[show]);
	case "planned":
		return planned(f);
	case "difference":
		return difference(f, r);
	case "health":
		return health(f, marks);
	}
}

function markOf(flags: number): number {
	if (flags & LOST)
		return MARK.lost;
	if (flags & ISOLATED)
		return MARK.isolated;
	if (flags & TROUBLE || (flags & STATE) !== ACTIVE)
		return MARK.trouble;
	return flags & DEGRADED ? MARK.watch : MARK.none;
}

const byHealth: Record<string, number> = { bad: MARK.bad, watch: MARK.watch, quarantined: MARK.isolated };

export function marksOf(f: Fabric, cables: CableHealth[]): Uint8Array {
	const marks = new Uint8Array(f.rows);

	for (let row = 0; row < f.rows; row++)
		if (f.cable[row] >= 0)
			marks[row] = markOf(f.flags[f.cable[row]]);
	for (const c of cables)
		for (const [guid, port] of [[c.guid, c.port], [c.peer_guid, c.peer_port]] as const) {
			const row = rowOf(f, f.byGuid.get(guid) ?? -1, port);
			if (row >= 0)
				marks[row] = Math.max(marks[row], byHealth[c.health] ?? 0);
		}
	return marks;
}
