// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/** Calls fillArray() the given number of times. Nearly all of its time is in inlinedHelper(). */
public class Fill {
	private static int sink;

	private static int inlinedHelper(int[] array, int start) {
		int hash = start;

		for (int i = 0; i < 64; i++)
			hash = hash * 31 + array[hash & 4095];
		return hash;
	}

	private static void fillArray(int[] array, int seed) {
		for (int i = 0; i < array.length; i++) {
			for (int j = 0; j < 8; j++)
				array[i] += inlinedHelper(array, seed + j);
		}
	}

	public static void main(String[] arguments) {
		int[] array = new int[4096];
		int rounds = Integer.parseInt(arguments[0]);

		for (int i = 0; i < rounds; i++) {
			fillArray(array, i);
			sink += array[i & 4095];
		}
		System.out.println(sink);
	}
}
