// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/**
 * Virtual threads that compute, each below a few methods of its own, and yield again and again at
 * different depths: frames of a thread that yields are copied off the stack of its carrier, and a
 * few at a time back to it.
 *
 * Arguments: SECONDS [steady]. It takes so many seconds of CPU time. With "steady", no thread
 * yields: all of its frames are on the stack.
 */
public class Virtual {
	private static volatile int sink;
	private static boolean yields;

	private static int burn(int seed) {
		int value = seed;

		for (int i = 0; i < 20000; i++)
			value = value * 31 + (value >>> 7);
		return value;
	}

	private static int descend(int depth, int seed) {
		if (yields && depth % 8 == 0)
			Thread.yield();
		if (depth == 0)
			return burn(seed);
		int value = descend(depth - 1, seed + depth);
		if (yields && depth % 8 == 1)
			Thread.yield();
		return value + burn(value) % 3;
	}

	private static long cpuTime() {
		return ((OperatingSystemMXBean)ManagementFactory.getOperatingSystemMXBean())
			.getProcessCpuTime();
	}

	private static void work(long end, int depth) {
		while (cpuTime() < end)
			sink = descend(depth, sink);
	}

	public static void main(String[] arguments) throws InterruptedException {
		long end = cpuTime() + Long.parseLong(arguments[0]) * 1_000_000_000L;
		yields = arguments.length < 2;
		List<Thread> threads = new ArrayList<>();

		for (int i = 0; i < 8; i++) {
			int depth = 5 + 5 * i;
			threads.add(Thread.ofVirtual().name("virtual-" + i).start(() -> work(end, depth)));
		}
		for (Thread thread : threads)
			thread.join();
		System.out.println(sink);
	}
}
