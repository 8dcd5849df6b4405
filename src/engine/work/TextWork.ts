/** Work on single texts of unbounded length from other authors. */
import { scrubText } from "../../review/ScrubText.ts"
import { countTokens } from "../../review/Tokens.ts"

export const textWork = {
  /** Returns undefined where the text has no secret, so that it is not transferred back. */
  scrubText: (text: string): string | undefined => {
    const scrubbed = scrubText(text)
    return scrubbed === text ? undefined : scrubbed
  },
  countTokens: (texts: ReadonlyArray<string>): ReadonlyArray<number> => texts.map(countTokens)
}
