"""The order in which both bridges go through tinygrad's graphs."""


def walk(root, is_leaf):
    """The nodes below, sources first; none below leaves."""
    seen, stack, order = set(), [(root, False)], []
    while stack:
        u, is_done = stack.pop()
        if is_done:
            order.append(u)
        elif u not in seen:
            seen.add(u)
            stack.append((u, True))
            if not is_leaf(u):
                stack += [(s, False) for s in reversed(u.src)]
    return order
