/** The text of a commit status: one line that no host cuts. Pure. */
import type { Reason } from "../../domain/Reason.ts"
import { inLanguage } from "../../text/InLanguage.ts"

/** Maximum length of a description at all hosts, in characters. */
const maxLength = 140

/** The branch of another change is cut before the verdict about it. */
const minBranch = 12

const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, Math.max(0, length - 1))}…`

export const statusText = (description: Reason, language: string): string => {
  const render = inLanguage(language)
  const text = render(description)
  const excess = text.length - maxLength
  const isHeld = description._tag === "HeldIn" || description._tag === "HeldElsewhere"
  if (excess <= 0 || !isHeld || description.branch === undefined) return cut(text, maxLength)
  const { branch } = description
  return cut(render({ ...description, branch: cut(branch, Math.max(branch.length - excess, minBranch)) }), maxLength)
}
