/**
 * Matches path globs of the configuration: `*` and `?` stay within a directory, `**` spans zero or more, `{a,b}` and `[ab]` work, a leading
 * `!` negates a glob, `**.ts` is a name in any directory, dot files are matched like others, matching is case-sensitive and against the
 * whole path. Pure.
 */
import { expandBraces } from "./Braces.ts"
import { compilePaths } from "./PathPatterns.ts"
import type { PathPattern } from "./PathPatterns.ts"

export type PathMatch = (path: string) => boolean

/** Maximum number of patterns that the braces of one glob may expand to; the configuration refuses more. */
export const maxAlternatives = 256

/** Returns one matcher for "any of these"; an empty list matches nothing. */
export const anyGlob = (globs: ReadonlyArray<string>): PathMatch => {
  const read = globs.map(readGlob)
  const plain = compilePaths(read.flatMap(({ negated, patterns }) => (negated ? [] : patterns)))
  const turned = read.flatMap(({ negated, patterns }) => (negated ? [compilePaths(patterns)] : []))
  return (path) => plain.last(path) >= 0 || turned.some((patterns) => patterns.last(path) < 0)
}

const readGlob = (glob: string) => {
  const bare = glob.replace(/^\.?\//, "")
  const marks = /^!*/.exec(bare)?.[0].length ?? 0
  return {
    negated: marks % 2 === 1,
    patterns: expandBraces(bare.slice(marks).replace(/^\*\*(?=\.\w+$)/, "**/*"), maxAlternatives).map(patternOf)
  }
}

/** Returns the pattern of a glob: `a/**` includes `a`, except for folders named by a wildcard. */
const patternOf = (text: string): PathPattern => {
  let end = text.length
  while (text.startsWith("/**", end - 3) && end > 3) end -= 3
  return end === text.length || text[end - 1] === "*" ? { text } : { text: text.slice(0, end), reach: "both" }
}

/** Matches paths under any of these folders; leading `./` and `/`, trailing `/` and depot-style `/...` are equivalent. */
export const underAny = (folders: ReadonlyArray<string>): PathMatch => {
  const names = new Set(folders.map(folderName))
  if (names.has("") || names.has(".")) return () => true
  return (path) => {
    for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
      if (names.has(path.slice(0, end))) return true
    }
    return false
  }
}

const folderName = (folder: string): string => {
  const whole = folder.endsWith("/...") ? folder.slice(0, -4) : folder
  const start = /^\.?\/+/.exec(whole)?.[0].length ?? 0
  let end = whole.length
  while (end > start && whole[end - 1] === "/") end--
  return whole.slice(start, end)
}
