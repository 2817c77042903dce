// SPDX-License-Identifier: BSD-2-Clause
// What a cell's byte looks like: a scale for each thing to be shown, light and dark.
//
// Lightness runs one way along each scale (of the difference: away from the middle), so that it can
// be read without telling hues apart.  Where all is well the colours are quiet.

import { errorsOf, loadOf, waitOf } from "./cells";
import type { Show } from "./address";

export type Theme = "light" | "dark";
type Rgb = [number, number, number];

const stops: Record<Theme, Record<string, string[]>> = {
	light: {
		load: ["#e4eaf0", "#c3d8ea", "#8fbbdd", "#4f93c6", "#2464a4", "#2b2f7c", "#3d0f52"],
		wait: ["#e4eaf0", "#f4deb8", "#edb266", "#d67b2c", "#a84a17", "#6b2409"],
		errors: ["#e4eaf0", "#f0b9c4", "#dc6f8b", "#b8325f", "#7d0f41", "#4a0027"],
		planned: ["#e4eaf0", "#c4e2d4", "#86c5a8", "#429c7a", "#1b6b55", "#083d33"],
		difference: ["#0b3c7a", "#3f7fbf", "#a9cbe6", "#e8ebee", "#f0c592", "#cf7f2a", "#7a3a06"],
	},
	dark: {
		load: ["#222b35", "#1f4663", "#20688f", "#2f8fb3", "#66b8b8", "#b6dc9a", "#fbf08a"],
		wait: ["#222b35", "#4c3a22", "#85591f", "#c07f26", "#eeb04c", "#ffe2a0"],
		errors: ["#222b35", "#55263c", "#8f2f5b", "#cc4a80", "#f488ab", "#ffd0dc"],
		planned: ["#222b35", "#1f4a40", "#22705c", "#36987a", "#74c3a0", "#c8efd6"],
		difference: ["#9ad0ff", "#4b90cf", "#27527d", "#262d36", "#6e4a1d", "#c98535", "#ffcf8a"],
	},
};

/* Health is told by the byte itself; the last three also have marks. */
export const HEALTH = { unknown: 0, ok: 1, watch: 2, trouble: 3, isolated: 4, bad: 5 };
const health: Record<Theme, string[]> = {
	light: ["#f1f3f5", "#cfe3d6", "#f0cf7a", "#c9a6e8", "#7fb0ea", "#e2575b"],
	dark: ["#1b2129", "#234434", "#8f6b1a", "#6c4a92", "#2f68ad", "#d5454c"],
};

export function healthColour(theme: Theme, byte: number): string {
	return health[theme][Math.min(byte, health[theme].length - 1)];
}

/* Of cells of which nothing is known, of ports without a cable, and of what is lost. */
export const ground: Record<Theme, { page: string; unknown: string; none: string; lost: string; ink: string; soft: string; line: string }> = {
	light: { page: "#ffffff", unknown: "#eceef0", none: "#f5f6f7", lost: "#2a3038", ink: "#1c2329", soft: "#59636e", line: "#d5dbe1" },
	dark: { page: "#12171d", unknown: "#1d242c", none: "#171d24", lost: "#c9d1d9", ink: "#e8edf2", soft: "#9aa7b4", line: "#2f3944" },
};

export const markColour: Record<Theme, Record<string, string>> = {
	light: { bad: "#c4161c", lost: "#11161b", isolated: "#0a58b8", trouble: "#7a2fc0", watch: "#8a5a00" },
	dark: { bad: "#ff5c5f", lost: "#f4f7fa", isolated: "#6cb2ff", trouble: "#c79bff", watch: "#ffc94d" },
};

/* As --load in app.css. */
export const curveColour: Record<Theme, string> = { light: "#2f74b5", dark: "#3f9fc6" };

function rgb(hex: string): Rgb {
	return [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16)) as Rgb;
}

function pixel([r, g, b]: Rgb): number {
	return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
}

export function pixelOf(hex: string): number {
	return pixel(rgb(hex));
}

/* t: 0 to 1. */
export function scaleAt(theme: Theme, which: string, t: number): Rgb {
	const list = stops[theme][which], at = Math.min(1, Math.max(0, t)) * (list.length - 1);
	const i = Math.min(list.length - 2, Math.floor(at)), part = at - i;
	const a = rgb(list[i]), b = rgb(list[i + 1]);

	return a.map((v, k) => Math.round(v + (b[k] - v) * part)) as Rgb;
}

export const WAIT_DECADES = 8, ERROR_DOUBLINGS = 16;

/* Where a byte lies on its scale, 0 to 1; NaN: it is not known. */
export function placeOf(show: Show, byte: number): number {
	switch (show) {
	case "load":
		return Math.sqrt(loadOf(byte));
	case "wait":
		return byte <= 1 ? waitOf(byte) : Math.min(1, Math.max(0.06, Math.log10(waitOf(byte)) / WAIT_DECADES));
	case "errors":
		return byte === 0 ? 0 : Math.min(1, 0.2 + 0.8 * Math.log2(errorsOf(byte)) / ERROR_DOUBLINGS);
	case "planned":
	case "difference":
		return byte === 0 ? NaN : (byte - 1) / 254;
	case "health":
		return NaN;
	}
}

/* The colour of each byte, as a pixel of an ImageData. */
export function palette(show: Show, theme: Theme): Uint32Array {
	const colours = new Uint32Array(256), unknown = pixelOf(ground[theme].unknown);

	for (let byte = 0; byte < 256; byte++) {
		if (show === "health") {
			colours[byte] = pixelOf(healthColour(theme, byte));
			continue;
		}
		const t = placeOf(show, byte);
		colours[byte] = Number.isNaN(t) ? unknown : pixel(scaleAt(theme, show, t));
	}
	return colours;
}
