"""Writes the Python program for python3: trees, dictionaries and strings, few numbers."""

from __future__ import annotations

from common import folder

PROGRAM = '''\
"""Builds an index of generated documents and walks it: many small objects, linked."""

import sys


class Node:
    def __init__(self, key, left, right):
        self.key, self.left, self.right, self.posts = key, left, right, []


def insert(root, key, post):
    node, parent = root, None
    while node is not None:
        if key == node.key:
            node.posts.append(post)
            return
        parent, node = node, node.left if key < node.key else node.right
    fresh = Node(key, None, None)
    fresh.posts.append(post)
    if key < parent.key:
        parent.left = fresh
    else:
        parent.right = fresh


def walk(root):
    stack = [root]
    while stack:
        node = stack.pop()
        if node is not None:
            yield node
            stack += [node.left, node.right]


def main(documents, seed):
    state, root, index = 12344 + seed, Node("m", None, None), {}
    for number in range(documents):
        terms = []
        for _ in range(12):
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            terms.append("t%x" % (state % 40009))
        for place, term in enumerate(terms):
            insert(root, term, (number, place))
            index.setdefault(term[:3], []).append({"doc": number, "term": term})
    total = sum(len(node.posts) * place for place, node in enumerate(walk(root)))
    longest = sorted(index.items(), key=lambda item: (-len(item[1]), item[0]))[:10]
    print(total, [(key, len(found)) for key, found in longest])


main(int(sys.argv[1]), int(sys.argv[2]))
'''


def main() -> None:
    (folder() / "index.py").write_text(PROGRAM)


if __name__ == "__main__":
    main()
