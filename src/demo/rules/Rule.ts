/** What a rule of the demo model is: a pattern over one hunk, in some languages, with the words for what it finds. */
import type { Severity } from "../../domain/Kinds.ts"
import type { CodeHunk } from "../DemoDiff.ts"

export interface RuleMatch {
  /** Indexes into the hunk's lines, both included. */
  readonly from: number
  readonly to: number
  readonly message: string
  /** Replaces the lines. */
  readonly suggestion?: string
}

export interface Rule {
  readonly id: string
  readonly title: string
  readonly category: string
  readonly severity: Severity
  readonly extensions: ReadonlyArray<string>
  readonly find: (hunk: CodeHunk) => ReadonlyArray<RuleMatch>
}

export const script = ["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs"]
export const python = ["py"]
export const go = ["go"]
export const code = [...script, ...python, ...go, "java", "kt", "cs", "rb", "php", "rs"]

const comment = /^\s*(?:\/\/|#|\*|\/\*|<!--|--\s)/

/** Longer lines are data or minified. */
const longest = 500

export const isCode = (text: string): boolean => text.length <= longest && text.trim() !== "" && !comment.test(text)

/** One match per added line of code that `test` has something to say about. */
export const eachLine = (
  hunk: CodeHunk,
  test: (text: string, index: number) => Omit<RuleMatch, "from" | "to"> | undefined
): ReadonlyArray<RuleMatch> =>
  hunk.lines.flatMap(({ added, text }, index) => {
    const found = added && isCode(text) ? test(text, index) : undefined
    return found === undefined ? [] : [{ from: index, to: index, ...found }]
  })

export const indentOf = (text: string): number => /^\s*/.exec(text)?.[0].length ?? 0

/**
 * The rest of the function that the line at `index` stands in, by indentation; `complete` when its end is in sight.
 */
export const restOfBlock = (hunk: CodeHunk, index: number) => {
  const indent = indentOf(hunk.lines[index]?.text ?? "")
  const rest: Array<string> = []
  for (const { text } of hunk.lines.slice(index + 1)) {
    if (text.trim() !== "" && indentOf(text) < indent) return { rest, complete: true }
    rest.push(text)
  }
  return { rest, complete: hunk.whole }
}

export const escaped = (name: string): string => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
