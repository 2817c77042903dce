// SPDX-License-Identifier: BSD-2-Clause
// The answer to "fabric" as typed arrays: nodes, and a row for each port of each node.
//
// What was lost and has not come back (lost.ts) is in it, too, with the flag LOST, so that all who
// draw or list find it where it was.  Cost: O(ports), 40 ms at 11,664 hosts, most of it JSON.parse.

import type { End, LostCable } from "./lost";

export const HOST = 1;

/* Of a cable, beside the state of its worse end in bits 0 to 2 (4: active). */
export const STATE = 7, DEGRADED = 8, ISOLATED = 16, TROUBLE = 32, LOST = 64;

export interface Answer {
	generation: string;
	master: boolean;
	loads: boolean;
	grouped_by: string;
	groups: string[];
	names: string[];
	guids: string[];
	types: number[];
	lids: (number | number[])[];
	ports: number[];
	levels: number[];
	group: number[];
	rates: [string, string, number][];
	cables: number[][];
}

export interface Fabric {
	generation: string;
	isMaster: boolean;
	knowsLoads: boolean;
	groupedBy: string;
	groups: string[];
	/* by node; those from nPresent on are lost */
	n: number;
	nPresent: number;
	names: string[];
	guids: string[];
	lids: (number | number[])[];
	types: Uint8Array;
	ports: Uint16Array;
	levels: Int16Array; /* 0 hosts, 1 switches with hosts, -1 not known */
	group: Int32Array; /* -1: none */
	first: Uint32Array; /* [n + 1] the row of its port 1 */
	byGuid: Map<string, number>;
	/* by row, which is a port */
	rows: number;
	nodeOf: Uint32Array;
	peer: Int32Array; /* row of the other end; -1: there is none, or it is not known */
	cable: Int32Array; /* -1: none */
	planned: Float64Array; /* routes that leave by the port */
	/* by cable */
	flags: Uint8Array;
	rate: Uint8Array; /* in rates */
	best: Uint8Array;
	rates: [string, string, number][];
	lostSince: Map<number, string>; /* by cable */
}

const lists = ["names", "guids", "types", "lids", "ports", "levels", "group"] as const;

/* A sentence where it is no fabric; else null. */
export function whatIsWrong(a: Answer): string | null {
	for (const key of lists)
		if (!Array.isArray(a[key]) || a[key].length !== a.names.length)
			return `The answer of fmd makes no sense: its list ${key} is not as long as its names.`;
	if (!Array.isArray(a.cables) || !Array.isArray(a.rates) || !Array.isArray(a.groups))
		return "The answer of fmd makes no sense: it has no list of cables.";
	return null;
}

interface Ghost {
	end: End;
	ports: number;
	neighbours: Set<number>; /* that are there */
	sister: number; /* the switch whose level and group it has; -1: none */
}

/* How much alike two names are: the same length tells leaf-1-10 from leaf-1-1. */
function likeness(a: string, b: string): number {
	let same = 0;

	while (same < b.length && a[same] === b[same])
		same++;
	return (same * 2 + (a.length === b.length ? 1 : 0)) / (2 * Math.max(a.length, b.length) + 1);
}

/* A switch that is gone stands in the group of its name where groups go by names (up to the last number),
 * else with the one that has most neighbours in common with it; of several with the one whose name is
 * most like its own. */
function findSisters(a: Answer, ghosts: Ghost[]): void {
	const beside = new Map<number, number[]>(); /* by neighbour: numbers of ghosts */

	ghosts.forEach((g, i) => {
		for (const node of g.neighbours)
			beside.set(node, [...(beside.get(node) ?? []), i]);
	});
	const common = ghosts.map(() => new Float64Array(a.names.length));
	for (const c of a.cables)
		for (const [near, far] of [[c[0], c[2]], [c[2], c[0]]])
			for (const i of near >= 0 && far >= 0 ? beside.get(near) ?? [] : [])
				common[i][far]++;
	ghosts.forEach((g, i) => {
		let most = -1;
		for (let sw = 0; sw < a.names.length; sw++) {
			if (a.types[sw] === HOST)
				continue;
			const named = a.grouped_by === "names" && a.groups[a.group[sw]] === g.end.node.replace(/\d+\D*$/, "");
			const like = (named ? 1e6 : 0) + common[i][sw] + likeness(g.end.node, a.names[sw]);
			if (like > most) {
				most = like;
				g.sister = sw;
			}
		}
	});
}

/* The nodes of lost cables that are gone themselves. */
function findGhosts(a: Answer, byGuid: Map<string, number>, lost: LostCable[]): Ghost[] {
	const ghosts = new Map<string, Ghost>();

	for (const cable of lost)
		for (const [end, other] of [[cable.from, cable.to], [cable.to, cable.from]]) {
			if (byGuid.has(end.guid))
				continue;
			const ghost = ghosts.get(end.guid) ??
				{ end, ports: end.ports ?? 0, neighbours: new Set(), sister: -1 };
			ghosts.set(end.guid, ghost);
			ghost.ports = Math.max(ghost.ports, end.port);
			const neighbour = byGuid.get(other.guid);
			if (neighbour !== undefined)
				ghost.neighbours.add(neighbour);
		}
	const all = [...ghosts.values()], switches = all.filter(g => !g.end.isHost);
	findSisters(a, switches);
	for (const g of switches)
		if (g.sister >= 0 && g.end.ports === undefined)
			g.ports = Math.max(g.ports, a.ports[g.sister]);
	return all;
}

function connect(f: Fabric, cable: number, rowA: number, rowB: number): void {
	f.cable[rowA] = cable;
	if (rowB < 0)
		return;
	f.cable[rowB] = cable;
	f.peer[rowA] = rowB;
	f.peer[rowB] = rowA;
}

/* -1: there is no such port. */
export function rowOf(f: Fabric, node: number, port: number): number {
	return node >= 0 && node < f.n && port >= 1 && port <= f.ports[node] ? f.first[node] + port - 1 : -1;
}

export function portOf(f: Fabric, row: number): number {
	return row - f.first[f.nodeOf[row]] + 1;
}

export function isSwitch(f: Fabric, node: number): boolean {
	return f.types[node] !== HOST;
}

/* The one by that GUID, or the only one by that name; -1. */
export function nodeBy(f: Fabric, words: string): number {
	const guid = f.byGuid.get(words.toLowerCase());

	if (guid !== undefined)
		return guid;
	const at = f.names.indexOf(words);
	return at >= 0 && f.names.indexOf(words, at + 1) < 0 ? at : -1;
}

export function flagsOf(f: Fabric, row: number): number {
	return f.cable[row] < 0 ? 0 : f.flags[f.cable[row]];
}

function addCables(f: Fabric, a: Answer): void {
	a.cables.forEach((c, i) => {
		const rowA = rowOf(f, c[0], c[1]), rowB = rowOf(f, c[2], c[3]);

		if (rowA < 0)
			return;
		connect(f, i, rowA, rowB);
		f.rate[i] = c[4] < a.rates.length ? c[4] : 0;
		f.best[i] = c[5] < a.rates.length ? c[5] : 0;
		f.planned[rowA] = c[6];
		if (rowB >= 0)
			f.planned[rowB] = c[7];
		f.flags[i] = c[8] & (STATE | DEGRADED | ISOLATED | TROUBLE);
	});
}

function addLost(f: Fabric, lost: LostCable[], from: number): void {
	lost.forEach((cable, i) => {
		const [rowA, rowB] = [cable.from, cable.to].map(end =>
			rowOf(f, f.byGuid.get(end.guid) ?? -1, end.port));

		if (rowA < 0 || rowB < 0 || f.cable[rowA] >= 0 || f.cable[rowB] >= 0)
			return;
		connect(f, from + i, rowA, rowB);
		f.flags[from + i] = LOST;
		if (cable.since !== "")
			f.lostSince.set(from + i, cable.since);
	});
}

export function makeFabric(a: Answer, lost: LostCable[]): Fabric {
	const byGuid = new Map<string, number>();
	a.guids.forEach((guid, i) => byGuid.set(guid, i));
	const ghosts = findGhosts(a, byGuid, lost);
	const nPresent = a.names.length, n = nPresent + ghosts.length;
	const nCables = a.cables.length + lost.length;
	const first = new Uint32Array(n + 1);
	const ports = Uint16Array.from([...a.ports, ...ghosts.map(g => g.ports)]);

	for (let i = 0; i < n; i++)
		first[i + 1] = first[i] + ports[i];
	const rows = first[n], nodeOf = new Uint32Array(rows);
	for (let i = 0; i < n; i++)
		nodeOf.fill(i, first[i], first[i + 1]);
	ghosts.forEach((g, i) => byGuid.set(g.end.guid, nPresent + i));
	const f: Fabric = {
		generation: a.generation, isMaster: a.master, knowsLoads: a.loads,
		groupedBy: a.grouped_by, groups: a.groups, n, nPresent,
		names: [...a.names, ...ghosts.map(g => g.end.node)],
		guids: [...a.guids, ...ghosts.map(g => g.end.guid)],
		lids: [...a.lids, ...ghosts.map(() => 0)],
		types: Uint8Array.from([...a.types, ...ghosts.map(g => g.end.isHost ? HOST : 2)]),
		ports,
		levels: Int16Array.from([...a.levels, ...ghosts.map(g => g.end.isHost ? 0 : g.sister < 0 ? -1 : a.levels[g.sister])]),
		group: Int32Array.from([...a.group, ...ghosts.map(g => g.sister < 0 ? -1 : a.group[g.sister])]),
		first, byGuid, rows, nodeOf,
		peer: new Int32Array(rows).fill(-1), cable: new Int32Array(rows).fill(-1),
		planned: new Float64Array(rows),
		flags: new Uint8Array(nCables), rate: new Uint8Array(nCables), best: new Uint8Array(nCables),
		rates: a.rates, lostSince: new Map(),
	};
	addCables(f, a);
	addLost(f, lost, a.cables.length);
	return f;
}

/* "leaf-1 port 7" */
export function portName(f: Fabric, row: number): string {
	return `${f.names[f.nodeOf[row]]} port ${portOf(f, row)}`;
}

export function rateName(f: Fabric, cable: number): string {
	const rate = cable < 0 ? undefined : f.rates[f.rate[cable]];

	return rate && rate[2] > 0 ? `${rate[0]} ${rate[1]}` : "";
}

/* Gbit/s; 0: not known. */
export function gigabits(f: Fabric, cable: number): number {
	return cable < 0 ? 0 : (f.rates[f.rate[cable]]?.[2] ?? 0) / 1000;
}
