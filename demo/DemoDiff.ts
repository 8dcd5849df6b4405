/**
 * Parses the numbered diff of a review prompt from its text alone, as a model would. Only the new side is kept, hunk by hunk,
 * because the rules match the new side.
 */
export interface CodeLine {
  /** Line number in the file at the head. */
  readonly number: number
  readonly text: string
  readonly added: boolean
}

export interface CodeHunk {
  readonly path: string
  /** Extension without dot, in lower case, by which the rules select a language. */
  readonly extension: string
  /** True if the hunk is a whole new file, so that nothing exists outside of it. */
  readonly whole: boolean
  readonly lines: ReadonlyArray<CodeLine>
}

const fenced = /^<diff (\S+)>\n([\s\S]*?)\n<\/diff \1>$/gm
const heading = /^=== (.+) \(([^()]*)\)$/
const hunkHeader = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/
const numbered = /^(\d+)([+-]?): (.*)$/

export const parseHunks = (prompt: string): ReadonlyArray<CodeHunk> => {
  const hunks: Array<CodeHunk> = []
  for (const [, , body = ""] of prompt.matchAll(fenced)) {
    let path: string | undefined
    let whole = false
    let lines: Array<CodeLine> | undefined
    for (const line of body.split("\n")) {
      const head = heading.exec(line)
      if (head !== null) {
        path = unquoted(head[1] ?? "")
        whole = /^added\b/.test(head[2] ?? "")
        lines = undefined
      } else if (hunkHeader.test(line) && path !== undefined) {
        lines = []
        hunks.push({ path, extension: /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "", whole, lines })
      } else {
        const [, number, mark, text] = numbered.exec(line) ?? []
        if (mark === "-" || text === undefined) continue
        lines?.push({ number: Number(number), text, added: mark === "+" })
      }
    }
  }
  return hunks
}

/** Names with control characters are shown as JSON. */
const unquoted = (shown: string): string => {
  if (!shown.startsWith('"')) return shown
  try {
    const value: unknown = JSON.parse(shown)
    return typeof value === "string" ? value : shown
  } catch {
    // A file name that only starts like JSON is used verbatim.
    return shown
  }
}
