// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import javax.tools.ToolProvider;

/** Compiles classes with javac's arguments, prints "done", and waits for the end of its input. */
public class Compile {
	public static void main(String[] arguments) throws Exception {
		ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments);
		System.out.println("done");
		System.in.read();
	}
}
