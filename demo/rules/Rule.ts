/** Rule of the demo model: a pattern over one hunk in some languages, with the text of its problem. */
import type { Severity } from "../../src/domain/Kinds.ts"
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

/** Returns one match per added line of code for which `test` returns a result. */
export const eachLine = (
  hunk: CodeHunk,
  test: (text: string, index: number) => Omit<RuleMatch, "from" | "to"> | undefined
): ReadonlyArray<RuleMatch> =>
  hunk.lines.flatMap(({ added, text }, index) => {
    const found = added && isCode(text) ? test(text, index) : undefined
    return found === undefined ? [] : [{ from: index, to: index, ...found }]
  })

export const countIndent = (text: string): number => /^\s*/.exec(text)?.[0].length ?? 0

/** Returns the rest of the function around the line at `index`, by indentation; `complete` if its end is in the hunk. */
export const restOfBlock = (hunk: CodeHunk, index: number) => {
  const indent = countIndent(hunk.lines[index]?.text ?? "")
  const rest: Array<string> = []
  for (const { text } of hunk.lines.slice(index + 1)) {
    if (text.trim() !== "" && countIndent(text) < indent) return { rest, complete: true }
    rest.push(text)
  }
  return { rest, complete: hunk.whole }
}

export const escaped = (name: string): string => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
