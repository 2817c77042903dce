// SPDX-License-Identifier: BSD-2-Clause
// The way of packets from one port to another: over the cells, and as a list with load, wait and why.

import type { App } from "./app";
import { loadOf, waitOf } from "./cells";
import { el, refill } from "./dom";
import { HOST, nodeBy, rowOf, type Fabric } from "./fabric";
import { ask, quoted } from "./feed";
import { count, many, percent, short } from "./words";

interface Other { port: number; to: string; routes: number | null; hops: number; why: string }
interface Choices {
	engine: string | null;
	repaired_from: number | null;
	routes: number | null;
	hops: number;
	others: Other[];
	n_others: number;
}
interface Hop { switch: string; guid: string; in: number; out: number; mbps: number; choices?: Choices }
interface PathEnd { node: string; node_guid: string; port: number; lid: number }
interface Path {
	from: PathEnd;
	to: PathEnd;
	arrives: boolean | null;
	dead: { node: string; port: number } | null;
	in_doubt: string | null;
	sl: number;
	mtu: number;
	mbps: number;
	pkey: number;
	planned?: string;
	hops: Hop[];
}

/* fmd takes a GUID where the name would do for several. */
function wordFor(f: Fabric | null, name: string): string {
	const node = f ? nodeBy(f, name) : -1;

	return node >= 0 ? f!.guids[node] : quoted(name);
}

function measured(app: App, row: number): string {
	const r = app.readings;

	if (!r || row < 0 || r.load[row] === 0)
		return "";
	const wait = waitOf(r.wait[row]);
	return `load ${percent(loadOf(r.load[row]))}${Number.isNaN(wait) ? "" : `, wait ${short(wait)}/s`}`;
}

function why(c: Choices): string {
	const parts = [c.engine ? `by ${c.engine}` : "", c.repaired_from ? `repaired, was port ${c.repaired_from}` : "",
		c.routes !== null ? `${count(c.routes)} routes planned on it` : ""].filter(Boolean);

	return parts.join("; ");
}

function others(c: Choices): HTMLElement | null {
	if (c.others.length === 0)
		return null;
	return el("details", {}, el("summary", {}, `${many(c.n_others, "other way")}`),
		el("ul", {}, ...c.others.map(o => el("li", {}, `port ${o.port} to ${o.to}: ${o.why}${o.routes !== null ? `, ${count(o.routes)} routes` : ""}`))),
		c.n_others > c.others.length ? el("p", { class: "soft" }, `${many(c.n_others - c.others.length, "more", "more")}`) : null);
}

/* The sentence of fmctl path's exit code. */
function verdict(p: Path): string {
	if (p.dead)
		return `Packets do not arrive: the cable at ${p.dead.node} port ${p.dead.port} is dead.`;
	if (p.arrives === null)
		return `It is not known whether packets arrive: ${p.in_doubt ?? "a switch on the way"} has not taken its table yet.`;
	return p.arrives ? `${many(p.hops.length, "switch", "switches")}, SL ${p.sl}, MTU ${p.mtu}, ${count(p.mbps / 1000)} Gb/s.` : "Packets do not arrive.";
}

export class PathPart {
	private key = "";
	private asked = 0;
	private found: Path | null = null;
	private wrong = "";

	constructor(private at: HTMLElement, private changed: () => void) {}

	/* The cells that packets leave and enter by, in their order. */
	rows(f: Fabric): number[] {
		const rows: number[] = [];

		for (const hop of this.found?.hops ?? []) {
			const node = f.byGuid.get(hop.guid) ?? -1;
			rows.push(rowOf(f, node, hop.in), rowOf(f, node, hop.out));
		}
		return rows.filter(row => row >= 0);
	}

	/* False: the address has no path. */
	update(app: App): boolean {
		const { from, to } = app.address, key = JSON.stringify([from, to, app.fabric?.generation]);

		if (from === "" || to === "" || !app.fabric) {
			this.key = "";
			this.found = null;
			return false;
		}
		if (key !== this.key) {
			this.key = key;
			void this.find(app, ++this.asked, 8);
		}
		this.at.hidden = false;
		return true;
	}

	private async find(app: App, turn: number, tries: number): Promise<void> {
		try {
			const path = await ask<Path>("path", { from: wordFor(app.fabric, app.address.from), to: wordFor(app.fabric, app.address.to), why: "" });
			if (turn !== this.asked)
				return;
			this.found = path;
			this.wrong = "";
			if (path.planned === "counting" && tries > 0)
				setTimeout(() => turn === this.asked && void this.find(app, turn, tries - 1), 1000);
		} catch (e) {
			if (turn !== this.asked)
				return;
			this.found = null;
			this.wrong = e instanceof Error ? e.message : String(e);
		}
		this.fill(app);
		this.changed();
	}

	private fill(app: App): void {
		const p = this.found, f = app.fabric!;
		const close = el("button", { type: "button", class: "quiet close", "aria-label": "Close", onclick: () => app.go({ from: "", to: "" }) }, "×");
		const title = el("div", { class: "title" }, el("h2", {}, `${app.address.from} > ${app.address.to}`), close);

		if (!p) {
			refill(this.at, title, el("p", { class: "said" }, this.wrong));
			return;
		}
		const list = el("ol", { class: "hops" }, this.end(app, f, p.from, true));
		for (const hop of p.hops)
			list.append(this.hop(app, f, hop));
		list.append(this.end(app, f, p.to, false));
		refill(this.at, title, el("p", { class: p.arrives ? "soft" : "said" }, verdict(p)), list,
			el("p", {}, el("button", { type: "button", onclick: () => app.go({ from: app.address.to, to: app.address.from }) }, "The way back")));
	}

	private end(app: App, f: Fabric, end: PathEnd, isFirst: boolean): HTMLElement {
		const row = rowOf(f, f.byGuid.get(end.node_guid) ?? -1, end.port);

		return el("li", { class: "end" }, el("strong", {}, `${end.node} port ${end.port}`),
			el("span", { class: "soft" }, ` LID ${end.lid}`),
			isFirst && row >= 0 && f.types[f.nodeOf[row]] === HOST ? el("p", { class: "soft" }, measured(app, row)) : null);
	}

	private hop(app: App, f: Fabric, hop: Hop): HTMLElement {
		const node = f.byGuid.get(hop.guid) ?? -1, c = hop.choices;

		return el("li", {}, el("button", { type: "button", class: "link", onclick: () => app.go({ at: hop.guid ? `${f.names[node] ?? hop.guid}:${hop.out}` : "" , from: "", to: "" }) }, hop.switch),
			el("span", { class: "soft" }, ` in by port ${hop.in}, out by port ${hop.out}`),
			el("p", {}, [measured(app, rowOf(f, node, hop.out)), c ? why(c) : ""].filter(Boolean).join("; ")),
			c ? others(c) : null);
	}
}

