/** Texts of model calls as evidence keeps them: without secrets of known forms and of bounded length. */
import type { Message } from "./Gateway.ts"
import { withoutKnownSecrets } from "./KnownSecrets.ts"

const maxTextLength = 2_000_000

/** A message as it is kept. */
export const messageText = (message: Message): string => {
  const { native: _, ...plain } = message.role === "assistant" ? message : { ...message, native: undefined }
  return JSON.stringify(keptData(plain))
}

export const keptText = (text: string): string => {
  const clean = withoutKnownSecrets(text)
  return clean.length <= maxTextLength ? clean : `${clean.slice(0, maxTextLength)}\n(cut)`
}

/** JSON data with every text in it kept so; what is nested deeper than any answer means is left out. */
export const keptData = (value: unknown, depth = 0): unknown => {
  if (typeof value === "string") return keptText(value)
  if (typeof value !== "object" || value === null) return value
  if (depth > 40) return "(cut)"
  if (Array.isArray(value)) return value.map((item) => keptData(item, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, keptData(held, depth + 1)]))
}
