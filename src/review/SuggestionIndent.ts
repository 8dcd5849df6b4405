/**
 * Gives a suggestion the indentation of the lines that it replaces: models often send its first line, or all of it, without. One click on
 * an unindented suggestion would break languages with significant white space. Pure, in linear time.
 */

const indentOf = (line: string): string => /^[ \t]*/.exec(line)?.[0] ?? ""
const isBlank = (line: string): boolean => line.trim() === ""

/** Returns whether the next line belongs to this one, so that it is indented further. */
const continues = (line: string): boolean => /(?:[:{([,=+*/&|\\?<>.-]|\b(?:do|then|begin|else))$/.test(line.trimEnd())

/**
 * Returns whether only the first line lacks the indentation: the others have it, and the second is as far to the right as in the file.
 * Otherwise the whole suggestion begins at the left.
 */
const isFirstAlone = (first: string, rest: ReadonlyArray<string>, indent: string): boolean => {
  const [second] = rest
  if (second === undefined || !rest.every((line) => line.startsWith(indent))) return false
  return indentOf(second) === indent ? !continues(first) : true
}

/** Returns the suggestion for these lines of a file. A suggestion whose first line is indented is not changed. */
export const indentSuggestion = (suggestion: string, replaced: string): string => {
  const indent = indentOf(replaced.split("\n").find((line) => !isBlank(line)) ?? "")
  const lines = suggestion.split("\n")
  const at = lines.findIndex((line) => !isBlank(line))
  const first = lines[at] ?? ""
  if (indent === "" || at === -1 || indentOf(first) !== "") return suggestion
  const rest = lines.slice(at + 1).filter((line) => !isBlank(line))
  const moves = isFirstAlone(first, rest, indent) ? (index: number) => index === at : () => true
  return lines.map((line, index) => (!isBlank(line) && moves(index) ? `${indent}${line}` : line)).join("\n")
}
