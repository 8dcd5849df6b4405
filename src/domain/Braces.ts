/**
 * Expands braces of path globs: `a.{ts,js}` is two patterns, `{a..c}` is a class. Read in one pass, to a limited depth and number. Pure.
 */

type Node = string | ReadonlyArray<Sequence>
type Sequence = ReadonlyArray<Node>

interface Group {
  readonly done: Array<Sequence>
  current: Array<Node>
}

/** Maximum depth; deeper braces are literal characters. */
const maxDepth = 8

/**
 * Returns the patterns without braces that a pattern expands to, at most `limit`. Braces without a comma and unclosed braces are literal
 * characters, as is everything after `\\` and in `[]`.
 */
export const expandBraces = (pattern: string, limit: number): ReadonlyArray<string> => expand(read(pattern), limit)

const read = (pattern: string): Sequence => {
  const groups: Array<Group> = [{ done: [], current: [] }]
  const top = () => groups.at(-1) ?? { done: [], current: [] }
  let nextClose = pattern.indexOf("]")
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at] ?? ""
    if (char === "[" && nextClose >= 0 && nextClose < at + 2) nextClose = pattern.indexOf("]", at + 2)
    const end = char === "[" ? endOfBracket(pattern, at, nextClose) : char === "\\" ? at + 1 : at
    if (end > at) {
      top().current.push(pattern.slice(at, end + 1))
      at = end
    } else if (char === "{" && groups.length <= maxDepth) groups.push({ done: [], current: [] })
    else if (char === "," && groups.length > 1) {
      const group = top()
      group.done.push(group.current)
      group.current = []
    } else if (char === "}" && groups.length > 1) {
      const { done, current } = groups.pop() ?? top()
      if (done.length > 0) top().current.push([...done, current])
      else top().current.push(...(asClass(current) ?? ["{", ...current, "}"]))
    } else top().current.push(char)
  }
  while (groups.length > 1) {
    const { done, current } = groups.pop() ?? top()
    top().current.push("{", ...done.flatMap((sequence) => [...sequence, ","]), ...current)
  }
  return top().current
}

/** Expands `{a..c}`. */
const asClass = (nodes: Sequence): ReadonlyArray<string> | undefined => {
  const [low, first, second, high] = nodes
  const plain = (node: Node | undefined): node is string => typeof node === "string" && /^[A-Za-z0-9]$/.test(node)
  return nodes.length === 4 && first === "." && second === "." && plain(low) && plain(high)
    ? [low <= high ? `[${low}-${high}]` : `[${high}-${low}]`]
    : undefined
}

/** Returns the end of a class that is closed, otherwise `from`. A class that cannot be closed is not searched. */
const endOfBracket = (pattern: string, from: number, nextClose: number): number => {
  if (nextClose < 0 || nextClose >= from + maxClass) return from
  for (let at = from + 2; at < pattern.length && at < from + maxClass; at++) {
    if (pattern[at] === "\\") at++
    else if (pattern[at] === "]") return at
  }
  return from
}

/** Maximum length of a class that is searched for, so that a pattern of brackets is read once. */
const maxClass = 256

const expand = (sequence: Sequence, limit: number): ReadonlyArray<string> => {
  let whole: ReadonlyArray<string> = [""]
  for (const node of sequence) {
    const parts = typeof node === "string" ? [node] : node.flatMap((one) => expand(one, limit)).slice(0, limit)
    whole = parts.length === 1 ? whole.map((begun) => begun + (parts[0] ?? "")) : cross(whole, parts, limit)
  }
  return whole
}

const cross = (begun: ReadonlyArray<string>, parts: ReadonlyArray<string>, limit: number): ReadonlyArray<string> =>
  begun
    .slice(0, Math.ceil(limit / parts.length))
    .flatMap((start) => parts.map((part) => start + part))
    .slice(0, limit)
