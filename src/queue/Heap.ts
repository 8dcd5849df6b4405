/**
 * A binary heap whose items may be out of date: an item counts only while `isCurrent` says so. The others are dropped when they
 * come to the top, or all at once when they are the most, so that it never holds more than twice what counts (and some).
 */
export class Heap<A> {
  readonly #order: (a: A, b: A) => number
  readonly #isCurrent: (item: A) => boolean
  /** How many items count now, at most. */
  readonly #most: () => number
  #items: Array<A> = []

  constructor(order: (a: A, b: A) => number, isCurrent: (item: A) => boolean, most: () => number) {
    this.#order = order
    this.#isCurrent = isCurrent
    this.#most = most
  }

  add(item: A): void {
    if (this.#items.length > 2 * this.#most() + 32) this.#compact()
    let index = this.#items.push(item) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (this.#inOrder(parent, index)) return
      this.#swap(parent, index)
      index = parent
    }
  }

  /** The first current item. It stays. */
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

  /** All that count, in no order. */
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

  /** Whether the item at `a` may stand before the one at `b`; nothing comes last. */
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
    // Sorted, an array is a heap.
    this.#items = [...new Set(this.current())].toSorted(this.#order)
  }
}
