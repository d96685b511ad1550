// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Changes elements into newer ones of the same shape, in place.

/** Make a node like another one. The nodes that are alike stay, and with them focus, selection and scroll positions. */
export function patch(node: Node, made: Node): void {
	if (node instanceof Text) {
		if (node.data !== made.nodeValue)
			node.data = made.nodeValue!;
		return;
	}
	const old = node as Element, newer = made as Element;
	for (const { name, value } of newer.attributes)
		if (old.getAttribute(name) !== value)
			old.setAttribute(name, value);
	for (const { name } of [...old.attributes])
		if (!newer.hasAttribute(name))
			old.removeAttribute(name);
	const children = [...newer.childNodes];
	children.forEach((child, i) => {
		const place = old.childNodes[i];
		if (!place)
			old.append(child);
		else if (place.nodeName === child.nodeName)
			patch(place, child);
		else
			place.replaceWith(child);
	});
	while (old.childNodes.length > children.length)
		old.lastChild!.remove();
}
