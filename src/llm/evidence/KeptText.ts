/** Prepares texts of model calls for evidence: without secrets of known forms and with bounded length. */
import type { Message } from "../Gateway.ts"
import { withoutKnownSecrets } from "./KnownSecrets.ts"

const maxTextLength = 2_000_000

/** Message in its stored form. */
export const messageText = (message: Message): string => {
  const { native: _, ...plain } = message.role === "assistant" ? message : { ...message, native: undefined }
  return JSON.stringify(keptData(plain))
}

export const keptText = (text: string): string => {
  const clean = withoutKnownSecrets(text)
  return clean.length <= maxTextLength ? clean : `${clean.slice(0, maxTextLength)}\n(cut)`
}

/** Returns JSON data with every text in its stored form; excessively nested data is omitted. */
export const keptData = (value: unknown, depth = 0): unknown => {
  if (typeof value === "string") return keptText(value)
  if (typeof value !== "object" || value === null) return value
  if (depth > 40) return "(cut)"
  if (Array.isArray(value)) return value.map((item) => keptData(item, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, keptData(held, depth + 1)]))
}
