/**
 * Matches the tool name of a call with the offered tools. Models and CLI agents add a server's name as prefix
 * (`aicr.report_problem`, `mcp__aicr__report_problem`) and swap dots, dashes and underscores.
 */
const fold = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_|_$/g, "")

/** Returns the offered name, or undefined if none or several match. */
export const resolveToolName = (called: string, offered: ReadonlyArray<string>): string | undefined => {
  if (called.length > 200) return undefined
  if (offered.includes(called)) return called
  const folded = fold(called)
  const exact = offered.filter((name) => fold(name) === folded)
  if (exact.length === 1) return exact[0]
  const suffixed = offered.filter((name) => folded.endsWith(`_${fold(name)}`))
  return suffixed.length === 1 ? suffixed[0] : undefined
}
