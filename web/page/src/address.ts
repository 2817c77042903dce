// SPDX-License-Identifier: BSD-2-Clause
// What is shown stands in the address: ?show=wait&at=leaf-1:7.  What makes no sense there is told.

export const shows = ["load", "wait", "errors", "health", "planned", "difference"] as const;
export type Show = typeof shows[number];
export const sides = ["trouble", "health", "events", "routing"] as const;
export type Side = typeof sides[number];

export interface Address {
	show: Show;
	over: "now" | "hour";
	as: "map" | "table";
	side: Side;
	at: string; /* NODE or NODE:PORT, by name or GUID; "": nothing */
	from: string; /* of a path */
	to: string;
}

export const plain: Address = { show: "load", over: "now", as: "map", side: "trouble", at: "", from: "", to: "" };

const words: Record<string, readonly string[] | null> = {
	show: shows, over: ["now", "hour"], as: ["map", "table"], side: sides, at: null, from: null, to: null,
};

/* The address, and a sentence for each thing in it that makes no sense. */
export function readAddress(query: string): { address: Address; wrong: string[] } {
	const address: Address = { ...plain }, wrong: string[] = [];

	for (const [key, value] of new URLSearchParams(query)) {
		if (!Object.prototype.hasOwnProperty.call(words, key)) {
			wrong.push(`The address has ${key}=, which this page does not know.`);
			continue;
		}
		const known = words[key];
		if (known && !known.includes(value))
			wrong.push(`The address has ${key}=${value}: it takes ${known.join(", ")}.`);
		else
			(address as unknown as Record<string, string>)[key] = value;
	}
	if ((address.from === "") !== (address.to === "")) {
		wrong.push("The address has only one end of a path: it takes from= and to=.");
		address.from = address.to = "";
	}
	return { address, wrong };
}

export function writeAddress(a: Address): string {
	const query = new URLSearchParams();

	for (const key of Object.keys(words) as (keyof Address)[])
		if (a[key] !== plain[key])
			query.set(key, a[key]);
	const text = query.toString().replace(/%3A/g, ":");
	return text === "" ? "?" : "?" + text;
}

/* "leaf-1:7", "leaf-1", "0x0002c903:7".  port 0: none is named. */
export function readPlace(at: string): { node: string; port: number } {
	const found = /^(.*):(\d{1,3})$/.exec(at);

	return found ? { node: found[1], port: Number(found[2]) } : { node: at, port: 0 };
}
