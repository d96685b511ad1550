// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A profile.proto of what is shown, with the same samples, labels and comments as user/sink/format/pprof.c. The page
// has no addresses and build IDs: locations are frames by name and source line, and mappings are files without a range.

import type { Words } from './data';
import { Code, INLINED, KIND_ROWS, NATIVE, TIERS, plainKind } from './kinds';
import { Protobuf, fieldsOf } from './protobuf';
import { Rows } from './rows';
import { SavedFrames, SavedProcesses, SavedTexts, timeNs, type Shown } from './saved';
import { withoutControls } from './text';

// Numbers of the fields in google/pprof, proto/profile.proto.
const PROFILE = { sampleType: 1, sample: 2, mapping: 3, location: 4, function: 5, string: 6, timeNs: 9, durationNs: 10,
	periodType: 11, period: 12, comment: 13, defaultType: 14 };
const VALUE_TYPE = { type: 1, unit: 2 };
const SAMPLE = { location: 1, value: 2, label: 3 };
const LABEL = { key: 1, string: 2, number: 3 };
const MAPPING = { id: 1, file: 5, hasFunctions: 7, hasFiles: 8, hasLines: 9, hasInlined: 10 };
const LOCATION = { id: 1, mapping: 2, line: 4 };
const LINE = { function: 1, number: 2 };
const FUNCTION = { id: 1, name: 2, systemName: 3, file: 4 };

const FATES = ['resolved', 'code_unknown', 'stack_cut', 'lost'] as const;

const isProgram = (path: string) => path.includes('/') && !path.slice(path.lastIndexOf('/')).includes('.so');

/** The ledger; lost samples appear nowhere else in this format. And what is shown of it. */
function commentsOf({ run: { run, samples, throttled }, samples: { size, samples: counts }, filters }: Shown, words: Words): string[] {
	const cut = Object.entries(samples.cut).filter(([, n]) => n), shown = counts.subarray(0, size).reduce((sum, n) => sum + n, 0);
	return [
		`jitbpf: ${run.event || '[unknown]'}${run.unit ? `, a sample for each ${run.period}` : ` at ${run.freq_hz} Hz`}, ${run.cpus} CPU${run.cpus === 1 ? '' : 's'}, ${run.host}, Linux ${run.kernel}`,
		`profiled: ${run.command || 'the whole system'}`,
		`samples taken: ${samples.taken} = ${FATES.map(fate => `${samples[fate]} ${words.fates[fate]}`).join(' + ')}`,
		...(cut.length ? [`${words.fates.stack_cut}: ${cut.map(([key, n]) => `${n} ${words.cuts[key]}`).join(', ')}`] : []),
		...(throttled.intervals || throttled.ns ? [`throttled: ${throttled.ns} ns in ${throttled.intervals} intervals`] : []),
		...(filters.length ? [`saved from a page: ${shown} samples, ${filters.join(', ')}`] : []),
	];
}

class PprofWriter {
	private readonly out = new Protobuf();
	private readonly frames: SavedFrames;
	private readonly processes: SavedProcesses;
	private readonly texts: SavedTexts;
	private readonly lines = new Rows();            // of label and source line
	private readonly locations = new Rows();        // of line, and of the location that it is inlined into, or -1
	private readonly mappings = new Rows();         // of module, and of enum Code
	private readonly functions = new Rows();        // of name and file
	private readonly location: Int32Array;          // by node: number of its location; 0: not a frame
	private readonly program: Int32Array;           // by node: mapping of the outermost program, plus 1

	constructor(private readonly shown: Shown) {
		this.frames = new SavedFrames(shown);
		this.processes = new SavedProcesses(shown.profile, shown.run);
		this.texts = new SavedTexts(shown.profile.strings, withoutControls);
		this.location = new Int32Array(shown.tree.count);
		this.program = new Int32Array(shown.tree.count);
		this.locate();
	}

	/** The mapping of a label, plus 1; 0: nothing is known at its address. */
	private mappingOf(label: number): number {
		const { labels, strings } = this.shown.profile, module = labels.module[label], kind = plainKind(labels.kind[label]);
		const code = kind ? KIND_ROWS[kind].code : strings[module] === '//anon' ? Code.anonymous : Code.none;
		return code ? this.mappings.add(module, code) + 1 : 0;
	}

	private locate(): void {
		const { frames: { head, above }, location, program, lines, locations, shown: { tree, profile: { labels, strings } } } = this;
		this.frames.each(node => {
			const label = tree.label[node], up = tree.parent[node], line = lines.add(label, tree.sourceOf(node));
			location[node] = locations.add(line, head[node] === node ? -1 : location[up] - 1) + 1;
			program[node] = head[node] === node ? program[above[node]] : program[up];
			if (!program[node] && plainKind(labels.kind[label]) === NATIVE && isProgram(strings[labels.module[label]]))
				program[node] = this.mappingOf(label);
		});
	}

	/** The weight of a sample: of CPU time, in ns. */
	private get period(): number {
		const { freq_hz, unit, period } = this.shown.run.run;
		if (unit)
			return period || 1;
		return freq_hz ? Math.floor(1e9 / freq_hz) : 0;
	}

	private putValueType(field: number, type: string, unit: string): void {
		const { out, texts } = this, begin = out.begin(field);
		out.number(VALUE_TYPE.type, texts.of(type));
		out.number(VALUE_TYPE.unit, texts.of(unit));
		out.end(begin);
	}

	private putRun(): void {
		const { out, texts, shown, shown: { run: { run }, profile: { words } } } = this, [from, to] = timeNs(shown);
		this.putValueType(PROFILE.sampleType, 'samples', 'count');
		const weight = run.unit ? run.event : 'cpu', unit = run.unit ? 'count' : 'nanoseconds';
		this.putValueType(PROFILE.sampleType, weight, unit);
		this.putValueType(PROFILE.periodType, weight, unit);
		out.number(PROFILE.period, this.period);
		out.number(PROFILE.timeNs, run.wall_clock_ns && run.wall_clock_ns + from);
		out.number(PROFILE.durationNs, to - from);
		out.number(PROFILE.defaultType, texts.of(weight));
		for (const comment of commentsOf(shown, words))
			out.number(PROFILE.comment, texts.of(comment));
	}

	private putLabel(out: Protobuf, key: string, value: string | number): void {
		const begin = out.begin(SAMPLE.label);
		out.number(LABEL.key, this.texts.of(key));
		if (typeof value === 'string')
			out.number(LABEL.string, this.texts.of(value));
		else
			out.number(LABEL.number, value);
		out.end(begin);
	}

	/** The labels of samples of a thread, or of a process without threads (-1). */
	private threadLabels(thread: number, process: number): Uint8Array {
		const { processes, shown: { profile: { threads, strings } } } = this, name = processes.nameOf(process, thread);
		return fieldsOf(out => {
			if (name)
				this.putLabel(out, 'process', name);
			if (thread < 0)
				return;
			this.putLabel(out, 'pid', threads.pid[thread]);
			this.putLabel(out, 'thread', strings[threads.comm[thread]]);
			this.putLabel(out, 'tid', threads.tid[thread]);
			for (const [key, text] of Object.entries(processes.cgroupOf(thread)))
				if (text)
					this.putLabel(out, key, text);
		});
	}

	private putSamples(): void {
		const { out, shown: { tree, profile: { labels }, samples: { size, node, thread, samples } }, location, period } = this;
		const { above, isFrame, process } = this.frames, rows = new Rows(), sums = new Float64Array(size);
		for (let i = 0; i < size; i++)
			sums[rows.add(node[i], thread ? thread[i] : -1)] += samples[i];
		const threads = new Rows(), threadLabels: Uint8Array[] = [], kindLabels: Uint8Array[] = [];
		for (let i = 0; i < rows.count; i++) {
			const leaf = rows.a[i], label = tree.label[leaf], kind = plainKind(labels.kind[label]), tier = labels.tier[label], own = threads.add(rows.b[i], process[leaf]);
			if (!sums[i])
				continue;
			const sample = out.begin(PROFILE.sample), list = out.begin(SAMPLE.location);
			for (let at = leaf; location[at]; at = above[at])
				out.varint(location[at]);
			out.end(list);
			const values = out.begin(SAMPLE.value);
			out.varint(sums[i]);
			out.varint(sums[i] * period);
			out.end(values);
			out.raw(threadLabels[own] ??= this.threadLabels(rows.b[i], process[leaf]));
			if (isFrame[leaf])
				out.raw(kindLabels[kind * TIERS.length + tier] ??= fieldsOf(labels => {
					this.putLabel(labels, 'kind', KIND_ROWS[kind].word);
					if (tier)
						this.putLabel(labels, 'tier', TIERS[tier]);
				}));
			out.end(sample);
			out.pass();
		}
	}

	/** Readers take the first mapping for the main program: the outermost program of most samples. */
	private mainMapping(): number {
		const { program, mappings, shown: { samples: { size, node, samples } } } = this, sums = new Float64Array(mappings.count + 1);
		for (let i = 0; i < size; i++)
			sums[program[node[i]]] += samples[i];
		sums[0] = 0;
		return sums.reduce((best, sum, i) => sum > sums[best] ? i : best, 0);
	}

	private putLocations(): void {
		const { out, lines, locations, functions, texts, shown: { profile: { labels, sources } } } = this;
		const has = { files: new Set<number>(), lines: new Set<number>(), inlined: new Set<number>() };
		for (let i = 0; i < locations.count; i++) {
			const location = out.begin(PROFILE.location);
			let outermost = i;
			while (locations.b[outermost] >= 0)
				outermost = locations.b[outermost];
			const mapping = this.mappingOf(lines.a[locations.a[outermost]]);
			out.number(LOCATION.id, i + 1);
			out.nonzero(LOCATION.mapping, mapping);
			for (let at = i; at >= 0; at = locations.b[at]) {
				const label = lines.a[locations.a[at]], source = lines.b[locations.a[at]], line = out.begin(LOCATION.line);
				out.number(LINE.function, functions.add(texts.ofString(labels.name[label]), texts.ofString(sources.file[source])) + 1);
				out.nonzero(LINE.number, sources.line[source]);
				out.end(line);
				if (sources.file[source])
					has.files.add(mapping);
				if (sources.line[source])
					has.lines.add(mapping);
				if (labels.kind[label] & INLINED)
					has.inlined.add(mapping);
			}
			out.end(location);
			out.pass();
		}
		this.putMappings(has);
	}

	private putMappings(has: Record<'files' | 'lines' | 'inlined', Set<number>>): void {
		const { out, mappings, texts } = this, main = this.mainMapping();
		const put = (id: number) => {
			const begin = out.begin(PROFILE.mapping);
			out.number(MAPPING.id, id);
			out.number(MAPPING.file, texts.ofString(mappings.a[id - 1]));
			out.number(MAPPING.hasFunctions, 1);
			out.nonzero(MAPPING.hasFiles, Number(has.files.has(id)));
			out.nonzero(MAPPING.hasLines, Number(has.lines.has(id)));
			out.nonzero(MAPPING.hasInlined, Number(has.inlined.has(id)));
			out.end(begin);
		};
		if (main)
			put(main);
		for (let id = 1; id <= mappings.count; id++)
			if (id !== main)
				put(id);
	}

	private putFunctions(): void {
		const { out, functions } = this;
		for (let i = 0; i < functions.count; i++) {
			const begin = out.begin(PROFILE.function);
			out.number(FUNCTION.id, i + 1);
			out.number(FUNCTION.name, functions.a[i]);
			out.number(FUNCTION.systemName, functions.a[i]);
			out.nonzero(FUNCTION.file, functions.b[i]);
			out.end(begin);
			out.pass();
		}
	}

	/** Readers accept fields in any order. Strings come last, when all are known. */
	write(): Uint8Array<ArrayBuffer>[] {
		this.putRun();
		this.putSamples();
		this.putLocations();
		this.putFunctions();
		for (const text of this.texts.texts) {
			this.out.text(PROFILE.string, text);
			this.out.pass();
		}
		return this.out.finish();
	}
}

export function pprofOf(shown: Shown): Uint8Array<ArrayBuffer>[] {
	return new PprofWriter(shown).write();
}
