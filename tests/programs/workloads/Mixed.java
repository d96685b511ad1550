// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Mixed [SECONDS [ROUNDS]]: sorting, maps, streams, recursion and loops, for an amount of CPU time;
// with ROUNDS, for an amount of work.
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

public class Mixed {
	static int fibonacci(int n) {
		return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
	}

	static long sort(Random random) {
		List<Integer> list = new ArrayList<>();
		for (int i = 0; i < 50000; i++)
			list.add(random.nextInt());
		Collections.sort(list);
		return list.get(3);
	}

	static long count(Random random) {
		Map<String, Integer> counts = new HashMap<>();
		for (int i = 0; i < 50000; i++)
			counts.merge("k" + random.nextInt(1000), 1, Integer::sum);
		return counts.size();
	}

	static long stream() {
		return IntStream.range(0, 50000).mapToObj(i -> "s" + i).filter(s -> s.endsWith("7"))
			.collect(Collectors.groupingBy(String::length)).size();
	}

	static double multiply(int n) {
		double[][] a = new double[n][n], b = new double[n][n], c = new double[n][n];
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				for (int k = 0; k < n; k++)
					c[i][j] += a[i][k] * b[k][j];
		return c[1][1];
	}

	public static void main(String[] arguments) {
		long end = (long) (1e9 * (arguments.length > 0 ? Double.parseDouble(arguments[0]) : 1)), sum = 0;
		var threads = ManagementFactory.getThreadMXBean();
		int rounds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 0;
		Random random = new Random(1);
		for (int i = 0; rounds > 0 ? i < rounds : threads.getCurrentThreadCpuTime() < end; i++)
			sum += fibonacci(25) + sort(random) + count(random) + stream() + (long) multiply(150);
		System.out.println(sum);
	}
}
