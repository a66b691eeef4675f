// Many small maps, as a reader of JSON or an interpreter has. Insertion and look-up load the control
// bytes of the standard library's hash tables from anywhere; iteration, with `all`, loads them aligned.
use std::collections::HashMap;

struct Node {
    tags: HashMap<u64, u64>,
    id: u64,
}

fn make(count: u64) -> Vec<Node> {
    (0..count)
        .map(|id| Node { tags: HashMap::from([(id, id * 3), (id + 1, 7)]), id })
        .collect()
}

fn main() {
    let all = std::env::args().nth(1).as_deref() == Some("all");
    let nodes = make(20000);
    let mut sum = 0u64;
    for _ in 0..20 {
        for node in &nodes {
            sum = sum.wrapping_add(node.tags[&node.id]);
        }
    }
    if all {
        for (key, value) in nodes.iter().flat_map(|node| &node.tags) {
            sum = sum.wrapping_add(key ^ value);
        }
    }
    println!("{sum}");
    if !all {
        std::mem::forget(nodes); // to drop a map is to iterate over it
    }
}
