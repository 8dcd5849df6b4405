/**
 * Finds the definition around a line by indentation: the nearest line above that is indented less and reads like a
 * definition. Works for any language, and gives the same result before and after lines are added elsewhere. Pure.
 */
import { squeeze } from "./CodeText.ts"

// Patterns that match in linear time, because the lines come from untrusted authors.
const definition =
  /\b(function|func|fn|def|class|struct|interface|trait|impl|enum|record|module|namespace|object|extension|protocol|macro|sub|proc|public|private|protected|internal|static|async|override)\b|=>\s*(?:\{\s*)?$|^[\w$<>[\]*&:~, ]+\([^;]*$/
const flow =
  /^ ?(\}?\s*(if|else|for|while|switch|case|catch|try|do|with|when|match|return|finally|elif|except|unless)\b|\/\/|\/\*|\*|#)/

/** Maximum number of lines to search upwards. */
const reach = 2000

/** Squeezed text of the enclosing definition line and its 0-based index; undefined at the top level. */
export const enclosingDefinition = (
  lines: ReadonlyArray<string>,
  at: number
): { readonly text: string; readonly index: number } | undefined => {
  let indent = indentOf(lines[at] ?? "")
  for (let i = at - 1; i >= 0 && at - i < reach && indent > 0; i--) {
    const line = lines[i] ?? ""
    if (line.trim() === "") continue
    const own = indentOf(line)
    if (own >= indent) continue
    indent = own
    const text = lastBlank(line) + line.trimStart().slice(0, 500)
    if (definition.test(text) && !flow.test(text)) {
      return { text: squeeze(line).replace(/\{$/, ""), index: i }
    }
  }
  return undefined
}

/** Returns at most one of the leading blanks: the patterns need no more, and long indentation would slow them down. */
const lastBlank = (line: string): string => (line.at(-line.trimStart().length - 1) === " " ? " " : "")

/** Maximum indentation that is measured; deeper lines count as this deep. */
const deepest = 1024

const indentOf = (line: string): number => {
  let width = 0
  for (let at = 0; at < line.length && width < deepest; at++) {
    if (line[at] === " ") width += 1
    else if (line[at] === "\t") width += 4
    else break
  }
  return width
}
