/** Lines of code that hold a fault by convention: the timed model reports those that a diff adds, at positions that tests can compute. */
import type { Severity } from "../../src/domain/Kinds.ts"

export interface ShownFault {
  readonly name: string
  readonly severity: Severity
  readonly file: string
  readonly line: number
  /** The line as the diff shows it. */
  readonly quote: string
}

/** The part of a change that a text shows. */
export interface ShownChange {
  readonly files: ReadonlyArray<string>
  /** `path:line` of the added lines. */
  readonly added: ReadonlyArray<string>
  readonly faults: ReadonlyArray<ShownFault>
}

const mark = /\bfault_(\w+?)_(critical|high|medium|low|info)\b/

/** Returns a line of TypeScript that holds a fault. The name is made of letters and digits. */
export const faultyLine = (name: string, severity: Severity): string =>
  `  const fault_${name}_${severity} = rows[rows.length].total`

/** Parses the diffs in a text, in the form of git or of a review's prompt, whatever is around them. */
export const readShownChange = (text: string): ShownChange => {
  const files = new Set<string>()
  const added: Array<string> = []
  const faults = new Map<string, ShownFault>()
  let file = ""
  let next = 0
  const add = (line: number, code: string): void => {
    added.push(`${file}:${line}`)
    const [, name = "", severity] = mark.exec(code) ?? []
    if (severity !== undefined && !faults.has(name))
      faults.set(name, { name, severity: toSeverity(severity), file, line, quote: code })
  }
  for (const row of text.split("\n")) {
    const heading = /^\+\+\+ b\/(.+)$/.exec(row) ?? /^=== (.+) \([^()]*\)$/.exec(row)
    const hunk = /^@@ -\d+(?:,\d+)? \+(\d+)/.exec(row)
    const numbered = /^(\d+)\+: (.*)$/.exec(row)
    if (heading !== null) {
      file = heading[1] ?? ""
      files.add(file)
    } else if (hunk !== null) next = Number(hunk[1])
    else if (numbered !== null) add(Number(numbered[1]), numbered[2] ?? "")
    else if (row.startsWith("+")) add(next++, row.slice(1))
    else if (row.startsWith(" ")) next++
  }
  return { files: [...files], added, faults: [...faults.values()] }
}

const toSeverity = (text: string): Severity =>
  (["critical", "high", "medium", "low"] as const).find((severity) => severity === text) ?? "info"
