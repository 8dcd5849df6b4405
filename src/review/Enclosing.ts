/**
 * The definition a line stands in, found by indentation: the nearest line above that is indented less and reads like a
 * definition. Language-blind, and the same before and after lines are added elsewhere. Pure.
 */
import { squeeze } from "./CodeText.ts"

const definition =
  /\b(function|func|fn|def|class|struct|interface|trait|impl|enum|record|module|namespace|object|extension|protocol|macro|sub|proc|public|private|protected|internal|static|async|override)\b|=>\s*\{?\s*$|^\s*[\w$<>[\]*&:~, ]+\([^;]*\)?[^;=]*\{?\s*$/
const flow =
  /^\s*(\}?\s*(if|else|for|while|switch|case|catch|try|do|with|when|match|return|finally|elif|except|unless)\b|\/\/|\/\*|\*|#)/

/** How far up is looked. */
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
    if (definition.test(line.slice(0, 500)) && !flow.test(line)) {
      return { text: squeeze(line).replace(/\{$/, ""), index: i }
    }
  }
  return undefined
}

const indentOf = (line: string): number => {
  let width = 0
  for (const char of line) {
    if (char === " ") width += 1
    else if (char === "\t") width += 4
    else break
  }
  return width
}
