/**
 * The change as a model reads it: per file a heading, per hunk its header, per line both line numbers and the mark. Numbers
 * let a model say where, marks let it see what; anchoring trusts neither and goes by quoted code.
 */
import type { FileDiff, Hunk } from "./FileDiff.ts"
import { languageOf } from "./Languages.ts"

/** Longer lines (minified code, data) are shown cut, and say so. */
export const maxLineLength = 4000

export interface Rendered {
  readonly text: string
  /** Lines that are shown in part. */
  readonly cutLines: number
}

const shown = (path: string): string => (/[\p{Cc}\u2028\u2029]/u.test(path) ? JSON.stringify(path) : path)

export const renderHeading = (file: FileDiff, part?: { readonly index: number; readonly of: number }): string => {
  const facts: Array<string> = [file.oldPath === undefined ? file.status : `${file.status} from ${shown(file.oldPath)}`]
  const language = languageOf(file.path)
  if (language !== undefined) facts.push(language)
  if (file.newMode === "120000") facts.push("symbolic link")
  if (file.oldMode !== undefined && file.newMode !== undefined && file.oldMode !== file.newMode) {
    facts.push(`mode ${file.oldMode} to ${file.newMode}`)
  }
  if (part !== undefined) facts.push(`part ${part.index} of ${part.of}`)
  return `=== ${shown(file.path)} (${facts.join(", ")})\n`
}

export const renderHunk = (hunk: Hunk): Rendered => {
  const { oldStart, oldLines, newStart, newLines, section, lines } = hunk
  const width = String(Math.max(oldStart + oldLines, newStart + newLines)).length
  const blank = " ".repeat(width)
  let text = `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@ ${section}`.trimEnd() + "\n"
  let oldLine = oldStart
  let newLine = newStart
  let cutLines = 0
  for (const line of lines) {
    const mark = line[0] ?? " "
    const old = mark === "+" ? blank : String(oldLine++).padStart(width)
    const now = mark === "-" ? blank : String(newLine++).padStart(width)
    let code = line.endsWith("\r") ? line.slice(1, -1) : line.slice(1)
    if (code.length > maxLineLength) {
      code = `${code.slice(0, maxLineLength)} … [${code.length - maxLineLength} more characters of this line are not shown]`
      cutLines++
    }
    text += `${old} ${now} |${mark}${code}\n`
  }
  return { text, cutLines }
}
