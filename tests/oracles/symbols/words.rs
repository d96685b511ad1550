// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Iterators of std, and closures in them, for the compiler to inline: looked at, never run.
use std::collections::{BTreeMap, HashMap};
#[derive(Debug, Clone, PartialEq)]
enum Token { Word(String), Number(i64), Mark(char) }
fn tokens(s: &str) -> impl Iterator<Item = Token> + '_ {
    s.split_whitespace().flat_map(|w| w.split_inclusive(|c: char| c.is_ascii_punctuation())).map(|w| match w.parse::<i64>() {
        Ok(n) => Token::Number(n),
        Err(_) if w.len() == 1 && w.chars().all(|c| c.is_ascii_punctuation()) => Token::Mark(w.chars().next().unwrap()),
        Err(_) => Token::Word(w.to_lowercase()),
    })
}
mod deep { pub mod er { pub struct Mean(pub f64); impl Mean { pub fn of<T: Copy + Into<f64>>(v: &[T]) -> Mean { let (s, n) = v.iter().fold((0.0, 0), |(s, n), &x| (s + x.into(), n + 1)); Mean(s / n.max(1) as f64) } } } }
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text: String = args.iter().cycle().take(100).cloned().collect::<Vec<_>>().join(" ") + " the quick, brown 17 fox; jumps 42";
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut sums: BTreeMap<i64, Vec<i32>> = BTreeMap::new();
    for (i, t) in tokens(&text).enumerate() {
        match t { Token::Word(w) => *counts.entry(w).or_default() += 1, Token::Number(n) => sums.entry(n % 7).or_default().push(i as i32), Token::Mark(c) => println!("{c}") }
    }
    let mut v: Vec<_> = counts.into_iter().filter(|(w, _)| w.len() > 2).collect();
    v.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let means: Vec<f64> = sums.values().map(|x| deep::er::Mean::of(x).0).collect();
    println!("{:?} {:?} {}", &v[..v.len().min(5)], means, sums.values().flatten().zip(1..).map(|(a, b)| a * b).sum::<i32>());
}
