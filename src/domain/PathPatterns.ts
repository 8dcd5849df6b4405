/**
 * Matches path patterns in time proportional to the length of the path and of the patterns. A list of patterns is one automaton whose
 * states are bits: each character of a path advances all patterns together, without backtracking. All patterns of the configuration and of
 * repositories under review are matched here.
 *
 * `*`, `?` and `[a-z]` stay within a name, `**` as a whole name spans any number of folders, `\` escapes the next character; always against
 * the whole path. Pure.
 *
 * A set of re2js matches usual lists as fast, but its automaton can grow without limit and then becomes slow: 64 patterns of `*a` and
 * hundreds of `?`, which an owners file may contain, take 4 s on one path of 4096 characters, 32 ms here.
 */

export interface PathPattern {
  readonly text: string
  /** `within`: paths below a matching path; `both`: the path and the paths below it. Default: only the path. */
  readonly reach?: "path" | "within" | "both"
}

export interface PathPatterns {
  /** Returns the index of the last pattern that matches, or -1. */
  readonly last: (path: string) => number
  /** Size of the automaton in bits: the cost of a character of a path, in 32nds. */
  readonly size: number
}

type CharTest = (code: number) => boolean

const slash = 47

interface Builder {
  readonly chars: Map<number, Array<number>>
  readonly classes: Array<{ readonly bit: number; readonly test: CharTest }>
  /** Bits that stay on any character but a slash, and bits that stay on every one. */
  readonly stay: Array<number>
  readonly stayAlways: Array<number>
  /** States from which the next state is entered without a character. */
  readonly through: Array<number>
  readonly starts: Array<number>
  readonly accepts: Array<{ readonly bit: number; readonly pattern: number }>
  size: number
}

export const compilePaths = (patterns: ReadonlyArray<PathPattern>): PathPatterns => {
  const builder: Builder = {
    chars: new Map(),
    classes: [],
    stay: [],
    stayAlways: [],
    through: [],
    starts: [],
    accepts: [],
    size: 0
  }
  for (const [index, pattern] of patterns.entries()) add(builder, pattern, index)
  return automaton(builder)
}

const add = (builder: Builder, { text, reach = "path" }: PathPattern, pattern: number) => {
  const chars = Array.from(text, (char) => char.codePointAt(0) ?? 0)
  builder.starts.push(builder.size)
  const expect = (test: number | CharTest) => {
    const bit = ++builder.size
    if (typeof test === "function") {
      builder.classes.push({ bit, test })
      return
    }
    const bits = builder.chars.get(test)
    if (bits === undefined) builder.chars.set(test, [bit])
    else bits.push(bit)
  }
  let at = 0
  let mayClose = true
  while (at < chars.length) {
    const folders = atName(chars, at) ? endOfFolders(chars, at) : at
    if (folders > at) {
      builder.stayAlways.push(builder.size)
      if (folders < chars.length) {
        builder.through.push(builder.size)
        expect(slash)
      }
      at = folders + 1
      continue
    }
    const char = chars[at] ?? 0
    const end = char === codes.open && mayClose ? endOfClass(chars, at) : -1
    // After an unclosed bracket no further one is searched for.
    if (char === codes.open && end < 0) mayClose = false
    if (char === codes.star) builder.stay.push(builder.size)
    else if (char === codes.any) expect(isNotSlash)
    else if (end > 0) expect(classOf(chars.slice(at + 1, end)))
    else if (char === codes.escape && at + 1 < chars.length) expect(chars[++at] ?? 0)
    else expect(char)
    at = end > 0 ? end + 1 : at + 1
  }
  if (reach !== "within") builder.accepts.push({ bit: builder.size, pattern })
  if (reach !== "path") {
    expect(slash)
    builder.stayAlways.push(builder.size)
    builder.accepts.push({ bit: builder.size, pattern })
  }
  builder.size++
}

const codes = { star: 42, any: 63, open: 91, close: 93, escape: 92, not: 33, caret: 94, dash: 45 }
const isNotSlash: CharTest = (code) => code !== slash
const atName = (chars: ReadonlyArray<number>, at: number): boolean => at === 0 || chars[at - 1] === slash

/** Returns the end of consecutive `**` names: the last slash after them, or `at` if there are none. */
const endOfFolders = (chars: ReadonlyArray<number>, at: number): number => {
  let end = at
  for (let from = at; ;) {
    let to = from
    while (chars[to] === codes.star) to++
    if (to - from < 2 || (to < chars.length && chars[to] !== slash)) return end
    end = to
    if (to >= chars.length) return end
    from = to + 1
  }
}

/** Returns the end of a class. A bracket that closes immediately is a character of the class. */
const endOfClass = (chars: ReadonlyArray<number>, from: number): number => {
  const first = isNegation(chars[from + 1]) ? from + 2 : from + 1
  for (let at = first; at < chars.length; at++) {
    if (chars[at] === codes.escape) at++
    else if (chars[at] === codes.close && at > first) return at
  }
  return -1
}

const isNegation = (char: number | undefined): boolean => char === codes.not || char === codes.caret

const classOf = (chars: ReadonlyArray<number>): CharTest => {
  const negated = isNegation(chars[0])
  const ranges: Array<readonly [number, number]> = []
  for (let at = negated ? 1 : 0; at < chars.length; at++) {
    if (chars[at] === codes.escape && at + 1 < chars.length) at++
    const low = chars[at] ?? 0
    const ranged = chars[at + 1] === codes.dash && at + 2 < chars.length
    ranges.push([low, ranged ? (chars[at + 2] ?? 0) : low])
    if (ranged) at += 2
  }
  return (code) => code !== slash && ranges.some(([low, high]) => code >= low && code <= high) !== negated
}

/** Maximum number of characters whose bits are cached; a repository may use any number of others. */
const maxCached = 256

const automaton = (builder: Builder): PathPatterns => {
  const { accepts, chars, classes, size } = builder
  const words = Math.max(1, Math.ceil(size / 32))
  const mask = (bits: Iterable<number>): Int32Array => {
    const made = new Int32Array(words)
    for (const bit of bits) setBit(made, bit)
    return made
  }
  const stayOnSlash = mask(builder.stayAlways)
  const stayOnOther = mask([...builder.stayAlways, ...builder.stay])
  const through = mask(builder.through)
  const accepting = mask(accepts.map(({ bit }) => bit))
  const patternOf = new Map(accepts.map(({ bit, pattern }) => [bit, pattern]))
  const start = mask(builder.starts)
  enterThrough(start, through)
  const kept = new Map<number, Int32Array>()

  const expected = (code: number): Int32Array => {
    const known = kept.get(code)
    if (known !== undefined) return known
    const made = mask(chars.get(code) ?? [])
    for (const { bit, test } of classes) if (test(code)) setBit(made, bit)
    if (kept.size < maxCached) kept.set(code, made)
    return made
  }

  const run = (path: string): Int32Array => {
    const states = start.slice()
    for (let at = 0; at < path.length; at++) {
      const code = path.codePointAt(at) ?? 0
      if (code > 0xffff) at++
      if (!step(states, expected(code), code === slash ? stayOnSlash : stayOnOther, through)) break
    }
    return states
  }

  return {
    size,
    last: (path) => {
      if (accepts.length === 0) return -1
      const states = run(path)
      for (let word = words - 1; word >= 0; word--) {
        const accepted = (states[word] ?? 0) & (accepting[word] ?? 0)
        if (accepted !== 0) return patternOf.get(word * 32 + 31 - Math.clz32(accepted)) ?? -1
      }
      return -1
    }
  }
}

const setBit = (bits: Int32Array, bit: number) => {
  bits[bit >>> 5] = (bits[bit >>> 5] ?? 0) | (1 << (bit & 31))
}

/** Advances all states by one character; returns false if none is left. */
const step = (states: Int32Array, expected: Int32Array, stay: Int32Array, through: Int32Array): boolean => {
  let carry = 0
  let entering = 0
  let any = 0
  for (let word = 0; word < states.length; word++) {
    const before = states[word] ?? 0
    // A word without states, and without new ones, does not change.
    if (before === 0 && carry === 0 && entering === 0) continue
    const moved = ((before << 1) | carry) & (expected[word] ?? 0)
    const passed = moved & (through[word] ?? 0)
    const after = moved | (passed << 1) | entering | (before & (stay[word] ?? 0))
    carry = before >>> 31
    entering = passed >>> 31
    states[word] = after
    any |= after
  }
  return any !== 0
}

const enterThrough = (states: Int32Array, through: Int32Array) => {
  let carry = 0
  for (let word = 0; word < states.length; word++) {
    const before = states[word] ?? 0
    const passed = before & (through[word] ?? 0)
    states[word] = before | (passed << 1) | carry
    carry = passed >>> 31
  }
}
