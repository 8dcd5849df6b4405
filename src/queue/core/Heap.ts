/**
 * Binary heap with lazy removal: an item counts only while `isCurrent` returns true. Other items are dropped when they reach the top, or
 * together when they are the majority, so that the heap holds little more than twice the current items. A sorted array in its place moves
 * all later items: with 1 000 000 entries of one repository 130 us of processor time per removal, instead of 3 us.
 */
export class Heap<A> {
  readonly #order: (a: A, b: A) => number
  readonly #isCurrent: (item: A) => boolean
  /** Upper bound for the current number of items that count. */
  readonly maxCurrent: () => number
  #items: Array<A> = []

  constructor(order: (a: A, b: A) => number, isCurrent: (item: A) => boolean, most: () => number) {
    this.#order = order
    this.#isCurrent = isCurrent
    this.maxCurrent = most
  }

  add(item: A): void {
    if (this.#items.length > 2 * this.maxCurrent() + 32) this.#compact()
    let index = this.#items.push(item) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (this.#inOrder(parent, index)) return
      this.#swap(parent, index)
      index = parent
    }
  }

  /** Returns the first current item without removing it. */
  first(): A | undefined {
    for (let top = this.#items[0]; top !== undefined; top = this.#items[0]) {
      if (this.#isCurrent(top)) return top
      this.#drop()
    }
    return undefined
  }

  take(): A | undefined {
    const top = this.first()
    if (top !== undefined) this.#drop()
    return top
  }

  /** Returns all current items, unordered. */
  current(): ReadonlyArray<A> {
    return this.#items.filter(this.#isCurrent)
  }

  #drop(): void {
    const last = this.#items.pop()
    if (this.#items.length === 0 || last === undefined) return
    this.#items[0] = last
    let index = 0
    while (true) {
      const left = 2 * index + 1
      const smaller = this.#inOrder(left, left + 1) ? left : left + 1
      if (this.#inOrder(index, smaller)) return
      this.#swap(smaller, index)
      index = smaller
    }
  }

  /** Returns whether the items at `a` and `b` are in order; a missing item comes last. */
  #inOrder(a: number, b: number): boolean {
    const [first, second] = [this.#items[a], this.#items[b]]
    if (second === undefined) return true
    return first !== undefined && this.#order(first, second) <= 0
  }

  #swap(a: number, b: number): void {
    const [first, second] = [this.#items[a], this.#items[b]]
    if (first === undefined || second === undefined) return
    this.#items[a] = second
    this.#items[b] = first
  }

  #compact(): void {
    // A sorted array is a heap.
    this.#items = [...new Set(this.current())].toSorted(this.#order)
  }
}
