// SPDX-License-Identifier: BSD-2-Clause
// The page: what comes in is kept here, and each part is told when something of it has changed.
//
//	feed --> App --> map, head, legend, side, panel, tables
//	address <--> App

import { plain, readAddress, shows, writeAddress, type Address } from "./address";
import type { App, Health, Region, Standbys, Status, Trouble } from "./app";
import { readCells, toRows, type Cells } from "./cells";
import type { Theme } from "./colours";
import { byId, el, refill, say } from "./dom";
import { isSwitch, makeFabric, portOf, whatIsWrong, type Answer } from "./fabric";
import { ask, askBytes, Feed, Refusal } from "./feed";
import { Find } from "./find";
import { Head } from "./head";
import { Legend } from "./legend";
import { describe } from "./line";
import { Lost, type FabricEvent } from "./lost";
import { PortMap } from "./map";
import { Panel, whatIsWrongWith } from "./panel";
import { PathPart } from "./path";
import { SidePart } from "./side";
import { Tables } from "./tables";
import { marksOf } from "./values";
import { ago } from "./words";

const EVENTS_KEPT = 300, NEWS_MS = 10000, STALE_MS = 8000, SKEW_MS = 60000;
const showNames: Record<Address["show"], string> = { load: "Load", wait: "Wait", errors: "Errors", health: "Health",
	planned: "Planned", difference: "Difference" };

/* Where the browser keeps nothing all is as if nothing had been chosen. */
function kept(key: string): string | null {
	try {
		return localStorage.getItem(key);
	} catch {
		return null;
	}
}

function keep(key: string, value: string): void {
	try {
		localStorage.setItem(key, value);
	} catch { /* as above */ }
}

class Page implements App {
	address: Address = { ...plain };
	theme: Theme = "light";
	fabric: App["fabric"] = null;
	readings: App["readings"] = null;
	marks: Uint8Array = new Uint8Array(0);
	reading: App["reading"] = null;
	status: Status | null = null;
	trouble: App["trouble"] = null;
	health: Health | null = null;
	regions: Region[] | null = null;
	standbys: Standbys | null = null;
	events: FabricEvent[] = [];
	private cells: Cells | null = null;
	private answer: Answer | null = null;
	private lost = new Lost(kept("forgotten") ?? "");
	private away = new Map<string, string>();
	private wrong: string[] = [];
	private head = new Head();
	private legend = new Legend();
	private map = new PortMap({
		onHover: row => this.sayLine(row),
		onMove: row => this.sayLine(row),
		onChoose: (row, byKey) => {
			this.goTo(this.fabric?.guids[this.fabric.nodeOf[row]], this.fabric ? portOf(this.fabric, row) : 0);
			this.entersPanel = byKey;
		},
	});
	private side = new SidePart(this);
	private panel = new Panel(byId("panel"));
	private path = new PathPart(byId("panel"), () => this.draw());
	private tables = new Tables(byId("tables"));
	private feed = new Feed(this);
	private due = 0;
	private entersPanel = false; /* the focus goes there when it is drawn */
	private readAt = 0; /* when the last reading was new, ms of performance.now() */
	private news = 0; /* when an event was told to screen readers last, ms */

	start(): void {
		this.chooseTheme();
		this.readAddress();
		this.makeTools();
		new Find(this);
		document.addEventListener("keydown", e => this.onEscape(e));
		window.addEventListener("popstate", () => this.readAddress());
		new ResizeObserver(() => this.draw()).observe(byId("map-frame"));
		this.feed.add("status", 3000, async () => { this.status = await ask<Status>("status"); this.draw(); });
		this.feed.add("cells", 5000, () => this.askCells());
		this.feed.add("trouble", 10000, async () => {
			const t = await ask<{ troubles: number; list: Trouble[] }>("trouble");
			this.trouble = { n: t.troubles, list: t.list };
			this.draw();
		});
		this.feed.add("health", 10000, async () => { this.health = await ask<Health>("health"); this.mark(); });
		this.feed.add("regions", 60000, async () => {
			this.regions = (await ask<{ regions: Region[] }>("regions")).regions;
			this.draw();
		});
		this.feed.add("ha", 15000, async () => { this.standbys = await ask<Standbys>("ha"); this.draw(); });
		this.feed.start();
		setInterval(() => {
			this.sayRead();
			this.sayNotices();
		}, 1000);
	}

	/* ------------------------------------------------------------- what comes in */

	onFabric(answer: Answer): void {
		const wrong = whatIsWrong(answer);

		if (wrong)
			throw new Refusal(wrong, 0);
		this.answer = answer;
		this.build();
	}

	private build(): void {
		if (!this.answer)
			return;
		this.fabric = makeFabric(this.answer, this.lost.update(this.fabric, this.answer));
		this.readings = toRows(this.fabric, this.cells);
		this.mark();
	}

	private mark(): void {
		if (this.fabric)
			this.marks = marksOf(this.fabric, this.health?.cables ?? []);
		this.draw();
	}

	onEvents(events: FabricEvent[], isLive: boolean): void {
		this.lost.hear(events);
		if (isLive) {
			const had = new Set(this.events.map(e => e.n));
			this.events = [...this.events, ...events.filter(e => !had.has(e.n))].sort((a, b) => a.n - b.n).slice(-EVENTS_KEPT);
			this.tellNews(events);
		} else {
			this.build();
		}
		this.draw();
	}

	/* What is wrong, and not all of it: who listens is not to be kept from all else. */
	private tellNews(events: FabricEvent[]): void {
		const bad = events.filter(e => e.level === "warn" || e.level === "error");

		if (events.length !== 1 || bad.length === 0 || performance.now() - this.news < NEWS_MS)
			return;
		this.news = performance.now();
		say(byId("news"), bad[0].text);
	}

	private async askCells(): Promise<void> {
		const cells = readCells(await askBytes(`api/v1/cells${this.address.over === "hour" ? "?over=hour" : ""}`));

		if (typeof cells === "string")
			throw new Refusal(cells, 0);
		this.cells = cells;
		if (this.reading?.number !== cells.reading)
			this.readAt = performance.now();
		this.reading = { number: cells.reading, ended: cells.ended, interval: cells.interval };
		if (this.fabric)
			this.readings = toRows(this.fabric, cells);
		this.draw();
	}

	onAway(what: string, sentence: string | null): void {
		if (sentence === null && !this.away.delete(what))
			return;
		if (sentence !== null)
			this.away.set(what, what === "cells" && !sentence.startsWith("fmd-web") ? `Nothing is measured: ${sentence}.` : sentence);
		if (what === "status" && sentence !== null)
			this.status = null;
		this.draw();
	}

	/* ------------------------------------------------------------------ addresses */

	private readAddress(): void {
		const { address, wrong } = readAddress(location.search);

		this.address = address;
		this.wrong = wrong;
		this.draw();
	}

	go(change: Partial<Address>): void {
		const over = this.address.over;

		this.address = { ...this.address, ...change };
		this.wrong = [];
		history.pushState(null, "", writeAddress(this.address));
		if (this.address.over !== over)
			this.feed.hurry("cells");
		this.draw();
	}

	goTo(guid: string | undefined, port: number | undefined): void {
		const f = this.fabric, node = guid === undefined ? undefined : f?.byGuid.get(guid);

		if (!f || node === undefined)
			return;
		const name = f.names[node], alone = f.names.indexOf(name) === f.names.lastIndexOf(name) && name !== "";
		this.go({ at: (alone ? name : f.guids[node]) + (port ? `:${port}` : ""), from: "", to: "" });
	}

	/* -------------------------------------------------------------------- drawing */

	/* Once for all that has come in since the last frame. */
	draw(): void {
		if (this.due === 0)
			this.due = requestAnimationFrame(() => {
				this.due = 0;
				this.drawNow();
			});
	}

	private drawNow(): void {
		const isMap = this.address.as === "map";

		this.head.update(this);
		this.checkTools();
		this.legend.update(this);
		this.sayNotices();
		this.sayRead();
		this.side.update(this);
		if (!this.path.update(this))
			this.panel.update(this);
		if (this.entersPanel)
			byId("panel").focus();
		this.entersPanel = false;
		byId("map-frame").hidden = !isMap;
		byId("line").hidden = !isMap;
		this.tables.update(this);
		if (this.fabric && this.readings && isMap) {
			this.map.setPath(this.path.rows(this.fabric));
			this.map.draw(this.fabric, this.readings, this.marks, this.address, this.theme);
		}
	}

	/* Closes what is open, and the map has the focus again. */
	private onEscape(e: KeyboardEvent): void {
		if (e.key !== "Escape" || (this.address.at === "" && this.address.from === ""))
			return;
		const held = byId("panel").contains(document.activeElement);
		this.go({ at: "", from: "", to: "" });
		if (held)
			byId(this.address.as === "map" ? "above" : "tables").focus();
	}

	/* By fmd's clock, which is that of its events. */
	forgetLost(): void {
		const last = this.events[this.events.length - 1]?.time ?? "";

		this.lost.forget(last);
		keep("forgotten", last);
		this.build();
	}

	private sayLine(row: number): void {
		const parts = describe(this, row);

		refill(byId("line"), ...parts.map((part, i) => el(i === 0 ? "strong" : "span", {}, part)));
	}

	/* The clocks of who looks and of fmd-web may differ. */
	private staleFor(): number {
		const r = this.reading, seen = performance.now() - this.readAt;

		if (!r || r.ended === 0)
			return 0;
		const age = Date.now() - r.ended, late = 3 * r.interval;
		return seen > late + STALE_MS || age > late + SKEW_MS ? Math.max(seen, age) : 0;
	}

	private sayNotices(): void {
		const f = this.fabric, said = [...new Set([...this.wrong, ...this.away.values()])], stale = this.staleFor();

		if (stale > 0 && !this.away.has("cells"))
			said.push(`fmd-perf has read nothing for ${ago(stale / 1000)}: what is measured is of then.`);

		if (f && f.n > 0 && !f.types.some((_t, i) => isSwitch(f, i)))
			said.push("There is no switch in this subnet, so there is nothing to draw: see the table.");
		if (f && this.address.at !== "")
			said.push(whatIsWrongWith(f, this.address.at) ?? "");
		const at = byId("notices");
		const text = said.filter(Boolean).join(" ");
		at.hidden = text === "";
		say(at, text);
	}

	private sayRead(): void {
		const r = this.reading;

		say(byId("read"), !r ? "" : this.away.has("cells") ? "" :
			r.ended === 0 ? "fmd-perf has read nothing yet" : `read ${ago((Date.now() - r.ended) / 1000)} ago, each ${ago(r.interval / 1000)}`);
	}

	/* ---------------------------------------------------------------------- tools */

	private makeTools(): void {
		this.choice("show", shows.map(s => [s, showNames[s]]));
		this.choice("over", [["now", "Now"], ["hour", "Hour"]]);
		this.choice("as", [["map", "Map"], ["table", "Table"]]);
	}

	private choice(key: "show" | "over" | "as", list: [string, string][]): void {
		for (const [value, name] of list)
			byId(key).append(el("label", {}, el("input", { type: "radio", name: key, value,
				onchange: () => this.go({ [key]: value }) }), el("span", {}, name)));
	}

	private checkTools(): void {
		for (const key of ["show", "over", "as"] as const)
			for (const input of byId(key).querySelectorAll("input"))
				input.checked = input.value === this.address[key];
	}

	private chooseTheme(): void {
		const dark = window.matchMedia("(prefers-color-scheme: dark)");
		let chosen = kept("theme");
		const set = (): void => {
			this.theme = (chosen ?? (dark.matches ? "dark" : "light")) === "dark" ? "dark" : "light";
			document.documentElement.dataset.theme = this.theme;
			say(byId("theme"), this.theme === "dark" ? "☀" : "☾");
			this.draw();
		};
		set();
		dark.addEventListener("change", set);
		byId("theme").addEventListener("click", () => {
			chosen = this.theme === "dark" ? "light" : "dark";
			keep("theme", chosen);
			set();
		});
	}
}

new Page().start();
