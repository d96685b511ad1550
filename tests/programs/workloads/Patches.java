// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntUnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * A program whose machine code the JVM changes in all its ways: it compiles classes with javac in
 * its own process, loads and runs them, and drops most of them, so that call sites get further
 * classes and lose them again. In between it parses and writes JSON, and uses regular expressions
 * and collections.
 *
 * usage: Patches CPU_SECONDS
 */
public class Patches {
	static final int CLASSES = 12; // in a generation
	static final int GENERATIONS_KEPT = 2;

	static volatile long sink;

	/** A source file in memory. */
	static class Source extends SimpleJavaFileObject {
		final String text;

		Source(String name, String text) {
			super(URI.create("string:///" + name + ".java"), Kind.SOURCE);
			this.text = text;
		}

		@Override
		public CharSequence getCharContent(boolean ignoreEncodingErrors) {
			return text;
		}
	}

	/** Class files in memory. */
	static class Classes extends ForwardingJavaFileManager<StandardJavaFileManager> {
		final Map<String, ByteArrayOutputStream> files = new HashMap<>();

		Classes(StandardJavaFileManager manager) {
			super(manager);
		}

		@Override
		public JavaFileObject getJavaFileForOutput(JavaFileManager.Location location, String name,
							   JavaFileObject.Kind kind,
							   FileObject sibling) {
			ByteArrayOutputStream bytes = new ByteArrayOutputStream();
			files.put(name, bytes);
			return new SimpleJavaFileObject(URI.create("mem:///" + name), kind) {
				@Override
				public OutputStream openOutputStream() {
					return bytes;
				}
			};
		}
	}

	static class Loader extends ClassLoader {
		final Map<String, ByteArrayOutputStream> files;

		Loader(Map<String, ByteArrayOutputStream> files) {
			super(Patches.class.getClassLoader());
			this.files = files;
		}

		@Override
		protected Class<?> findClass(String name) throws ClassNotFoundException {
			ByteArrayOutputStream bytes = files.get(name);
			if (bytes == null)
				throw new ClassNotFoundException(name);
			return defineClass(name, bytes.toByteArray(), 0, bytes.size());
		}
	}

	static String sourceOf(String name, int seed) {
		StringBuilder text = new StringBuilder();
		text.append("import java.util.*;\nimport java.util.function.*;\n")
			.append("public class ").append(name).append(" implements IntUnaryOperator {\n")
			.append("  final Map<String, Integer> seen = new HashMap<>();\n")
			.append("  final List<Integer> list = new ArrayList<>();\n");
		for (int i = 0; i < 8; i++) {
			text.append("  int step").append(i).append("(int x) {\n")
				.append("    int sum = ").append(seed + i).append(";\n")
				.append("    for (int i = 0; i < 40; i++) {\n")
				.append("      sum = sum * 31 + (x ^ i);\n")
				.append("      if ((sum & 255) == ").append(i).append(") list.add(sum);\n")
				.append("    }\n")
				.append("    seen.merge(\"k\" + (sum & 31), 1, Integer::sum);\n")
				.append("    return sum;\n  }\n");
		}
		text.append("  public int applyAsInt(int x) {\n    int sum = x;\n");
		for (int i = 0; i < 8; i++)
			text.append("    sum += step").append(i).append("(sum);\n");
		text.append("    if (list.size() > 1000) list.clear();\n")
			.append("    return sum + seen.values().stream().mapToInt(v -> v).sum();\n")
			.append("  }\n}\n");
		return text.toString();
	}

	static List<IntUnaryOperator> compile(JavaCompiler javac, StandardJavaFileManager standard,
					      int generation) throws Exception {
		Classes classes = new Classes(standard);
		List<Source> sources = new ArrayList<>();
		for (int i = 0; i < CLASSES; i++) {
			String name = "Made" + generation + "_" + i;
			sources.add(new Source(name, sourceOf(name, generation * 100 + i)));
		}
		if (!javac.getTask(null, classes, null, List.of("-proc:none", "-nowarn"), null, sources)
			     .call())
			throw new IllegalStateException("javac failed");
		Loader loader = new Loader(classes.files);
		List<IntUnaryOperator> made = new ArrayList<>();
		for (Source source : sources) {
			String name = source.getName().substring(1).replace(".java", "");
			made.add((IntUnaryOperator)loader.loadClass(name).getDeclaredConstructor()
					 .newInstance());
		}
		return made;
	}

	static void runMade(List<IntUnaryOperator> made, int rounds) {
		int sum = 0;
		for (int i = 0; i < rounds; i++) {
			for (IntUnaryOperator one : made)
				sum += one.applyAsInt(i);
		}
		sink += sum;
	}

	/* JSON */

	static class Parser {
		final String text;
		int at;

		Parser(String text) {
			this.text = text;
		}

		void skip() {
			while (at < text.length() && Character.isWhitespace(text.charAt(at)))
				at++;
		}

		Object value() {
			skip();
			char c = text.charAt(at);
			if (c == '{')
				return object();
			if (c == '[')
				return array();
			if (c == '"')
				return string();
			if (text.startsWith("true", at)) {
				at += 4;
				return Boolean.TRUE;
			}
			if (text.startsWith("null", at)) {
				at += 4;
				return null;
			}
			return number();
		}

		Map<String, Object> object() {
			Map<String, Object> map = (at & 1) == 0 ? new TreeMap<>() : new HashMap<>();
			at++;
			for (skip(); text.charAt(at) != '}'; skip()) {
				if (text.charAt(at) == ',')
					at++;
				skip();
				String key = string();
				skip();
				at++;
				map.put(key, value());
			}
			at++;
			return map;
		}

		List<Object> array() {
			List<Object> list = new ArrayList<>();
			at++;
			for (skip(); text.charAt(at) != ']'; skip()) {
				if (text.charAt(at) == ',')
					at++;
				list.add(value());
			}
			at++;
			return list;
		}

		String string() {
			StringBuilder made = new StringBuilder();
			for (at++; text.charAt(at) != '"'; at++) {
				if (text.charAt(at) == '\\')
					at++;
				made.append(text.charAt(at));
			}
			at++;
			return made.toString();
		}

		Number number() {
			int start = at;
			while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0)
				at++;
			String word = text.substring(start, at);
			if (word.indexOf('.') >= 0)
				return Double.valueOf(word);
			return Long.valueOf(word);
		}
	}

	static void write(StringBuilder to, Object value) {
		if (value instanceof Map<?, ?>) {
			String comma = "{";
			for (Map.Entry<?, ?> entry : ((Map<?, ?>)value).entrySet()) {
				to.append(comma);
				write(to, entry.getKey());
				to.append(": ");
				write(to, entry.getValue());
				comma = ", ";
			}
			to.append(comma.equals("{") ? "{}" : "}");
		} else if (value instanceof List<?>) {
			String comma = "[";
			for (Object one : (List<?>)value) {
				to.append(comma);
				write(to, one);
				comma = ", ";
			}
			to.append(comma.equals("[") ? "[]" : "]");
		} else if (value instanceof String) {
			to.append('"').append(((String)value).replace("\"", "\\\"")).append('"');
		} else {
			to.append(value);
		}
	}

	static Object document(int seed) {
		List<Object> rows = new ArrayList<>();
		for (int i = 0; i < 200; i++) {
			Map<String, Object> row = new TreeMap<>();
			row.put("id", (long)(seed * 1000 + i));
			row.put("name", "row \"" + i + "\"");
			row.put("value", i / 7.0);
			row.put("ok", Boolean.TRUE);
			row.put("tags", List.of("a" + i, "b" + seed));
			rows.add(row);
		}
		return rows;
	}

	static void json(int seed) {
		StringBuilder text = new StringBuilder();
		write(text, document(seed));
		for (int i = 0; i < 10; i++)
			sink += new Parser(text.toString()).value().hashCode();
	}

	/* Regular expressions and collections */

	static final Pattern[] PATTERNS = {
		Pattern.compile("(\\w+)@(\\w+)\\.(com|org|net)"),
		Pattern.compile("(?i)[a-f0-9]{4,8}(-[a-f0-9]{4})*"),
		Pattern.compile("(\\d+)\\s+(?:foo|bar|baz)+\\s*(?=x)"),
	};

	static void regex(int seed) {
		StringBuilder text = new StringBuilder();
		for (int i = 0; i < 300; i++)
			text.append("user").append(i).append("@host").append(seed % 17)
				.append(".org dead-beef ").append(i).append(" foobar x ");
		for (Pattern pattern : PATTERNS) {
			Matcher matcher = pattern.matcher(text);
			while (matcher.find())
				sink += matcher.end();
		}
		sink += text.toString().replaceAll("(\\d)(\\d)", "$2$1").length();
		sink += text.toString().split("\\s+").length;
	}

	static void colls(int seed) {
		List<String> words = new ArrayList<>();
		for (int i = 0; i < 2000; i++)
			words.add("w" + (i * 7919 + seed) % 1000);
		Map<String, Long> counts = words.stream().filter(w -> w.length() > 2).collect(
			Collectors.groupingBy(w -> w, TreeMap::new, Collectors.counting()));
		Collections.sort(words, (a, b) -> b.compareTo(a));
		Map<Object, Integer> mixed = new HashMap<>();
		for (int i = 0; i < 2000; i++)
			mixed.merge(i % 3 == 0 ? (Object)(i % 50) : i % 3 == 1 ? words.get(i) : (Object)(i / 3.0),
				    1, Integer::sum);
		sink += counts.hashCode() + mixed.size();
		StringBuilder text = new StringBuilder();
		for (Map.Entry<String, Long> entry : counts.entrySet())
			text.append(String.format("%s=%d;", entry.getKey(), entry.getValue()));
		sink += text.length();
	}

	static long cpuNs() {
		return ((com.sun.management.OperatingSystemMXBean)
				ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
	}

	public static void main(String[] arguments) throws Exception {
		long end = cpuNs() + (long)(Double.parseDouble(arguments[0]) * 1e9);
		JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
		List<List<IntUnaryOperator>> kept = new ArrayList<>();
		int generation = 0;
		try (StandardJavaFileManager files = javac.getStandardFileManager(null, null, null)) {
			for (; cpuNs() < end; generation++) {
				kept.add(compile(javac, files, generation));
				if (kept.size() > GENERATIONS_KEPT)
					kept.remove(0);
				for (List<IntUnaryOperator> made : kept)
					runMade(made, 1500);
				for (int i = 0; i < 4; i++) {
					json(generation + i);
					regex(generation + i);
					colls(generation + i);
				}
			}
		}
		System.out.println("generations " + generation);
	}
}
