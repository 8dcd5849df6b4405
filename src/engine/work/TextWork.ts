/** Work on single texts of unbounded length from other authors. */
import { scrubText } from "../../review/ScrubText.ts"
import { countTokens } from "../../review/Tokens.ts"

export const textWork = {
  scrubText: (text: string): string => scrubText(text),
  countTokens: (texts: ReadonlyArray<string>): ReadonlyArray<number> => texts.map(countTokens)
}
