// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The random error of sampling, as the terminal's diff has it (user/sink/diff/frame_diff_table.c).

/** Whether a difference of shares is within the random error (2 sigma). */
export function mayBeChance(counts: ArrayLike<number>, whole: ArrayLike<number>): boolean {
	let difference = 0, variance = 0;
	for (let side = 0; side < 2; side++) {
		const share = whole[side] ? counts[side] / whole[side] : 0;
		difference = share - difference;
		variance += whole[side] ? share * (1 - share) / whole[side] : 0;
	}
	return difference ** 2 <= 4 * variance;
}

/** The same for numbers of samples. */
export const countsMayBeChance = ([before, after]: number[]) => (after - before) ** 2 <= 4 * (after + before);
