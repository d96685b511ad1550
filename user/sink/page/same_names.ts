// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Functions that only their source files tell apart, and how much of a file's path is shown beside the name: as in C
// (user/sink/same_names.h).

const FOLDERS = 4;              // more are the whole path

function tailOf(file: string, folders: number): string {
	return folders >= FOLDERS ? file : file.split('/').slice(-folders - 1).join('/');
}

interface Group { files: string[]; folders: number; tails: Set<string> }

export class SameNames {
	private readonly groups = new Map<string, Group>();     // by name, module and kind

	/** Add a function; file: '' if none tells it apart. */
	add(key: string, file: string): void {
		let group = this.groups.get(key);
		if (!group)
			this.groups.set(key, group = { files: [], folders: 0, tails: new Set() });
		group.files.push(file);
		if (!file)
			return;
		const { tails } = group, tail = tailOf(file, group.folders), isNew = !tails.has(tail);
		tails.add(tail);
		for (let isApart = isNew; !isApart && group.folders < FOLDERS;) {
			const files = group.files.filter(Boolean), { length } = files;
			group.folders++;
			group.tails = new Set(files.map(each => tailOf(each, group!.folders)));
			isApart = group.tails.size === length;
		}
	}

	/** What to show of the file of a function; '': nothing. */
	file(key: string, file: string): string {
		const group = this.groups.get(key);
		return group && group.files.length > 1 && file ? tailOf(file, group.folders) : '';
	}
}
