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
	facts?: { event?: string; cables?: ({ from?: EventEnd; to?: EventEnd } | null)[] };
}

function endOf(e: EventEnd | undefined | null): End | null {
	return e && typeof e.node === "string" && typeof e.guid === "string" && typeof e.port === "number"
		? { node: e.node, guid: e.guid.toLowerCase(), isHost: e.type === "ca", port: e.port } : null;
}

const key = (c: LostCable): string => `${c.from.guid}:${c.from.port}`;

export class Lost {
	private cables = new Map<string, LostCable>();

	/* Also of what has come back since: update() leaves that out. */
	hear(events: FabricEvent[]): void {
		for (const event of events) {
			if (event.facts?.event !== "lost-nodes" && event.facts?.event !== "lost-cables")
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

	/* What old has and answer has not is lost; what answer has is not. */
	update(old: Fabric | null, answer: Answer): LostCable[] {
		const taken = new Set<string>();

		for (const c of answer.cables)
			for (const [node, port] of [[c[0], c[1]], [c[2], c[3]]])
				if (node >= 0)
					taken.add(`${answer.guids[node]}:${port}`);
		for (let row = 0; old && row < old.rows; row++)
			if (old.peer[row] > row && !(old.flags[old.cable[row]] & LOST))
				this.addGone(old, row, taken);
		for (const [at, c] of this.cables)
			if (taken.has(key(c)) || taken.has(`${c.to.guid}:${c.to.port}`))
				this.cables.delete(at);
		return [...this.cables.values()];
	}

	private addGone(f: Fabric, row: number, taken: Set<string>): void {
		const ends = [row, f.peer[row]].map(at => `${f.guids[f.nodeOf[at]]}:${portOf(f, at)}`);

		if (ends.some(end => taken.has(end)))
			return;
		const [from, to] = [row, f.peer[row]].map((at): End => {
			const node = f.nodeOf[at];
			return {
				node: f.names[node], guid: f.guids[node], isHost: !isSwitch(f, node), port: portOf(f, at),
				ports: f.ports[node],
			};
		});
		const had = this.cables.get(ends[0]) ?? this.cables.get(ends[1]);
		this.cables.delete(ends[1]);
		this.cables.set(ends[0], { from, to, since: had?.since ?? "" });
	}
}
