// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Go, with stacks that are moved as they grow, in two goroutines.
//
//	stack: runtime.goexit runtime.main main.main main.begin main.grow*40 main.inner
//	stack: runtime.goexit main.begin main.grow*40 main.inner
//	stack: runtime.goexit /^(runtime|main)\.main$/* main.begin /^main.grow$/* /^main.inner$/? /^runtime\.|^\[unknown\]$/+
//	stack: /^_?(rt0|runtime)/ /^runtime\.|^\[unknown\]$/+
package main

//go:noinline
func inner(turns int) int {
	sum := 0
	for i := 0; i < turns; i++ {
		sum ^= i
	}
	return sum
}

//go:noinline
func grow(depth int) int {
	var room [20]int
	room[depth%20] = depth
	if depth > 1 {
		return grow(depth-1) + room[depth%20]
	}
	return inner(5000) + room[1]
}

//go:noinline
func begin() {
	for {
		grow(40)
	}
}

func main() {
	go begin()
	begin()
}
