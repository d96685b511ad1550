// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Loads modules of the page (user/sink/page/), for tests without a browser.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';

const pageFolder = new URL('../../user/sink/page/', import.meta.url).pathname;

/** All that the modules export. */
export async function load(...names) {
	const { buildSync } = createRequire(pageFolder)('esbuild');
	const { outputFiles: [bundle] } = buildSync({
		stdin: { contents: names.map(name => `export * from './${name}';`).join(''), resolveDir: pageFolder },
		bundle: true, write: false, format: 'esm', target: 'es2022',
	});
	const folder = mkdtempSync(tmpdir() + '/jitbpf-ui-'), file = folder + '/page.mjs';
	writeFileSync(file, bundle.contents);
	const modules = await import(file);
	rmSync(folder, { recursive: true });
	return modules;
}

export const run = (program, ...args) =>
	execFileSync(program, args, { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] });

/** The text of a page's data. */
export const textIn = page => /id="profile">(.*?)<\/script>/s.exec(page.toString())[1];

/** Random numbers below a limit, each time the same. */
export function randoms() {
	let state = 1;
	return below => {
		state = (Math.imul(state, 1103515245) + 12345) >>> 0;
		return Math.floor(state / 2 ** 32 * below);
	};
}
