// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/** What the classes of Turnover.java run: some methods that the JVM inlines, and some that it does
 * not. It uses no other class that is compiled. */
public class TurnoverBody000000 implements Runnable {
	private final int[] array = new int[512];
	private int sum;

	private int mix(int value, int at) {
		return value * 31 + array[(value ^ at) & 511];
	}

	private int first(int seed) {
		int value = seed;

		for (int i = 0; i < array.length; i++)
			value = mix(value, i);
		return value;
	}

	private int second(int seed) {
		int value = seed;

		for (int i = 0; i < array.length; i++)
			array[i] = value = mix(value, i) + mix(seed, value);
		return value;
	}

	private int third(int depth) {
		return depth == 0 ? first(sum) : third(depth - 1) + mix(depth, sum);
	}

	private int fourth(int seed) {
		int value = seed;

		for (int i = 0; i < 64; i++) {
			switch (value & 3) {
			case 0:
				value += first(i);
				break;
			case 1:
				value ^= mix(i, value);
				break;
			case 2:
				value -= second(i);
				break;
			default:
				value = value * 7 + i;
			}
		}
		return value;
	}

	@Override
	public void run() {
		for (int i = 0; i < 20; i++)
			sum += first(i) + second(i) + third(20) + fourth(i);
	}
}
