/** Paths as git prints them in diffs: bare, followed by a tab when they hold a space, or quoted like C strings. Pure. */

const escapes: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 }

/** Reads a quoted name that starts at `at`; gives the text and where it ends, or undefined when it is not one. */
const readQuoted = (line: string, at: number): { readonly text: string; readonly end: number } | undefined => {
  if (line[at] !== '"') return undefined
  const bytes: Array<number> = []
  for (let i = at + 1; i < line.length; i++) {
    const char = line[i] ?? ""
    if (char === '"') return { text: Buffer.from(bytes).toString("utf8"), end: i + 1 }
    if (char !== "\\") {
      const point = line.codePointAt(i) ?? 0
      const whole = String.fromCodePoint(point)
      bytes.push(...Buffer.from(whole))
      i += whole.length - 1
      continue
    }
    const octal = /^[0-3][0-7]{2}/.exec(line.slice(i + 1, i + 4))?.[0]
    if (octal !== undefined) {
      bytes.push(Number.parseInt(octal, 8))
      i += 3
      continue
    }
    const code = escapes[line[i + 1] ?? ""]
    if (code === undefined) return undefined
    bytes.push(code)
    i += 1
  }
  return undefined
}

/** The name on a line of its own, such as after `rename from `. */
export const readName = (rest: string): string => readQuoted(rest, 0)?.text ?? rest

/** The name after `--- ` or `+++ `, without its prefix; undefined for /dev/null. */
export const readSide = (rest: string): string | undefined => {
  const name = rest.startsWith('"') ? readName(rest) : rest.replace(/\t$/, "")
  return name === "/dev/null" ? undefined : name.slice(2)
}

/**
 * The name in `a/<name> b/<name>`, for files without other name lines (mode changes, empty and binary files): there both
 * sides have the same name, so the middle is where the line splits, whatever the name holds.
 */
export const readSame = (rest: string): string | undefined => {
  const first = readQuoted(rest, 0)
  if (first !== undefined) return first.text.slice(2)
  const middle = (rest.length - 1) / 2
  return rest[middle] === " " && rest.slice(2, middle) === rest.slice(middle + 3) ? rest.slice(2, middle) : undefined
}
