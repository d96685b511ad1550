// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Code that comes and goes: class loaders are made in a loop, each with a class of another name
 * whose methods become hot, and are dropped. Prints which class ran when:
 * "CLASS START_NS END_NS" with the times of CLOCK_MONOTONIC, after "thread PID/task/TID".
 *
 * Arguments: RUNS MILLISECONDS LIVE. Each run of a class takes so many milliseconds of CPU time;
 * LIVE loaders are kept, and their classes run again in turn.
 */
public class Turnover {
	private static final String TEMPLATE = "TurnoverBody000000";

	private static class Loader extends ClassLoader {
		private final String name;
		private final byte[] bytes;

		Loader(String name, byte[] bytes) {
			super(null);
			this.name = name;
			this.bytes = bytes;
		}

		@Override
		protected Class<?> findClass(String wanted) throws ClassNotFoundException {
			if (!wanted.equals(name))
				throw new ClassNotFoundException(wanted);
			return defineClass(name, bytes, 0, bytes.length);
		}
	}

	/** Returns the bytes of the template as those of a class of another name, which is as long. */
	private static byte[] rename(byte[] template, String name) {
		byte[] from = TEMPLATE.getBytes(StandardCharsets.US_ASCII);
		byte[] to = name.getBytes(StandardCharsets.US_ASCII);
		byte[] out = template.clone();

		for (int i = 0; i + from.length <= out.length; i++) {
			if (Arrays.equals(out, i, i + from.length, from, 0, from.length))
				System.arraycopy(to, 0, out, i, to.length);
		}
		return out;
	}

	private static byte[] readTemplate() throws IOException {
		try (InputStream in = Turnover.class.getResourceAsStream(TEMPLATE + ".class")) {
			return in.readAllBytes();
		}
	}

	public static void main(String[] arguments) throws Exception {
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();
		int runs = Integer.parseInt(arguments[0]);
		long part = Long.parseLong(arguments[1]) * 1_000_000L;
		Runnable[] live = new Runnable[Integer.parseInt(arguments[2])];
		byte[] template = readTemplate();

		try (PrintStream out = new PrintStream(new BufferedOutputStream(System.out, 1 << 16))) {
			out.println("thread " + Files.readSymbolicLink(Path.of("/proc/thread-self")));
			for (int i = 0; i < runs; i++) {
				int turn = i % (2 * live.length);
				String name = String.format("TurnoverBody%06d", i);

				/* New classes in one round, and the same again in the next. */
				if (turn == 0) {
					Arrays.fill(live, null);
					System.gc();
				}
				if (turn < live.length)
					live[turn] = (Runnable)new Loader(name, rename(template, name))
							     .loadClass(name)
							     .getDeclaredConstructor()
							     .newInstance();
				Runnable body = live[turn % live.length];
				long start = System.nanoTime();
				long end = threads.getCurrentThreadCpuTime() + part;
				do {
					body.run();
				} while (threads.getCurrentThreadCpuTime() < end);
				out.println(body.getClass().getName() + " " + start + " " +
					    System.nanoTime());
			}
		}
	}
}
