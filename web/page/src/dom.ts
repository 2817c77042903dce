// SPDX-License-Identifier: BSD-2-Clause
// Elements made by script.  Text only ever goes in as text: names come from the wire.

type Child = Node | string | null | undefined | false;
type Props = Record<string, string | number | boolean | ((event: Event) => void) | null | undefined>;

/* on...: a listener; class, aria-..., data-...: attributes; true: an attribute without a value. */
export function el<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
	const e = document.createElement(tag);

	for (const [key, value] of Object.entries(props)) {
		if (typeof value === "function")
			e.addEventListener(key.slice(2), value);
		else if (value !== null && value !== undefined && value !== false)
			e.setAttribute(key, value === true ? "" : String(value));
	}
	put(e, ...children);
	return e;
}

export function put(e: Element, ...children: Child[]): void {
	for (const child of children)
		if (child)
			e.append(child);
}

export function refill(e: Element, ...children: Child[]): void {
	e.replaceChildren();
	put(e, ...children);
}

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
	const e = document.getElementById(id);

	if (!e)
		throw new Error(`index.html has no ${id}`);
	return e as T;
}

/* Only where it is another one: what has not changed is not told anew by screen readers. */
export function say(e: Element, text: string): void {
	if (e.textContent !== text)
		e.textContent = text;
}
