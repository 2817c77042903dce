// SPDX-License-Identifier: BSD-2-Clause
// How long it takes from an address to the first picture of all ports, on this machine as it is now.
//
//	first.mjs URL [RUNS]     of an fmd-web that runs, as beside an fmd on fmsim; 7 runs
//
// Each run has nothing kept from before.  The picture is there when its pixels are handed to the
// canvas; the screen has them a frame later.

import { loadavg } from "node:os";
import { openBrowser, openPage, until } from "./browser.mjs";

const [address, runs = "7"] = process.argv.slice(2);
const f = await (await fetch(new URL("api/v1/fabric", address))).json();
const script = (await fetch(new URL("page/app.js", address), { headers: { "Accept-Encoding": "gzip" } })).headers.get("content-length");
const hosts = f.types.filter(t => t === 1).length, cells = f.ports.reduce((sum, n, i) => sum + (f.types[i] === 1 ? 0 : n), 0);

async function once(browser) {
	const context = await browser.createBrowserContext();
	const w = await openPage(context, "about:blank");

	await w.page.evaluateOnNewDocument(() => {
		const put = CanvasRenderingContext2D.prototype.putImageData;
		CanvasRenderingContext2D.prototype.putImageData = function (...args) {
			put.apply(this, args);
			if (this.canvas.id === "cells" && !window.firstDrawn)
				window.firstDrawn = performance.now();
		};
	});
	await w.page.goto(address, { waitUntil: "domcontentloaded" });
	await until(w.page, "the first picture", () => window.firstDrawn > 0);
	const ms = await w.page.evaluate(() => window.firstDrawn);
	await context.close();
	return ms;
}

const browser = await openBrowser();
const took = [];
for (let i = 0; i < Number(runs); i++)
	took.push(await once(browser));
await browser.close();
took.sort((a, b) => a - b);
const s = ms => (ms / 1000).toFixed(2);
console.log(`${hosts} hosts, ${cells} cells, script ${script} bytes by gzip: first drawing ${s(took[Math.floor(took.length / 2)])} s ` +
	`(${s(took[0])} to ${s(took.at(-1))}, ${took.length} runs), load ${loadavg()[0].toFixed(1)}`);
