/**
 * Path globs of the configuration: `*` and `?` stay within a directory, `**` spans zero or more, `{a,b}` and `[ab]` work, dot
 * files are files like others, matching is case-sensitive and always against the whole path. Pure.
 */
import picomatch from "picomatch"

export type PathMatch = (path: string) => boolean

const cache = new Map<string, PathMatch>()

/** One matcher for "any of these"; an empty list matches nothing. */
export const anyGlob = (globs: ReadonlyArray<string>): PathMatch => {
  const matchers = globs.map(glob)
  return (path) => matchers.some((matches) => matches(path))
}

const glob = (pattern: string): PathMatch => {
  const known = cache.get(pattern)
  if (known !== undefined) return known
  const compiled: PathMatch =
    pattern === "**/*" || pattern === "**"
      ? () => true
      : picomatch(pattern.replace(/^\.?\//, ""), { dot: true, noextglob: true })
  if (cache.size > 4096) cache.clear()
  cache.set(pattern, compiled)
  return compiled
}

/** Paths under any of these folders; leading `./` and `/`, trailing `/` and depot-style `/...` mean the same folder. */
export const underAny = (folders: ReadonlyArray<string>): PathMatch => {
  const clean = folders.map((folder) => folder.replace(/\/\.\.\.$/, "").replace(/^\.?\/+|\/+$/g, ""))
  return (path) =>
    clean.some((folder) => folder === "" || folder === "." || path === folder || path.startsWith(`${folder}/`))
}
