/** Messages by e-mail: plain text. Pure. */
import { withoutInvisible } from "../../domain/Text.ts"
import { safeTexts } from "../SafeText.ts"
import { oneLine, withoutControls } from "../text/InertText.ts"
import { convertMarkup } from "./OwnMarkup.ts"
import type { Platform } from "./Platform.ts"

const maxSubject = 200

export const emailPlatform = {
  safe: safeTexts.email,
  limit: 100_000,
  mention: ({ author }) => (author === undefined ? "" : safeTexts.email.plain(`@${author}`)),
  message: ({ body, title }) => ({
    subject: oneLine(withoutInvisible(withoutControls(title)))
      .trim()
      .slice(0, maxSubject),
    text: `${convertMarkup(body, { strong: "", link: (text, url) => (text === url ? url : `${text} (${url})`) })}\n`
  }),
  call: undefined
} as const satisfies Platform
