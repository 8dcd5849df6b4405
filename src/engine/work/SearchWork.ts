/** Searches of models in the files of the repository: their patterns, and the lines that these match. */
import type { CodeHit, PatternRefused } from "../../agent/CodeSearch.ts"
import { anyGlob } from "../../domain/Globs.ts"
import { scrubText } from "../../review/ScrubText.ts"
import { compileSearch, findLines } from "../references/SearchPattern.ts"
import type { SearchPattern } from "../references/SearchPattern.ts"

/** Time for the lines of one file. */
const fileMillis = 500

export const makeSearchWork = () => {
  let last: { readonly key: string; readonly pattern: SearchPattern | PatternRefused } | undefined
  const compiled = (text: string, ignoreCase: boolean) => {
    const key = `${ignoreCase} ${text}`
    if (last?.key !== key) last = { key, pattern: compileSearch(text, ignoreCase) }
    return last.pattern
  }
  return {
    /** Returns texts of which each matching line contains one, or why the pattern is refused. */
    planSearch: (pattern: string, ignoreCase: boolean): Pick<SearchPattern, "texts"> | PatternRefused => {
      const planned = compiled(pattern, ignoreCase)
      return "refused" in planned ? planned : { texts: planned.texts }
    },
    searchText: (pattern: string, ignoreCase: boolean, text: string, most: number): ReadonlyArray<CodeHit> => {
      const planned = compiled(pattern, ignoreCase)
      if ("refused" in planned) return []
      const deadline = performance.now() + fileMillis
      return findLines(planned, text, most, () => performance.now() > deadline)
    },
    /** Returns the lines with these 1-based numbers of each text as a search shows them, without secrets. */
    showLines: (
      texts: ReadonlyArray<{ readonly text: string; readonly lines: ReadonlyArray<number> }>
    ): ReadonlyArray<ReadonlyArray<CodeHit>> => texts.map(({ lines, text }) => showLines(text, new Set(lines))),
    /** Returns the paths that the glob matches. */
    matchPaths: (glob: string, paths: ReadonlyArray<string>): ReadonlyArray<string> => paths.filter(anyGlob([glob]))
  }
}

const showLines = (text: string, wanted: ReadonlySet<number>): ReadonlyArray<CodeHit> => {
  const clean = scrubText(text, (from, to) => {
    for (let line = from; line <= to; line++) if (wanted.has(line)) return true
    return false
  })
  let at = 0
  const indexIn = () => (wanted.has(++at) ? 0 : -1)
  return findLines({ indexIn }, clean, wanted.size, () => false)
}
