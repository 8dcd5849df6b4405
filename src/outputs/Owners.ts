/**
 * The owners file: lines `PATTERN @owner …` as in CODEOWNERS, where the last pattern that fits wins, and lines that only name owners,
 * who own everything. Bounded; anything else is passed over. Pure.
 */
import { compilePaths } from "../domain/PathPatterns.ts"
import type { PathPattern } from "../domain/PathPatterns.ts"

const maxLines = 2000
/** Characters of the file that are read. */
const maxText = 131_072
const maxPattern = 500
/** Characters of all patterns. */
const maxPatterns = 32_768
const maxOwners = 10

interface Rule {
  readonly pattern: PathPattern
  readonly owners: ReadonlyArray<string>
}

/** `docs/` is a folder, `*.ts` a name anywhere, `/a` a path from the root. */
const patternOf = (written: string): PathPattern => {
  const rooted = written.startsWith("/") || written.slice(0, -1).includes("/")
  const isFolder = written.endsWith("/")
  const bare = written.slice(written.startsWith("/") ? 1 : 0, isFolder ? -1 : undefined)
  return { text: rooted ? bare : `**/${bare}`, reach: isFolder ? "within" : "both" }
}

const everything: PathPattern = { text: "**" }

const account = (word: string): string | undefined => /^@([\w.-]+)$/.exec(word)?.[1]

/** The words before a comment. */
const wordsOf = (line: string): ReadonlyArray<string> => {
  const words = line.split(/\s+/).filter((word) => word !== "")
  const comment = words.findIndex((word) => word.startsWith("#"))
  return comment < 0 ? words : words.slice(0, comment)
}

const rules = (text: string): ReadonlyArray<Rule> => {
  let room = maxPatterns
  return text
    .slice(0, maxText)
    .split(/\r?\n/)
    .slice(0, maxLines)
    .flatMap((line) => {
      const words = wordsOf(line)
      const [first = ""] = words
      room -= first.length
      if (words.length === 0 || first.length > maxPattern || room < 0) return []
      const namesOnly = first.startsWith("@")
      const owners = (namesOnly ? words : words.slice(1)).flatMap((word) => account(word) ?? [])
      return [{ pattern: namesOnly ? everything : patternOf(first), owners }]
    })
}

/** Accounts that own any of the paths, each once. Teams and e-mail addresses are no accounts. */
export const ownersOf = (text: string, paths: ReadonlyArray<string>): ReadonlyArray<string> => {
  const all = rules(text)
  const patterns = compilePaths(all.map(({ pattern }) => pattern))
  const found = new Set<string>()
  for (const path of paths) for (const owner of all[patterns.last(path)]?.owners ?? []) found.add(owner)
  return [...found].slice(0, maxOwners)
}
