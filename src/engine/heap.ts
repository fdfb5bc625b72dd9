/** A binary heap: the first item by `isBefore` is at hand, and adding or taking one costs the logarithm of their number. */
export interface Heap<Item> {
  readonly size: number;
  peek(): Item | undefined;
  push(item: Item): void;
  pop(): Item | undefined;
}

export function createHeap<Item>(isBefore: (one: Item, other: Item) => boolean): Heap<Item> {
  const items: Item[] = [];
  return {
    get size() {
      return items.length;
    },
    peek: () => items[0],
    push(item) {
      items.push(item);
      rise(items, isBefore, item);
    },
    pop() {
      const [first] = items;
      const last = items.pop();
      if (last !== undefined && items.length > 0) sink(items, isBefore, last);
      return first;
    },
  };
}

/** Moves an item that was put at the end to its place. */
function rise<Item>(items: Item[], isBefore: (one: Item, other: Item) => boolean, item: Item): void {
  let at = items.length - 1;
  while (at > 0) {
    const above = (at - 1) >> 1;
    const parent = items[above];
    if (parent === undefined || !isBefore(item, parent)) break;
    items[at] = parent;
    at = above;
  }
  items[at] = item;
}

/** Puts an item in the place of the first one, and moves it to where it belongs. */
function sink<Item>(items: Item[], isBefore: (one: Item, other: Item) => boolean, item: Item): void {
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    const [one, other] = [items[left], items[left + 1]];
    if (one === undefined) break;
    const isOther = other !== undefined && isBefore(other, one);
    const child = isOther ? other : one;
    if (!isBefore(child, item)) break;
    items[at] = child;
    at = isOther ? left + 1 : left;
  }
  items[at] = item;
}
