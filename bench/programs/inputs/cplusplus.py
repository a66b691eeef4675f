"""Makes C++ without any header, for compilers: records, containers of them, and functions."""

from __future__ import annotations

import random

from common import word, write_roles

CONTAINERS = """
using Size = unsigned long;
void* operator new(Size, void* place) noexcept { return place; }
template <class T> class Array {
 public:
  Array() = default;
  ~Array() { for (Size i = 0; i < count_; ++i) items_[i].~T(); ::operator delete(items_); }
  void add(const T& item) {
    if (count_ == room_) grow(room_ ? room_ * 2 : 4);
    new (items_ + count_++) T(item);
  }
  T& operator[](Size i) { return items_[i]; }
  T* begin() { return items_; }
  T* end() { return items_ + count_; }
  Size size() const { return count_; }
 private:
  void grow(Size room) {
    T* fresh = static_cast<T*>(::operator new(room * sizeof(T)));
    for (Size i = 0; i < count_; ++i) { new (fresh + i) T(items_[i]); items_[i].~T(); }
    ::operator delete(items_);
    items_ = fresh;
    room_ = room;
  }
  T* items_ = nullptr;
  Size count_ = 0, room_ = 0;
};
template <class K, class V> class Tree {
  struct Node { K key; V value; Node* child[2] = {nullptr, nullptr}; };
 public:
  ~Tree() { drop(root_); }
  V* find(const K& key) {
    for (Node* node = root_; node; node = node->child[node->key < key])
      if (!(node->key < key) && !(key < node->key)) return &node->value;
    return nullptr;
  }
  V& put(const K& key, const V& value) {
    Node** at = &root_;
    while (*at && (key < (*at)->key || (*at)->key < key)) at = &(*at)->child[(*at)->key < key];
    if (!*at) *at = new Node{key, value};
    return (*at)->value;
  }
  template <class F> void each(F f) { walk(root_, f); }
 private:
  template <class F> static void walk(Node* node, F& f) {
    if (node) { walk(node->child[0], f); f(node->key, node->value); walk(node->child[1], f); }
  }
  static void drop(Node* node) {
    if (node) { drop(node->child[0]); drop(node->child[1]); delete node; }
  }
  Node* root_ = nullptr;
};
template <class T, class F> void sort(T* first, T* last, F less) {
  for (T* one = first; one < last; ++one)
    for (T* other = one; other > first && less(*other, other[-1]); --other) {
      T kept = *other; *other = other[-1]; other[-1] = kept;
    }
}
struct Shape { virtual ~Shape() = default; virtual double measure(int level) const = 0; };
"""
TYPES = ("int", "long", "double", "unsigned", "short")


def expression(rng: random.Random, names: list[str], depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([*names, str(rng.randint(1, 99))])
    sides = [expression(rng, names, depth - 1) for _ in range(2)]
    if rng.random() < 0.2:
        return f"({sides[0]} < {sides[1]} ? {rng.choice(names)} : {sides[1]})"
    return f"({sides[0]} {rng.choice('+-*')} {sides[1]})"


def record(rng: random.Random, number: int) -> str:
    fields = [f"{word(rng)}_{place}" for place in range(rng.randint(3, 8))]
    kept = "".join(f"  {rng.choice(TYPES)} {field} = {rng.randint(0, 9)};\n" for field in fields)
    cases = "".join(
        f"      case {case}: return {expression(rng, fields, 3)};\n" for case in range(6)
    )
    return (
        f"struct Record{number} final : Shape {{\n{kept}"
        f"  bool operator<(const Record{number}& other) const {{\n"
        f"    return {rng.choice(fields)} < other.{rng.choice(fields)};\n  }}\n"
        f"  double measure(int level) const override {{\n    switch (level % 7) {{\n{cases}"
        f"      default: return {expression(rng, [*fields, 'level'], 2)};\n    }}\n  }}\n}};\n"
    )


def function(rng: random.Random, number: int, records: int) -> str:
    key, value = (f"Record{rng.randrange(max(0, records - 9), records)}" for _ in range(2))
    names = ["i", "total", "bound", "left"]
    return (
        f"double work{number}(Array<{key}>& items, Tree<{key}, {value}>& tree, int bound) {{\n"
        f"  double total = {rng.randint(0, 9)}, left = 1;\n"
        f"  for (int i = 0; i < bound; ++i) {{\n    total += {expression(rng, names, 4)};\n"
        f"    if (auto* found = tree.find(items[i])) left += found->measure(i);\n"
        f"    else tree.put(items[i], {value}());\n  }}\n"
        f"  sort(items.begin(), items.end(), [&](auto& a, auto& b) {{\n"
        f"    return a.measure(bound) {rng.choice('<>')} b.measure({rng.randint(1, 9)});\n  }});\n"
        f"  tree.each([&](auto& k, auto& v) {{ left += k.measure(3) * v.measure(bound); }});\n"
        f"  items.add({key}());\n  return {expression(rng, names[1:], 4)};\n}}\n"
    )


def source(rng: random.Random, functions: int) -> str:
    lines = [CONTAINERS]
    for number in range(functions):
        lines += [record(rng, number), function(rng, number, number + 1)]
    return "\n".join(lines)


if __name__ == "__main__":
    write_roles("cplusplus", "cc", source, 3, 40)
