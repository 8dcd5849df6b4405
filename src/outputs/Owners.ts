/**
 * The owners file: lines `PATTERN @owner …` as in CODEOWNERS, where the last pattern that fits wins, and lines that only name owners,
 * who own everything. Bounded; anything else is passed over. Pure.
 */
import picomatch from "picomatch"

const mostLines = 2000
const mostOwners = 10

interface Rule {
  readonly fits: (path: string) => boolean
  readonly owners: ReadonlyArray<string>
}

/** `docs/` is a folder, `*.ts` a name anywhere, `/a` a path from the root. */
const matcher = (pattern: string): ((path: string) => boolean) => {
  const rooted = pattern.startsWith("/") || pattern.slice(0, -1).includes("/")
  const bare = pattern.replace(/^\//, "")
  const glob = rooted ? bare : `**/${bare}`
  return picomatch(bare.endsWith("/") ? [`${glob}**`] : [glob, `${glob}/**`], { dot: true })
}

const account = (word: string): string | undefined => /^@([\w.-]+)$/.exec(word)?.[1]

const rules = (text: string): ReadonlyArray<Rule> =>
  text
    .split(/\r?\n/)
    .slice(0, mostLines)
    .flatMap((line) => {
      const words = line
        .replace(/(^|\s)#.*$/, "")
        .split(/\s+/)
        .filter((word) => word !== "")
      const [first = ""] = words
      if (words.length === 0 || first.length > 500) return []
      const everything = first.startsWith("@")
      const owners = (everything ? words : words.slice(1)).flatMap((word) => account(word) ?? [])
      return [{ fits: everything ? () => true : matcher(first), owners }]
    })

/** Accounts that own any of the paths, each once. Teams and e-mail addresses are no accounts. */
export const ownersOf = (text: string, paths: ReadonlyArray<string>): ReadonlyArray<string> => {
  const all = rules(text)
  const found = paths.flatMap((path) => all.findLast(({ fits }) => fits(path))?.owners ?? [])
  return [...new Set(found)].slice(0, mostOwners)
}
