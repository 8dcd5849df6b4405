/**
 * Inserts the code of a suggestion into a template of the operator (`{{problem.suggestion}}`). In a fenced block the code must
 * stay verbatim, elsewhere it must be escaped; its position is known only after the template has been rendered, so a slot marks
 * it until then. External text cannot contain a slot (SafeText.ts). Pure.
 */
import type { Finding } from "../../domain/Problem.ts"
import { withoutCommands } from "./Grammars.ts"
import { withoutMarkers } from "./InertText.ts"
import type { SafeText } from "../SafeText.ts"
import { fenceAfter } from "../../domain/CodeFence.ts"

export const codeSlot = (fingerprint: string): string => `<!-- aicr-code ${fingerprint} -->`

const slot = /<!-- aicr-code ([0-9a-f]{32}) -->/g

/** Returns the text with its slots filled. */
export const fillCode = (text: string, findings: ReadonlyArray<Finding>, safe: SafeText): string => {
  if (!text.includes("<!-- aicr-code ")) return text
  const codes = new Map(findings.map(({ fingerprint, problem }) => [fingerprint, problem.suggestion ?? ""]))
  let open: string | undefined
  let opener = ""
  return text
    .split("\n")
    .map((line) => {
      const fence = open
      open = fenceAfter(open, line)
      if (fence === undefined) opener = line
      const whole = /^<!-- aicr-code ([0-9a-f]{32}) -->$/.exec(line)
      const code = codes.get(whole?.[1] ?? "")
      if (code !== undefined && fence !== undefined && !code.includes(fence)) {
        // Only in a block that starts with three backticks and a word is a line never a quick action for GitLab's old parser
        // (Grammars.ts).
        const isVerbatim = fence === "```" && !opener.endsWith("```")
        return isVerbatim ? withoutMarkers(code) : withoutCommands(withoutMarkers(code))
      }
      return line.replace(slot, (_, fingerprint: string) => safe.plain(codes.get(fingerprint) ?? ""))
    })
    .join("\n")
}
