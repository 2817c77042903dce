// SPDX-License-Identifier: BSD-2-Clause
// What the colours and marks mean; a mark with how many cables have it leads to the next of them.

import type { App } from "./app";
import type { Show } from "./address";
import { ERROR_DOUBLINGS, HEALTH, healthColour, scaleAt, WAIT_DECADES } from "./colours";
import { byId, el, refill } from "./dom";
import { isSwitch, portOf } from "./fabric";
import { drawMark, prepare } from "./paint";
import { DIFFERENCE_MOST, MARK, markNames, mostPlanned } from "./values";
import { count, short } from "./words";

const meanings = ["", "watch, or slower than it could be", "unfinished, or not active", "isolated", "bad", "lost"];

interface Scale { title: string; ticks: [number, string][] }

function scaleOf(show: Show, most: number): Scale | null {
	switch (show) {
	case "load":
		return { title: "Load, of what the cable carries",
			ticks: [0, 0.05, 0.25, 0.5, 1].map(v => [Math.sqrt(v), `${v * 100}`] as [number, string]).concat([]) };
	case "wait":
		return { title: "Wait, ticks a second",
			ticks: [[0, "0"], [3 / WAIT_DECADES, "1 k"], [6 / WAIT_DECADES, "1 M"], [1, "100 M"]] };
	case "errors":
		return { title: "Errors in the last hour",
			ticks: [[0, "0"], [0.2, "1"], [0.2 + 0.8 * 7 / ERROR_DOUBLINGS, "128"], [1, "65 k"]] };
	case "planned":
		return { title: "Planned routes", ticks: [[0, "0"], [0.5, short(most / 2)], [1, short(most)]] };
	case "difference": {
		const most = DIFFERENCE_MOST * 100;
		return { title: "Measured, less its share by plan, % of the cable", ticks: [[0, `−${most}`], [0.5, "0"], [1, `+${most}`]] };
	}
	case "health":
		return null;
	}
}

const healthWords: [string, number][] = [["ok", HEALTH.ok], ["watch", HEALTH.watch], ["unfinished", HEALTH.trouble], ["isolated", HEALTH.isolated],
	["bad", HEALTH.bad], ["no cable", HEALTH.unknown]];

function swatch(app: App, word: string, byte: number): HTMLElement {
	const canvas = el("canvas", { "aria-hidden": "true" }), g = prepare(canvas, 11, 11, window.devicePixelRatio || 1);

	g.fillStyle = healthColour(app.theme, byte);
	g.fillRect(0, 0, 11, 11);
	return el("span", { class: "swatch" }, canvas, word);
}

function bar(show: Show, app: App): HTMLCanvasElement {
	const canvas = el("canvas", { "aria-hidden": "true" }), wide = 220, dpr = window.devicePixelRatio || 1;
	const g = prepare(canvas, wide, 10, dpr);

	for (let x = 0; x < wide; x++) {
		g.fillStyle = `rgb(${scaleAt(app.theme, show, x / (wide - 1)).join(",")})`;
		g.fillRect(x, 0, 1.5, 10);
	}
	return canvas;
}

function scale(show: Show, app: App): HTMLElement | null {
	const s = scaleOf(show, app.fabric ? mostPlanned(app.fabric) : 0);

	if (!s)
		return el("div", { class: "scale" }, el("span", {}, "Health of cables"), ...healthWords.map(([word, byte]) => swatch(app, word, byte)));
	const ticks = el("div", { class: "ticks" });
	for (const [at, text] of s.ticks) {
		const tick = el("span", {}, text);
		tick.style.left = `${at * 100}%`;
		ticks.append(tick);
	}
	return el("div", { class: "scale" }, el("span", {}, s.title + (show === "load" ? ", %" : "")),
		el("div", { class: "bar" }, bar(show, app), ticks));
}

/* How many cables have each mark: each counts once. */
export function countMarks(app: App): number[] {
	const counts = markNames.map(() => 0), f = app.fabric, seen = new Set<number>();

	for (let row = 0; f && row < f.rows; row++)
		if (app.marks[row] !== MARK.none && !seen.has(f.cable[row])) {
			seen.add(f.cable[row]);
			counts[app.marks[row]]++;
		}
	return counts;
}

export class Legend {
	private had = "";
	private next = new Map<number, number>();

	update(app: App): void {
		const counts = countMarks(app), key = [app.address.show, app.theme, app.fabric?.generation, ...counts].join();

		if (key === this.had)
			return;
		this.had = key;
		const marks = el("ul", { class: "marks", "aria-label": "Marks" });
		for (let mark = MARK.lost; mark >= MARK.watch; mark--)
			marks.append(this.item(app, mark, counts[mark]));
		refill(byId("legend"), scale(app.address.show, app), marks);
	}

	private item(app: App, mark: number, n: number): HTMLElement {
		const canvas = el("canvas", { "aria-hidden": "true" });
		drawMark(prepare(canvas, 16, 16, window.devicePixelRatio || 1), mark, 8, 8, 13, app.theme);
		const name = markNames[mark] === "watch" ? "watch" : markNames[mark] === "trouble" ? "unfinished" : markNames[mark];

		return el("li", {}, n === 0 ? el("span", { class: "none", title: meanings[mark] }, canvas, name)
			: el("button", { type: "button", title: `${meanings[mark]}: to the next`,
				onclick: () => this.toNext(app, mark) }, canvas, `${name} `, el("b", {}, count(n))));
	}

	private toNext(app: App, mark: number): void {
		const f = app.fabric;

		if (!f)
			return;
		const from = (this.next.get(mark) ?? -1) + 1;
		for (let i = 0; i < f.rows; i++) {
			const row = (from + i) % f.rows, sw = f.nodeOf[row];
			if (app.marks[row] !== mark || !isSwitch(f, sw))
				continue;
			this.next.set(mark, row);
			app.goTo(f.guids[sw], portOf(f, row));
			return;
		}
	}
}
