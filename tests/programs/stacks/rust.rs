// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Rust, down to the start of the program.
//!
//! stack: _start system main /std::|core::/+ rust::main rust::outer /rust::middle/ rust::inner
//! stack: _start system main /^(?!rust::)/+

/// Hides from the optimizer what a value is. std::hint::black_box() is stable only from Rust 1.66
/// on. Values have 8 bytes: a slot of 4 puts the CFA at rsp + 12, for which there is no rule.
fn black_box<T: Copy>(value: T) -> T {
    // SAFETY: a reference to an initialized Copy value is valid to read from.
    unsafe { std::ptr::read_volatile(&value) }
}

#[inline(never)]
fn inner(turns: u64) -> u64 {
    let mut sum = 0;
    for i in 0..turns {
        sum ^= black_box(i);
    }
    sum
}

#[inline(never)]
fn middle<T: Fn(u64) -> u64>(call: T) -> u64 {
    let room = black_box([0u64; 25]);
    call(200) + room[7]
}

#[inline(never)]
fn outer(x: u64) -> u64 {
    middle(black_box(inner as fn(u64) -> u64)) + x
}

fn main() {
    loop {
        black_box(outer(black_box(1)));
    }
}
