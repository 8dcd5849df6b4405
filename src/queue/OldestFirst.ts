/**
 * Entries by time of admission, oldest first: a binary heap whose items may be out of date. An item counts only while
 * `isCurrent` says so; the others are dropped when they come to the top, or all at once when they are the most.
 */
export interface Item {
  readonly id: string
  readonly admittedAt: number
}

export interface OldestFirst {
  readonly add: (item: Item) => void
  readonly oldest: () => Item | undefined
  /** All current items admitted before a time, oldest first. They stay. */
  readonly before: (admittedAt: number) => ReadonlyArray<Item>
}

/** `current` says how many items count now. */
export const make = (isCurrent: (item: Item) => boolean, current: () => number): OldestFirst => {
  let heap: Array<Item> = []

  const at = (index: number): number => heap[index]?.admittedAt ?? Number.POSITIVE_INFINITY
  const swap = (a: number, b: number) => {
    const [first, second] = [heap[a], heap[b]]
    if (first === undefined || second === undefined) return
    heap[a] = second
    heap[b] = first
  }

  const add = (item: Item) => {
    if (heap.length > 2 * current() + 1024) compact()
    let index = heap.push(item) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (at(parent) <= at(index)) return
      swap(parent, index)
      index = parent
    }
  }

  const take = (): Item | undefined => {
    const top = heap[0]
    const last = heap.pop()
    if (heap.length > 0 && last !== undefined) heap[0] = last
    let index = 0
    while (true) {
      const left = 2 * index + 1
      const smallest = at(left + 1) < at(left) ? left + 1 : left
      if (at(smallest) >= at(index)) return top
      swap(smallest, index)
      index = smallest
    }
  }

  const compact = () => {
    const kept = new Map(heap.filter(isCurrent).map((item) => [item.id, item]))
    // Sorted by age, an array is a heap.
    heap = [...kept.values()].toSorted((a, b) => a.admittedAt - b.admittedAt)
  }

  const oldest = (): Item | undefined => {
    while (heap[0] !== undefined && !isCurrent(heap[0])) take()
    return heap[0]
  }

  return {
    add,
    oldest,
    before: (admittedAt) => {
      const found = new Map<string, Item>()
      for (let top = oldest(); top !== undefined && top.admittedAt < admittedAt; top = oldest()) {
        found.set(top.id, top)
        take()
      }
      for (const item of found.values()) add(item)
      return [...found.values()]
    }
  }
}
