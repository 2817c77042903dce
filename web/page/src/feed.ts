// SPDX-License-Identifier: BSD-2-Clause
// What is asked of fmd-web, and when: seldom, not while the page is hidden, again when it failed.
//
// Events come by themselves (SSE); after one the fabric, trouble and health are asked for at once.

import type { Answer } from "./fabric";
import type { FabricEvent } from "./lost";

/* What fmd-web says instead of an answer. */
export class Refusal extends Error {
	constructor(sentence: string, readonly code: number) {
		super(sentence);
	}
}

async function fetchOrSay(address: string): Promise<Response> {
	let reply: Response;

	try {
		reply = await fetch(address, { cache: "no-cache", credentials: "same-origin" });
	} catch {
		throw new Refusal("fmd-web does not answer. This page tries again by itself.", 0);
	}
	if (reply.ok)
		return reply;
	let sentence = `fmd-web answers with ${reply.status}.`;
	try {
		const words = (await reply.json() as { error?: unknown }).error;
		if (typeof words === "string")
			sentence = words;
	} catch { /* it is no JSON: the code has to do */ }
	throw new Refusal(sentence, reply.status);
}

export async function ask<T>(command: string, args: Record<string, string> = {}): Promise<T> {
	const query = new URLSearchParams(args).toString();
	const reply = await fetchOrSay(`api/v1/${command}${query ? "?" + query : ""}`);

	try {
		return await reply.json() as T;
	} catch {
		throw new Refusal("The answer of fmd-web was cut short.", 0);
	}
}

export async function askBytes(address: string): Promise<ArrayBuffer> {
	return (await fetchOrSay(address)).arrayBuffer();
}

/* As fmctl takes a name that looks like a number. */
export function quoted(name: string): string {
	return /^[-+.\d]/.test(name) && !/^0x/i.test(name) ? `"${name}"` : name;
}

interface Job {
	name: string;
	every: number; /* ms */
	next: number;
	busy: boolean;
	run: () => Promise<void>;
}

export interface Hearer {
	onFabric(answer: Answer): void;
	onEvents(events: FabricEvent[], isLive: boolean): void;
	/* null: it is answered again */
	onAway(what: string, sentence: string | null): void;
}

const TICK = 200, AGAIN = 5000, AFTER_EVENT = [50, 900, 3000];

export class Feed {
	private jobs: Job[] = [];
	private generation = "";
	private stream: EventSource | null = null;
	private looks = new Set<number>(); /* ms: what is looked for so much later */

	constructor(private hearer: Hearer) {
		this.add("fabric", 10000, () => this.askFabric());
		this.add("events", 3600000, () => this.askEvents());
		document.addEventListener("visibilitychange", () => this.onVisible());
	}

	add(name: string, every: number, run: () => Promise<void>): void {
		this.jobs.push({ name, every, next: 0, busy: false, run });
	}

	start(): void {
		this.onVisible();
		setInterval(() => this.tick(), TICK);
	}

	/* At once, or in so many ms. */
	hurry(name: string, ms = 0): void {
		const at = performance.now() + ms;

		for (const job of this.jobs)
			if (job.name === name)
				job.next = Math.min(job.next, at);
		if (ms === 0)
			this.tick();
	}

	private onVisible(): void {
		if (document.hidden) {
			this.stream?.close();
			this.stream = null;
			return;
		}
		for (const job of this.jobs)
			job.next = 0;
		this.listen();
		this.tick();
	}

	private tick(): void {
		if (document.hidden)
			return;
		const now = performance.now();
		for (const job of this.jobs)
			if (!job.busy && job.next <= now)
				void this.run(job);
	}

	private async run(job: Job): Promise<void> {
		job.busy = true;
		job.next = performance.now() + job.every;
		try {
			await job.run();
			this.hearer.onAway(job.name, null);
		} catch (e) {
			this.hearer.onAway(job.name, e instanceof Error ? e.message : String(e));
			job.next = Math.min(job.next, performance.now() + AGAIN);
			if (!(e instanceof Refusal))
				console.error(e);
		}
		job.busy = false;
	}

	private async askFabric(): Promise<void> {
		const answer = await ask<Answer & { same?: boolean }>("fabric",
			this.generation ? { generation: this.generation } : {});

		if (answer.same)
			return;
		this.hearer.onFabric(answer);
		this.generation = answer.generation;
		/* planned loads are counted when they are asked for */
		if (!answer.loads)
			this.hurry("fabric", 1500);
	}

	/* What was lost in the last days, and what happened last. */
	private async askEvents(): Promise<void> {
		const lost = await ask<FabricEvent[]>("events", { since: "3d", kind: "lost-nodes,lost-cables", last: "1000" });
		const last = await ask<FabricEvent[]>("events", { last: "200" });

		this.hearer.onEvents(lost.filter(e => e.n > 0), false);
		this.hearer.onEvents(last.filter(e => e.n > 0), true);
	}

	private listen(): void {
		if (this.stream)
			return;
		this.stream = new EventSource("api/v1/events/stream");
		this.stream.onmessage = message => this.onMessage(String(message.data));
		this.stream.addEventListener("gap", () => this.hurry("events"));
		this.stream.onerror = () => {
			/* the browser tries again by itself, unless it was refused */
			if (this.stream?.readyState === EventSource.CLOSED) {
				this.stream = null;
				setTimeout(() => document.hidden || this.listen(), 5000);
			}
		};
	}

	private onMessage(data: string): void {
		let event: FabricEvent;

		try {
			event = JSON.parse(data) as FabricEvent;
		} catch {
			return; /* half a line: the next answer has it */
		}
		if (typeof event.n !== "number")
			return;
		this.hearer.onEvents([event], true);
		for (const ms of AFTER_EVENT)
			this.lookIn(ms);
	}

	/* Events come in crowds: what is asked for after the last is asked once.  More than once, as fmd tells
	 * of the fabric of before while a sweep runs. */
	private lookIn(ms: number): void {
		if (this.looks.has(ms))
			return;
		this.looks.add(ms);
		setTimeout(() => {
			this.looks.delete(ms);
			for (const name of ["fabric", "trouble", "health", "status"])
				this.hurry(name);
		}, ms);
	}
}
