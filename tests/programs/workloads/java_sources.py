# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Java classes to compile: generics, lambdas, streams and exceptions keep a compiler busy."""

import os
import random

METHODS = 25
METHOD = """
    public static <T extends Comparable<T>> Map<String, List<T>> group{number}(List<T> in, int a) {{
        Map<String, List<T>> map = new TreeMap<>();
        for (T t : in) {{
            String key = "k" + (t.hashCode() * {first} + a) % 7;
            map.computeIfAbsent(key, x -> new ArrayList<>()).add(t);
        }}
        int b = {second};
        switch (a % 5) {{
        case 0: a += b; break;
        case 1: a -= b; break;
        case 2: a ^= b;
        default: a *= 3;
        }}
        try {{
            if (a > b)
                throw new IllegalStateException("x" + a);
        }} catch (RuntimeException e) {{
            a = e.getMessage().length();
        }}
        return map.entrySet().stream().filter(e -> e.getValue().size() > 1)
            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }}
"""


def text(number, count):
    choice = random.Random(number)
    methods = "".join(METHOD.format(number=i, first=choice.randint(1, 99),
                                    second=choice.randint(1, 99)) for i in range(METHODS))
    other = (number + 1) % count
    return f"""import java.util.*;
import java.util.stream.*;

public class G{number} {{{methods}
    static int use() {{
        return G{other}.group0(List.of(1, 2, 3), {number}).size();
    }}
}}
"""


def write(folder, count):
    """Writes classes that use each other, and returns the paths of their sources."""
    paths = [os.path.join(folder, f"G{number}.java") for number in range(count)]
    for number, path in enumerate(paths):
        with open(path, "w", encoding="ascii") as source:
            source.write(text(number, count))
    return paths
