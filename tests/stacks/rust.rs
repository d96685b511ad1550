// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Rust, down to the start of the program.
//!
//! stack: _start system main /std::|core::/+ rust::main rust::outer /rust::middle/ rust::inner
//! stack: _start system main /^(?!rust::)/+

/// `value`, which the optimizer must not see through. std::hint::black_box() is stable from
/// Rust 1.66 on only.
fn black_box<T: Copy>(value: T) -> T {
    // SAFETY: a reference to an initialized Copy value is valid to read from.
    unsafe { std::ptr::read_volatile(&value) }
}

#[inline(never)]
fn inner(turns: u32) -> u32 {
    let mut sum = 0;
    for i in 0..turns {
        sum ^= black_box(i);
    }
    sum
}

#[inline(never)]
fn middle<T: Fn(u32) -> u32>(call: T) -> u32 {
    let room = black_box([0u32; 50]);
    call(200) + room[7]
}

#[inline(never)]
fn outer(x: u32) -> u32 {
    middle(black_box(inner as fn(u32) -> u32)) + x
}

fn main() {
    loop {
        black_box(outer(black_box(1)));
    }
}
