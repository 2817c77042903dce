// SPDX-License-Identifier: BSD-2-Clause
// The search: nodes by name, GUID or LID while it is typed; a port as NODE:PORT; a path as A > B.

import type { App } from "./app";
import { readPlace } from "./address";
import { byId, el } from "./dom";
import { HOST, nodeBy, type Fabric } from "./fabric";

const SHOWN = 12;

/* Nodes that the words may mean, the best first.  O(nodes). */
export function findNodes(f: Fabric, words: string, most = SHOWN): number[] {
	const text = words.trim().toLowerCase(), ranked: [number, number][] = [];

	if (text === "")
		return [];
	for (let node = 0; node < f.n; node++) {
		const name = f.names[node].toLowerCase(), at = name.indexOf(text);
		let rank = -1;
		if (name === text || f.guids[node] === text || f.guids[node] === `0x${text}`)
			rank = 0;
		else if (/^\d+$/.test(text) && [f.lids[node]].flat().includes(Number(text)))
			rank = 1;
		else if (at === 0)
			rank = 2;
		else if (at > 0)
			rank = 3;
		else if (text.length >= 4 && f.guids[node].includes(text.replace(/^0x/, "")))
			rank = 4;
		if (rank >= 0)
			ranked.push([rank + (f.types[node] === HOST ? 0.5 : 0) + name.length / 1000, node]);
	}
	return ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, most).map(([, node]) => node);
}

/* The two sides of "A > B"; null: it is no path. */
export function splitPath(words: string): { from: string; to: string } | null {
	const found = /^(.*?)\s*(?:->|>|→)\s*(.*)$/.exec(words.trim());

	return found ? { from: found[1].trim(), to: found[2].trim() } : null;
}

/* What stands for a node in an address. */
export function addressOf(f: Fabric, node: number): string {
	return nodeBy(f, f.names[node]) === node ? f.names[node] : f.guids[node];
}

export class Find {
	private input = byId<HTMLInputElement>("find");
	private list = byId("found");
	private found: number[] = [];
	private at = -1;

	constructor(private app: App) {
		byId("find-form").addEventListener("submit", e => {
			e.preventDefault();
			this.take();
		});
		this.input.addEventListener("input", () => this.suggest());
		this.input.addEventListener("keydown", e => this.onKey(e));
		this.input.addEventListener("blur", () => setTimeout(() => this.close(), 150));
		document.addEventListener("keydown", e => {
			const at = e.target as HTMLElement;
			if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || at.tagName === "INPUT" && (at as HTMLInputElement).type === "search")
				return;
			e.preventDefault();
			this.input.focus();
			this.input.select();
		});
	}

	/* What is being typed: all, or behind the ">". */
	private part(): { before: string; words: string } {
		const text = this.input.value, at = Math.max(text.lastIndexOf(">"), text.lastIndexOf("→"));

		return { before: at < 0 ? "" : text.slice(0, at + 1) + " ", words: text.slice(at + 1) };
	}

	private suggest(): void {
		const f = this.app.fabric;

		this.found = f ? findNodes(f, readPlace(this.part().words.trim()).node) : [];
		this.at = -1;
		this.list.replaceChildren(...this.found.map((node, i) => el("li", { role: "option", id: `found-${i}`, "aria-selected": "false",
			onmousedown: e => {
				e.preventDefault();
				this.at = i;
				this.take();
			} }, el("span", {}, f!.names[node] || f!.guids[node]),
			el("small", {}, `${node >= f!.nPresent ? "lost " : ""}${f!.types[node] === HOST ? "host" : "switch"}`))));
		this.list.hidden = this.found.length === 0;
		this.input.setAttribute("aria-expanded", String(this.found.length > 0));
		this.input.removeAttribute("aria-activedescendant");
	}

	private close(): void {
		this.list.hidden = true;
		this.at = -1;
		this.input.setAttribute("aria-expanded", "false");
		this.input.removeAttribute("aria-activedescendant");
	}

	private onKey(e: KeyboardEvent): void {
		if (e.key === "Escape") {
			if (this.list.hidden)
				this.input.blur();
			this.close();
			e.stopPropagation();
			return;
		}
		const by = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
		if (by === 0 || this.found.length === 0)
			return;
		e.preventDefault();
		this.at = (this.at + by + this.found.length) % this.found.length;
		[...this.list.children].forEach((li, i) => li.setAttribute("aria-selected", String(i === this.at)));
		this.list.children[this.at].scrollIntoView({ block: "nearest" });
		this.input.setAttribute("aria-activedescendant", `found-${this.at}`);
	}

	private take(): void {
		const f = this.app.fabric, { before, words } = this.part();
		let text = words.trim();

		if (!f || (text === "" && this.at < 0))
			return;
		const place = readPlace(text), known = nodeBy(f, text) >= 0 || nodeBy(f, place.node) >= 0;
		/* what is chosen, the only one that is meant, or what is typed, which the page then says is not there */
		const pick = this.at >= 0 ? this.found[this.at] : !known && this.found.length > 0 ? this.found[0] : -1;
		if (pick >= 0)
			text = addressOf(f, pick) + (place.port > 0 && this.at < 0 ? `:${place.port}` : "");
		const path = splitPath(before + text);
		this.close();
		if (path && path.from !== "") {
			const first = findNodes(f, path.from, 1);
			const from = nodeBy(f, path.from) >= 0 || first.length === 0 ? path.from : addressOf(f, first[0]);
			this.input.value = `${from} > ${path.to}`;
			this.app.go({ from, to: path.to, at: "" });
		} else {
			this.input.value = text;
			this.app.go({ at: text, from: "", to: "" });
		}
	}
}
