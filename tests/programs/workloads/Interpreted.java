// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Methods whose callers are known, for a virtual machine that interprets them (-Xint): NAME_CALLER
// is called by CALLER only, or by itself.

import java.util.function.IntUnaryOperator;

public class Interpreted {
    static int sum;

    static int work(int count) {
        int sum = 0;
        for (int i = 0; i < count; i++)
            sum += i * 31 ^ sum;
        return sum;
    }

    static int deep_left(int n) {
        return n == 0 ? work(200) : deep_left(n - 1) + 1;
    }

    static void left() {
        sum += deep_left(20);
    }

    synchronized int locked_right(int n) {
        return work(n);
    }

    static void right() {
        sum += new Interpreted().locked_right(300);
    }

    // The lambda is called through a class that the virtual machine makes.
    static void lambda() {
        IntUnaryOperator operator = n -> work(n);
        sum += operator.applyAsInt(300);
    }

    // The first calls of a method by reflection are through native code.
    static void reflected() throws Exception {
        sum += (Integer) Interpreted.class.getDeclaredMethod("called_reflected", int.class)
            .invoke(null, 300);
    }

    static int called_reflected(int n) {
        return work(n);
    }

    public static void main(String[] args) throws Exception {
        for (int rounds = Integer.parseInt(args[0]); rounds > 0; rounds--) {
            left();
            right();
            lambda();
            reflected();
        }
        System.out.println(sum);
    }
}
