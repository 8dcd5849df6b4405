/** Applies the suggestion of a finding to its file at the head. Pure. */
import type { Anchor } from "../domain/Problem.ts"

export const applySuggestion = (text: string, { line, start = line }: Anchor, suggestion: string): string => {
  const lines = text.split("\n")
  return [...lines.slice(0, start - 1), suggestion, ...lines.slice(line)].join("\n")
}
