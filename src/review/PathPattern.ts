/**
 * Path patterns that the repository under review brings along, matched without backtracking: a rule of a few stars and a name made for it
 * would keep an expression busy for minutes. `*`, `?` and `[a-z]` stay within a name, `**` spans any number of folders, `\` takes the next
 * character as it is; always against the whole path. Pure.
 */

/** A path by its names. */
export type Names = ReadonlyArray<string>
export type PatternMatch = (path: Names) => boolean

export const namesOf = (path: string): Names => path.split("/")

const star = Symbol("*")
const folders = Symbol("**")
/** What one character has to be, or a star. */
type Part = string | typeof star | ((char: string) => boolean)

export const pathPattern = (pattern: string): PatternMatch => {
  const names = pattern.split("/").map((name) => (/^\*{2,}$/.test(name) ? folders : partsOf(name)))
  return (path) =>
    matches(path, names, folders, (name, wanted) => wanted !== folders && matches([...name], wanted, star, isChar))
}

const isChar = (char: string, wanted: Part): boolean => (typeof wanted === "function" ? wanted(char) : wanted === char)

/**
 * Whether items are what is wanted, where a wild one stands for any number of them. Only the last wild one ever takes more: what came
 * before it has its place, and an earlier one that took more would leave less.
 */
const matches = <A, B>(
  items: ReadonlyArray<A>,
  wanted: ReadonlyArray<B>,
  wild: B,
  same: (item: A, wanted: B) => boolean
): boolean => {
  let at = 0
  let next = 0
  let wildAt = -1
  let taken = 0
  while (at < items.length) {
    const one = wanted[next]
    if (next < wanted.length && one === wild) {
      wildAt = next++
      taken = at
    } else if (next < wanted.length && same(items[at] as A, one as B)) {
      at++
      next++
    } else if (wildAt >= 0) {
      at = ++taken
      next = wildAt + 1
    } else return false
  }
  while (next < wanted.length && wanted[next] === wild) next++
  return next === wanted.length
}

const partsOf = (name: string): ReadonlyArray<Part> => {
  const chars = [...name]
  const parts: Array<Part> = []
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? ""
    const end = char === "[" ? endOfClass(chars, at) : -1
    if (char === "\\" && at + 1 < chars.length) parts.push(chars[++at] ?? "")
    else if (char === "*") {
      if (parts.at(-1) !== star) parts.push(star)
    } else if (char === "?") parts.push(() => true)
    else if (end > 0) {
      parts.push(classOf(chars.slice(at + 1, end)))
      at = end
    } else parts.push(char)
  }
  return parts
}

/** A bracket that closes at once is a character of the class. */
const endOfClass = (chars: ReadonlyArray<string>, from: number): number => {
  const first = chars[from + 1] === "!" || chars[from + 1] === "^" ? from + 2 : from + 1
  for (let at = first; at < chars.length; at++) {
    if (chars[at] === "\\") at++
    else if (chars[at] === "]" && at > first) return at
  }
  return -1
}

const classOf = (chars: ReadonlyArray<string>): ((char: string) => boolean) => {
  const negated = chars[0] === "!" || chars[0] === "^"
  const ranges: Array<readonly [string, string]> = []
  for (let at = negated ? 1 : 0; at < chars.length; at++) {
    if (chars[at] === "\\" && at + 1 < chars.length) at++
    const low = chars[at] ?? ""
    const ranged = chars[at + 1] === "-" && at + 2 < chars.length
    ranges.push([low, ranged ? (chars[at + 2] ?? "") : low])
    if (ranged) at += 2
  }
  return (char) => ranges.some(([low, high]) => char >= low && char <= high) !== negated
}

const maxAlternatives = 64

/** `a.{ts,js}` is two patterns; braces without a comma are characters. Of more than a few dozen the first ones. */
export const alternatives = (pattern: string): ReadonlyArray<string> => {
  let open: ReadonlyArray<string> = [pattern]
  const done: Array<string> = []
  while (open.length > 0 && done.length + open.length <= maxAlternatives) {
    const [first = "", ...rest] = open
    const brace = /^((?:\\.|[^\\])*?)\{((?:\\.|[^\\{}])*,(?:\\.|[^\\{}])*)\}(.*)$/s.exec(first)
    if (brace === null) done.push(first)
    open =
      brace === null
        ? rest
        : [...(brace[2] ?? "").split(",").map((one) => `${brace[1] ?? ""}${one}${brace[3] ?? ""}`), ...rest]
  }
  return done
}
