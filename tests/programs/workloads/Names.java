// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Threads with long names. Each runs a method of its own, which tells whose samples are whose.
//
// usage: Names MS: the CPU time that each method takes, in ms

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

public class Names {
	static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
	static final List<Thread> started = new ArrayList<>();
	static volatile long sink;
	static long ms;

	// Each method has a loop of its own, so that it is compiled.
	static void alpha() {
		long sum = 0;

		for (int i = 0; i < 100000; i++)
			sum += i * (sum | 1);
		sink += sum;
	}

	static void beta() {
		long sum = 0;

		for (int i = 0; i < 100000; i++)
			sum += i * (sum | 1);
		sink += sum;
	}

	static void gamma() {
		long sum = 0;

		for (int i = 0; i < 100000; i++)
			sum += i * (sum | 1);
		sink += sum;
	}

	static void delta() {
		long sum = 0;

		for (int i = 0; i < 100000; i++)
			sum += i * (sum | 1);
		sink += sum;
	}

	static void earlier() {
		long sum = 0;

		for (int i = 0; i < 100000; i++)
			sum += i * (sum | 1);
		sink += sum;
	}

	static void before() {
		long sum = 0;

		for (int i = 0; i < 100000; i++)
			sum += i * (sum | 1);
		sink += sum;
	}

	static void after() {
		long sum = 0;

		for (int i = 0; i < 100000; i++)
			sum += i * (sum | 1);
		sink += sum;
	}

	static void smile() {
		long sum = 0;

		for (int i = 0; i < 100000; i++)
			sum += i * (sum | 1);
		sink += sum;
	}

	static void pooled() {
		long sum = 0;

		for (int i = 0; i < 100000; i++)
			sum += i * (sum | 1);
		sink += sum;
	}

	static void common() {
		long sum = 0;

		for (int i = 0; i < 100000; i++)
			sum += i * (sum | 1);
		sink += sum;
	}

	static void first() {
		long sum = 0;

		for (int i = 0; i < 100000; i++)
			sum += i * (sum | 1);
		sink += sum;
	}

	static void virtual() {
		long sum = 0;

		for (int i = 0; i < 100000; i++)
			sum += i * (sum | 1);
		sink += sum;
	}

	static void spin(Runnable turn) {
		long until = threads.getCurrentThreadCpuTime() + ms * 1000000;

		while (threads.getCurrentThreadCpuTime() < until)
			turn.run();
	}

	// The CPU time of a virtual thread is not known.
	static void spinVirtual() {
		for (long i = 0; i < ms * 20; i++)
			virtual();
	}

	static void start(String name, Runnable run) {
		Thread thread = new Thread(run, name);

		thread.start();
		started.add(thread);
	}

	static void rename(String name) {
		Thread.currentThread().setName(name);
	}

	static Thread startVirtual(Runnable run) throws Exception {
		try {
			return (Thread)Thread.class.getMethod("startVirtualThread", Runnable.class)
				.invoke(null, run);
		} catch (NoSuchMethodException e) {
			return null;
		}
	}

	public static void main(String[] args) throws Exception {
		AtomicInteger number = new AtomicInteger();
		ExecutorService pool = Executors.newFixedThreadPool(2, run ->
			new Thread(run, "pool-of-workers-" + number.incrementAndGet()));
		Future<?> task;
		Thread virtual;

		ms = Long.parseLong(args[0]);
		pool.submit(() -> spin(Names::pooled));
		pool.submit(() -> spin(Names::pooled));
		pool.shutdown();
		if (ms < 100000)
			pool.awaitTermination(60, TimeUnit.SECONDS);
		start("request-handler-alpha-1", () -> spin(Names::alpha));
		start("request-handler-beta-2", () -> spin(Names::beta));
		start("request-handler-gamma-3", () -> {
			spin(Names::gamma);
			rename("request-handler-delta-4");
			spin(Names::delta);
		});
		start("named-when-it-began", () -> {
			rename("earlier-renamed-by-itself");
			spin(Names::earlier);
		});
		start("before-it-renames-itself", () -> {
			spin(Names::before);
			rename("renamed-by-itself-now");
			spin(Names::after);
		});
		start("sm\u00f6rg\u00e5s-\ud83d\ude00-thread-name", () -> spin(Names::smile));
		task = ForkJoinPool.commonPool().submit(() -> spin(Names::common));
		virtual = startVirtual(Names::spinVirtual);
		spin(Names::first);
		for (Thread thread : started)
			thread.join();
		if (virtual != null)
			virtual.join();
		task.get();
	}
}
