/**
 * Parses the owners file: lines `PATTERN @owner …` as in CODEOWNERS, where the last matching pattern wins, and lines with only
 * owners, who own everything. Bounded; other lines are skipped. Pure.
 */
import { compilePaths } from "../../domain/PathPatterns.ts"
import type { PathPattern } from "../../domain/PathPatterns.ts"

const maxLines = 2000
/** Maximum number of characters that are read. */
const maxText = 131_072
const maxPattern = 500
/** Maximum number of characters in all patterns. */
const maxPatterns = 32_768
const maxOwners = 10

interface Rule {
  readonly pattern: PathPattern
  readonly owners: ReadonlyArray<string>
}

/** Converts a pattern: `docs/` is a folder, `*.ts` a name in any folder, `/a` a path from the root. */
const toPattern = (written: string): PathPattern => {
  const rooted = written.startsWith("/") || written.slice(0, -1).includes("/")
  const isFolder = written.endsWith("/")
  const bare = written.slice(written.startsWith("/") ? 1 : 0, isFolder ? -1 : undefined)
  return { text: rooted ? bare : `**/${bare}`, reach: isFolder ? "within" : "both" }
}

const everything: PathPattern = { text: "**" }

const account = (word: string): string | undefined => /^@([\w.-]+)$/.exec(word)?.[1]

/** Returns the words before a comment. */
const splitWords = (line: string): ReadonlyArray<string> => {
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
      const words = splitWords(line)
      const [first = ""] = words
      room -= first.length
      if (words.length === 0 || first.length > maxPattern || room < 0) return []
      const namesOnly = first.startsWith("@")
      const owners = (namesOnly ? words : words.slice(1)).flatMap((word) => account(word) ?? [])
      return [{ pattern: namesOnly ? everything : toPattern(first), owners }]
    })
}

/** Returns the accounts that own any of the paths, each once. Teams and e-mail addresses are not accounts. */
export const findOwners = (text: string, paths: ReadonlyArray<string>): ReadonlyArray<string> => {
  const all = rules(text)
  const patterns = compilePaths(all.map(({ pattern }) => pattern))
  const owners = new Set<string>()
  for (const path of paths) for (const owner of all[patterns.last(path)]?.owners ?? []) owners.add(owner)
  return [...owners].slice(0, maxOwners)
}
