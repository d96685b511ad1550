// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import sun.jvm.hotspot.HotSpotAgent;
import sun.jvm.hotspot.code.CodeBlob;
import sun.jvm.hotspot.code.NMethod;
import sun.jvm.hotspot.code.PCDesc;
import sun.jvm.hotspot.code.ScopeDesc;
import sun.jvm.hotspot.debugger.Address;
import sun.jvm.hotspot.oops.Method;
import sun.jvm.hotspot.runtime.VM;

/**
 * Truth PID: what the serviceability agent says of addresses in the code of a Java virtual machine.
 * Reads one hexadecimal address per line, and prints it with its place: "-" for none, "*NAME" for
 * other code than a method, or frames "class.method:line", innermost first. A program counter's
 * place is that of the first PcDesc that is not before it.
 */
public class Truth {
	// By code and offset in it. To read them takes most of the time.
	private static final Map<Address, TreeMap<Long, PCDesc>> all = new HashMap<>();

	private static TreeMap<Long, PCDesc> descsOf(NMethod code) {
		long size = VM.getVM().getTypeDataBase().lookupType("PcDesc").getSize();
		TreeMap<Long, PCDesc> found = new TreeMap<>();

		for (Address at = code.scopesPCsBegin(); at.lessThan(code.scopesPCsEnd());
		     at = at.addOffsetTo(size)) {
			PCDesc desc = new PCDesc(at);
			Address real = desc.getRealPC(code);

			if (real != null)
				found.putIfAbsent(real.minus(code.codeBegin()), desc);
		}
		return found;
	}

	private static PCDesc find(NMethod code, Address pc) {
		var descs = all.computeIfAbsent(code.getAddress(), at -> descsOf(code));
		var found = descs.ceilingEntry(pc.minus(code.codeBegin()));

		return found == null ? null : found.getValue();
	}

	private static String frame(Method method, int bci) {
		String name = method.getMethodHolder().getName().asString().replace('/', '.');

		return name + "." + method.getName().asString() + ":" +
			(bci < 0 ? 0 : method.getLineNumberFromBCI(bci));
	}

	private static String place(Address pc) {
		CodeBlob blob = VM.getVM().getCodeCache().findBlobUnsafe(pc);

		if (blob == null)
			return "-";
		if (!(blob instanceof NMethod))
			return "*" + blob.getName();
		NMethod code = (NMethod)blob;
		PCDesc desc = find(code, pc);
		String frames = "";

		if (desc == null || desc.getScopeDecodeOffset() == 0)
			return frame(code.getMethod(), -1);
		for (ScopeDesc scope = code.getScopeDescAt(desc.getRealPC(code)); scope != null;
		     scope = scope.sender())
			frames += (frames.isEmpty() ? "" : " ") + frame(scope.getMethod(), scope.getBCI());
		return frames;
	}

	public static void main(String[] arguments) throws Exception {
		HotSpotAgent agent = new HotSpotAgent();

		agent.attach(Integer.parseInt(arguments[0]));
		try {
			var in = new BufferedReader(new InputStreamReader(System.in));
			for (String line = in.readLine(); line != null; line = in.readLine()) {
				String said;
				try {
					said = place(VM.getVM().getDebugger().parseAddress("0x" + line));
				} catch (Exception e) {
					said = "!" + e;
				}
				System.out.println(line + " " + said);
			}
		} finally {
			agent.detach();
		}
	}
}
