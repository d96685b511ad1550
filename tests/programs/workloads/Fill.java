// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

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

	private static void run(int rounds) {
		int[] array = new int[4096];

		for (int i = 0; i < rounds; i++) {
			fillArray(array, i);
			sink += array[i & 4095];
		}
	}

	/** Runs until a library of that name is mapped, for a minute at most. Returns the rounds. */
	private static int runUntilMapped(String library) throws IOException {
		long end = System.nanoTime() + 60_000_000_000L;
		int rounds = 0;

		while (!Files.readString(Path.of("/proc/self/maps")).contains(library) &&
		       System.nanoTime() < end) {
			run(20);
			rounds += 20;
		}
		return rounds;
	}

	/**
	 * Arguments: ROUNDS [LIBRARY TIMES]. With LIBRARY, the program first runs until that is mapped,
	 * and then TIMES as many rounds as until then, or ROUNDS if that is more.
	 */
	public static void main(String[] arguments) throws IOException {
		int rounds = Integer.parseInt(arguments[0]);

		if (arguments.length > 2)
			rounds = Math.max(rounds, Integer.parseInt(arguments[2]) *
						  runUntilMapped(arguments[1]));
		run(rounds);
		System.out.println(sink);
	}
}
