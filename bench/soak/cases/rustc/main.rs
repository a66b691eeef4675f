//! Fills a store of shapes from several threads and prints what it says.
use shapes::{fold, make, Store};
use std::sync::mpsc;
use std::thread;

fn part(number: u64, count: u64) -> Vec<String> {
    let mut store = Store::default();
    for n in 0..count * 20 {
        let mut shape = make((n * 7 + number) as usize, n % 1000);
        shape.grow(number);
        store.add(shape);
    }
    store.report()
}

fn main() {
    let count: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(10);
    let (sender, receiver) = mpsc::channel();
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let sender = sender.clone();
            thread::spawn(move || sender.send((number, part(number, count))).unwrap())
        })
        .collect();
    drop(sender);
    let mut parts: Vec<_> = receiver.into_iter().collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    parts.sort();
    for (number, lines) in &parts {
        println!("{number}:");
        lines.iter().for_each(|line| println!("  {line}"));
    }
    let letters = fold(&parts, 0, |sum, (_, lines)| sum + lines.concat().len());
    println!("{letters} letters");
}
