// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Puts script and style into page.html: node build.mjs [OUTPUT]. The same input gives the same bytes.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { buildSync } from 'esbuild';

const here = name => new URL(name, import.meta.url).pathname;
const output = process.argv[2] ?? here('flamegraph.html');

function bundle(entry, options) {
	const result = buildSync({
		entryPoints: [here(entry)], bundle: true, write: false, minify: true, target: 'es2022',
		charset: 'ascii', legalComments: 'none', logLevel: 'warning', ...options,
	});
	return result.outputFiles[0].text.trim();
}

const parts = { '@STYLE@': bundle('page.css', {}), '@SCRIPT@': bundle('main.ts', { format: 'iife' }) };
const hash = text => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
parts['@STYLE-HASH@'] = hash(parts['@STYLE@']);
parts['@SCRIPT-HASH@'] = hash(parts['@SCRIPT@']);
const page = readFileSync(here('page.html'), 'utf8').replace(/@(STYLE|SCRIPT)(-HASH)?@/g, mark => parts[mark]);

for (const mark of ['@CONNECT@', '@PROFILE@'])
	if (page.split(mark).length !== 2)
		throw new Error(`the mark ${mark} must stand in the page once`);
writeFileSync(output, page);
