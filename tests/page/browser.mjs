// SPDX-License-Identifier: BSD-2-Clause
// A headless browser without a GPU on fmd-web's page, and what of it is looked at: which requests it
// makes, what it complains about, which ports it draws.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const top = process.env.FMD_TOP || join(dirname(fileURLToPath(import.meta.url)), "../..");
const packages = createRequire(join(top, "web/page/package.json"));
const BROWSERS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
const SKIPPED = 77;
export const WAIT_MS = 60000;

export function fail(sentence) {
	console.error(`FAIL: ${sentence}`);
	process.exit(1);
}

function skip(sentence) {
	console.error(`${sentence}: skipped`);
	process.exit(SKIPPED);
}

/* What is not installed ends the program by 77. */
export async function openBrowser() {
	const path = process.env.FMD_BROWSER || BROWSERS.find(existsSync);
	let puppeteer;

	if (!path)
		skip("chromium-headless-shell is absent");
	try {
		puppeteer = await import(pathToFileURL(packages.resolve("puppeteer-core")).href);
	} catch {
		skip("puppeteer-core is absent (npm ci in web/page)");
	}
	/* root has no sandbox; what it shows is our own page */
	return puppeteer.launch({ executablePath: path, headless: "shell", args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
}

/* A window on an address, and all that went wrong in it so far. */
export async function openPage(browser, address, scheme = "light") {
	const page = await browser.newPage(), here = new URL(address), seen = { elsewhere: [], said: [], refused: [], paths: new Set() };

	await page.setViewport({ width: 1600, height: 900 });
	await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
	page.on("request", r => {
		if (new URL(r.url()).origin !== here.origin || !new URL(r.url()).pathname.startsWith(here.pathname))
			seen.elsewhere.push(r.url());
		seen.paths.add(new URL(r.url()).pathname);
	});
	page.on("response", r => r.status() >= 400 && seen.refused.push(`${r.status()} ${r.url()}`));
	/* pixels are read back by us alone */
	page.on("console", m => ["error", "warn"].includes(m.type()) && !m.text().includes("readback") && seen.said.push(m.text()));
	page.on("pageerror", e => seen.said.push(String(e)));
	await page.evaluateOnNewDocument(() => {
		window.violations = [];
		document.addEventListener("securitypolicyviolation", e => window.violations.push(`${e.violatedDirective} ${e.blockedURI}`));
	});
	await page.goto(address, { waitUntil: "domcontentloaded" });
	return { page, seen };
}

/* Wait until something holds in the page. */
export async function until(page, what, test, ...args) {
	try {
		await page.waitForFunction(test, { timeout: WAIT_MS, polling: 100 }, ...args);
	} catch {
		fail(`${what}: never; the page says: ${(await page.evaluate(() => document.body.innerText)).slice(0, 1500)}`);
	}
}

export async function isDrawn(page) {
	await until(page, "a cell is drawn", () => {
		const c = document.getElementById("cells"), at = c?.getContext("2d");

		if (!at || c.width === 0 || c.height === 0)
			return false;
		const words = new Uint32Array(at.getImageData(0, 0, c.width, c.height).data.buffer);
		return words.some(w => w !== words[0]);
	});
}

/* No violation of the policy, no request elsewhere, no word on the console, no refusal but those named. */
export async function isClean(what, { page, seen }, refused = []) {
	const violations = await page.evaluate(() => window.violations), surplus = seen.refused.filter(r => !refused.some(one => r.includes(one)));
	const said = seen.said.filter(s => !(refused.length > 0 && s.startsWith("Failed to load resource")));

	for (const [name, list] of Object.entries({ violations, elsewhere: seen.elsewhere, console: said, refused: surplus }))
		if (list.length > 0)
			fail(`${what}: ${name}: ${list.join("; ")}`);
}

/* By axe-core, which the browser itself puts in, whatever the policy of the page: nothing serious. */
export async function isAccessible(what, page) {
	await page.evaluate(packages("axe-core").source);
	const worst = await page.evaluate(async () => (await window.axe.run()).violations
		.filter(v => v.impact === "serious" || v.impact === "critical")
		.map(v => `${v.impact} ${v.id}: ${v.nodes.slice(0, 3).map(n => n.html.slice(0, 120)).join(" | ")}`));
	if (worst.length > 0)
		fail(`${what}: axe: ${worst.join("; ")}`);
}

/* {port, as the page names it: {line, and where it is: x, y, right, bottom}}: the pointer goes over the whole map. */
export async function portsDrawn(page, step = 3) {
	return page.evaluate(async step => {
		const above = document.getElementById("above"), frame = above.getBoundingClientRect(), line = document.getElementById("line");
		const found = {};

		for (let y = 0; y < frame.height; y += step)
			for (let x = 0; x < frame.width; x += step) {
				above.dispatchEvent(new PointerEvent("pointermove", { clientX: frame.left + x, clientY: frame.top + y, bubbles: true }));
				const name = line.firstElementChild?.textContent.split(/ (?:–|was cabled to) |, no cable/)[0];
				if (!name)
					continue;
				const port = found[name] ??= { x, y, right: x, bottom: y, line: line.textContent };
				port.right = Math.max(port.right, x);
				port.bottom = Math.max(port.bottom, y);
			}
		above.dispatchEvent(new PointerEvent("pointerleave"));
		return found;
	}, step);
}

/* {port: all pixels where it is}, of what portsDrawn() has found. */
export async function pixelsOf(page, found) {
	return page.evaluate(found => {
		const c = document.getElementById("cells"), at = c.getContext("2d"), scale = c.width / c.clientWidth, pixels = {};

		for (const [name, p] of Object.entries(found))
			pixels[name] = [...at.getImageData(p.x * scale, p.y * scale, Math.max(1, (p.right - p.x) * scale), Math.max(1, (p.bottom - p.y) * scale)).data].join();
		return pixels;
	}, found);
}
