// SPDX-License-Identifier: BSD-2-Clause
// Fabrics for tests, as fmd would tell them.

import type { Answer } from "../src/fabric";
import type { LostCable } from "../src/lost";

export const guid = (n: number): string => "0x" + n.toString(16).padStart(16, "0");

interface Switch { name: string; level: number; group: number }

/* pods of `leaves` leaves and as many aggregation switches, `hosts` a leaf; spine i of plane a joins
 * aggregation switch a of each pod at that one's port leaves + i + 1, its own port is the pod's. */
export function fatTree(pods: number, leaves: number, hosts: number, spines: number): Answer {
	const switches: Switch[] = [], cables: number[][] = [], names: string[] = [], types: number[] = [];
	const groups = [...Array(pods).keys()].map(p => `leaf-${p + 1}-1`).concat([...Array(leaves).keys()].map(a => `spine-1-${a + 1}`));
	const find = (name: string): number => names.indexOf(name);

	for (let p = 0; p < pods; p++)
		for (let i = 0; i < leaves; i++) {
			switches.push({ name: `leaf-${p + 1}-${i + 1}`, level: 1, group: p });
			switches.push({ name: `agg-${p + 1}-${i + 1}`, level: 2, group: p });
		}
	for (let a = 0; a < leaves; a++)
		for (let s = 0; s < spines; s++)
			switches.push({ name: `spine-${s + 1}-${a + 1}`, level: 3, group: pods + a });
	switches.forEach(s => { names.push(s.name); types.push(2); });
	const ports = switches.map(s => s.level === 1 ? hosts + leaves : s.level === 2 ? leaves + spines : pods);
	const levels = switches.map(s => s.level), group = switches.map(s => s.group);
	for (let p = 0; p < pods; p++)
		for (let i = 0; i < leaves; i++) {
			const leaf = find(`leaf-${p + 1}-${i + 1}`), agg = find(`agg-${p + 1}-${i + 1}`);
			for (let h = 0; h < hosts; h++) {
				cables.push([leaf, h + 1, names.length, 1, 1, 1, 0, 0, 4]);
				names.push(`host-${p + 1}-${i + 1}-${h + 1}`);
				types.push(1);
				ports.push(1);
				levels.push(0);
				group.push(p);
			}
			for (let a = 0; a < leaves; a++)
				cables.push([leaf, hosts + a + 1, find(`agg-${p + 1}-${a + 1}`), i + 1, 1, 1, 10 + a, 20 + a, 4]);
			for (let s = 0; s < spines; s++)
				cables.push([agg, leaves + s + 1, find(`spine-${s + 1}-${i + 1}`), p + 1, 1, 1, 30, 40, 4]);
		}
	return { generation: "g1", master: true, loads: true, grouped_by: "levels", groups, names, guids: names.map((_n, i) => guid(i + 1)),
		types, lids: names.map((_n, i) => i + 1), ports, levels, group, rates: [["0x", "", 0], ["4x", "EDR", 100000]], cables };
}

/* Without that node and its cables; groups stay. */
export function without(a: Answer, name: string): Answer {
	const gone = a.names.indexOf(name), keep = <T>(list: T[]): T[] => list.filter((_v, i) => i !== gone);
	const number = (i: number): number => i > gone ? i - 1 : i;

	return { ...a, generation: a.generation + "-" + name, names: keep(a.names), guids: keep(a.guids), types: keep(a.types), lids: keep(a.lids),
		ports: keep(a.ports), levels: keep(a.levels), group: keep(a.group),
		cables: a.cables.filter(c => c[0] !== gone && c[2] !== gone).map(c => [number(c[0]), c[1], number(c[2]), ...c.slice(3)]) };
}

/* The cables of a node as an event of its loss has them. */
export function cablesOf(a: Answer, name: string): LostCable[] {
	const node = a.names.indexOf(name), end = (i: number, port: number) =>
		({ node: a.names[i], guid: a.guids[i], isHost: a.types[i] === 1, port });

	return a.cables.filter(c => c[0] === node || c[2] === node).map(c => ({ from: end(c[0], c[1]), to: end(c[2], c[3]), since: "2026-11-30T12:00:00Z" }));
}
