//! Collections, trait objects, closures and formatting, for a compiler to work on.
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt;
use std::rc::Rc;

pub trait Shape: fmt::Debug {
    fn area(&self) -> u64;
    fn name(&self) -> String;
    fn grow(&mut self, by: u64);
}

macro_rules! shapes {
    ($($name:ident($($field:ident),*) => $area:expr;)*) => {
        $(
            #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub struct $name { $(pub $field: u64),* }
            impl Shape for $name {
                fn area(&self) -> u64 {
                    let $name { $($field),* } = self;
                    $area($($field.clone()),*)
                }
                fn name(&self) -> String { stringify!($name).to_string() }
                fn grow(&mut self, by: u64) { $(self.$field += by;)* }
            }
        )*
        pub fn make(kind: usize, number: u64) -> Box<dyn Shape> {
            let makers: Vec<Box<dyn Fn(u64) -> Box<dyn Shape>>> = vec![
                $(Box::new(|n| Box::new($name { $($field: n + stringify!($field).len() as u64),* }))),*
            ];
            makers[kind % makers.len()](number)
        }
    };
}

shapes! {
    Square(side) => |side: u64| side * side;
    Oblong(width, height) => |w: u64, h: u64| w * h;
    Brick(width, height, depth) => |w: u64, h: u64, d: u64| 2 * (w * h + h * d + d * w);
    Frame(outer, inner) => |o: u64, i: u64| o * o - i.min(o) * i.min(o);
    Cross(arm, width) => |a: u64, w: u64| 4 * a * w + w * w;
}

#[derive(Default)]
pub struct Store {
    by_name: HashMap<String, Vec<Rc<Box<dyn Shape>>>>,
    by_area: BTreeMap<u64, VecDeque<String>>,
    seen: HashSet<u64>,
}

impl Store {
    pub fn add(&mut self, shape: Box<dyn Shape>) {
        let (name, area) = (shape.name(), shape.area());
        self.seen.insert(area % 97);
        self.by_area.entry(area).or_default().push_back(format!("{shape:?}"));
        self.by_name.entry(name).or_default().push(Rc::new(shape));
    }

    pub fn report(&self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .by_name
            .iter()
            .map(|(name, all)| {
                let total: u64 = all.iter().map(|shape| shape.area()).sum();
                format!("{name}: {} of {total}", all.len())
            })
            .collect();
        lines.sort_unstable();
        lines.extend(self.by_area.iter().rev().take(5).map(|(area, texts)| {
            let longest = texts.iter().max_by_key(|text| text.len()).cloned();
            format!("{area:>12} {}", longest.unwrap_or_default())
        }));
        lines.push(format!("{} remainders", self.seen.len()));
        lines
    }
}

pub fn fold<T, U, F>(items: impl IntoIterator<Item = T>, start: U, mut with: F) -> U
where
    F: FnMut(U, T) -> U,
{
    items.into_iter().fold(start, |sum, item| with(sum, item))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(count: u64) -> Store {
        let mut store = Store::default();
        (0..count).for_each(|n| store.add(make(n as usize, n)));
        store
    }

    #[test]
    fn every_kind_is_reported() {
        assert_eq!(filled(5000).report().len(), 5 + 5 + 1);
    }

    #[test]
    fn shapes_grow() {
        for kind in 0..5 {
            let mut shape = make(kind, 3);
            let before = shape.area();
            shape.grow(2);
            assert!(shape.area() > before || shape.name() == "Frame");
        }
    }

    #[test]
    fn folds() {
        assert_eq!(fold(1..=10u64, 0, |a, b| a + b), 55);
    }
}
