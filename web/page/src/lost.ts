// SPDX-License-Identifier: BSD-2-Clause
// What was there and is gone: from the events of fmd of before, and from what the page has seen.
//
// A cable is lost as long as neither of its ends has another one.  So a host that was moved is not
// lost, nor is a cable that was put into another port.

import { isSwitch, LOST, portOf, type Answer, type Fabric } from "./fabric";

export interface End {
	node: string;
	guid: string;
	isHost: boolean;
	port: number;
	ports?: number; /* how many it has: of a node that the page has seen itself */
}

export interface LostCable {
	from: End;
	to: End;
	since: string; /* a time; "": not known */
}

interface EventEnd {
	node?: unknown;
	guid?: unknown;
	type?: unknown;
	port?: unknown;
}

export interface FabricEvent {
	n: number;
	time: string;
	level: string;
	kind: string;
	subsystem?: string;
	text: string;
	ends?: number;
	facts?: { event?: string; nodes?: (EventEnd | null)[]; cables?: ({ from?: EventEnd; to?: EventEnd } | null)[] };
}

function endOf(e: EventEnd | undefined | null): End | null {
	return e && typeof e.node === "string" && typeof e.guid === "string" && typeof e.port === "number"
		? { node: e.node, guid: e.guid.toLowerCase(), isHost: e.type === "ca", port: e.port } : null;
}

const key = (c: LostCable): string => `${c.from.guid}:${c.from.port}`;

export class Lost {
	private cables = new Map<string, LostCable>();

	/* until: a time of fmd; what was lost before is not told.  "": all is. */
	constructor(private until = "") {}

	forget(until: string): void {
		this.until = until;
		this.cables.clear();
	}

	/* Also of what has come back since: update() leaves that out. */
	hear(events: FabricEvent[]): void {
		for (const event of events) {
			if (event.facts?.event !== "lost-nodes" && event.facts?.event !== "lost-cables")
				continue;
			if (event.time <= this.until)
				continue;
			for (const cable of event.facts.cables ?? []) {
				const from = endOf(cable?.from), to = endOf(cable?.to);
				if (from && to)
					this.add({ from, to, since: event.time });
			}
		}
	}

	/* What the page has seen itself is known better. */
	private add(c: LostCable): void {
		const back = `${c.to.guid}:${c.to.port}`, had = this.cables.get(key(c)) ?? this.cables.get(back);

		if (had && had.from.ports !== undefined) {
			had.since = had.since || c.since;
			return;
		}
		this.cables.delete(back);
		this.cables.set(key(c), c);
	}

	/* What old has and answer has not is lost; what answer has is not.  O(ports). */
	update(old: Fabric | null, answer: Answer): LostCable[] {
		if (!old && this.cables.size === 0)
			return [];
		const is = new Taken(answer);
		if (old)
			this.addGone(old, is);
		/* by either end, which also leaves out what was moved */
		for (const [at, c] of this.cables)
			if (is.taken(is.node(c.from.guid), c.from.port) || is.taken(is.node(c.to.guid), c.to.port))
				this.cables.delete(at);
		return [...this.cables.values()];
	}

	private addGone(f: Fabric, is: Taken): void {
		const now = f.guids.map(guid => is.node(guid));
		const gone = (row: number): boolean => !is.taken(now[f.nodeOf[row]], portOf(f, row));

		for (let row = 0; row < f.rows; row++) {
			const peer = f.peer[row];
			if (peer < row || f.flags[f.cable[row]] & LOST || !gone(row))
				continue;
			const from = seenEnd(f, row), to = seenEnd(f, peer), there = `${to.guid}:${to.port}`;
			const had = this.cables.get(`${from.guid}:${from.port}`) ?? this.cables.get(there);
			this.cables.delete(there);
			this.cables.set(`${from.guid}:${from.port}`, { from, to, since: had?.since ?? "" });
		}
	}
}

function seenEnd(f: Fabric, row: number): End {
	const node = f.nodeOf[row];

	return { node: f.names[node], guid: f.guids[node], isHost: !isSwitch(f, node), port: portOf(f, row), ports: f.ports[node] };
}

/* Which ports of an answer have a cable. */
class Taken {
	private byGuid = new Map<string, number>();
	private ports: Uint8Array;

	constructor(a: Answer) {
		a.guids.forEach((guid, i) => this.byGuid.set(guid, i));
		this.ports = new Uint8Array(a.names.length * 256);
		for (const c of a.cables) {
			this.ports[c[0] * 256 + c[1]] = 1;
			if (c[2] >= 0)
				this.ports[c[2] * 256 + c[3]] = 1;
		}
	}

	/* -1: it is not there. */
	node(guid: string): number {
		return this.byGuid.get(guid) ?? -1;
	}

	taken(node: number, port: number): boolean {
		return node >= 0 && this.ports[node * 256 + port] === 1;
	}
}
