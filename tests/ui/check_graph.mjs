// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The part of the picture that is in view (user/sink/page/graph.ts), while samples are added. A clock and a drawing
// surface stand in for those of a browser.
//   node check_graph.mjs
import assert from 'node:assert';
import { load } from './page_modules.mjs';

const WIDTH = 1000, MOVE_MS = 180;
let now = 0, frames = [];

Object.defineProperty(globalThis, 'performance', { value: { now: () => now } });
globalThis.matchMedia = () => ({ matches: false, addEventListener() {} });
globalThis.devicePixelRatio = 1;
globalThis.document = { documentElement: { dataset: {} } };
globalThis.requestAnimationFrame = act => frames.push(act);
globalThis.cancelAnimationFrame = () => {};

/** The browser draws at a time. */
function draw(ms) {
	now = ms;
	for (const act of frames.splice(0))
		act(now);
}

const { Graph, Tree } = await load('graph', 'tree');
const pen = new Proxy({}, { get: (_, key) => key === 'measureText' ? () => ({ width: 7 }) : () => {}, set: () => true });
const element = () => ({ style: {}, clientWidth: WIDTH, clientHeight: 400, scrollTop: 0, addEventListener() {} });

/** A graph of a root with two nodes: 1, with a child 2, of 10 samples, and 3, of 30. */
function made() {
	const box = Object.assign(element(), { querySelector: name => name === 'canvas' ? { ...element(), getContext: () => pen } : element() });
	const graph = new Graph(box, { name: String }), tree = new Tree(1, (a, b) => a - b), nodes = [tree.child(tree.child(0, 1), 2), tree.child(0, 3)];
	now = 0;
	frames = [];
	const add = (...samples) => tree.add({ size: samples.length, node: nodes, side: [0, 0], samples });
	add(10, 30);
	graph.tree = tree;
	graph.fit();
	graph.show(tree, []);
	return { graph, tree, add, path: [1, 2], node: nodes[0] };
}

const range = graph => [graph.from, graph.to];

/** Refreshes at any time of a movement: it arrives. */
function checkMovement() {
	for (let at = 0; at <= MOVE_MS; at += 20) {
		const { graph, tree, add, path, node } = made();
		graph.zoom(node);
		draw(at);
		const part = (graph.to - graph.from) / 40, show = graph.hold();
		add(10, 30);
		show(tree, path);
		assert.equal((graph.to - graph.from) / 80, part, 'a refresh changes nothing that is in view');
		assert.equal(graph.goal === null, at === MOVE_MS);
		for (let ms = at; ms <= at + MOVE_MS + 20; ms += 20)
			draw(ms);
		assert.deepEqual(range(graph), [0, 20], `after a refresh at ${at} ms`);
		assert.equal(graph.isWhole, false);
		graph.zoom(0);
		draw(now + 20);
		graph.hold()(tree, []);
		for (let left = 15; left; left--)
			draw(now + 20);
		assert(graph.isWhole, 'back to everything');
	}
}

/** What a person has moved to since stays, and a movement does not come back. */
function checkLook() {
	const { graph, tree, add, path, node } = made();
	graph.zoom(node);
	draw(20);
	graph.look(2, 4);
	const show = graph.hold();
	add(10, 30);
	show(tree, path);
	draw(500);
	assert.deepEqual(range(graph), [4, 8]);
}

/** A frame that is at another depth, since frames above it have got names, keeps its part of the view. */
function checkDeeper() {
	const { graph, tree, path, node } = made();
	graph.zoom(node);
	draw(MOVE_MS);
	graph.look(5, 10);
	const show = graph.hold(), up = tree.child(tree.child(0, 4), 1), deeper = tree.child(up, 2);
	tree.add({ size: 2, node: [node, deeper], side: [0, 0], samples: [-10, 10] });
	show(tree, [4, 1, 2]);
	assert.equal(graph.focus, deeper);
	assert.deepEqual(range(graph), [35, 40]);
	graph.hold()(tree, [4, 1, 9]);
	assert.deepEqual(range(graph), [30, 40], 'a path that does not exist: the last node on it');
}

checkMovement();
checkLook();
checkDeeper();
console.log('graph: ok');
