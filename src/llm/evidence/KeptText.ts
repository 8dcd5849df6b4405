/** Prepares texts of model calls for evidence: without secrets of known forms and with bounded length. */
import type { Message } from "../Gateway.ts"

/**
 * Redacts secrets of known forms from a text before it is stored: tokens of hosts, clouds and chat services, private keys, signed
 * tokens, passwords in URLs and after words that announce one. The replacement names the kind of secret.
 */
const forms: ReadonlyArray<readonly [name: string, form: RegExp]> = [
  [
    "private key",
    /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^-]|-(?!----)){0,20000}(?:-----END [A-Z ]*PRIVATE KEY-----)?/g
  ],
  ["GitHub token", /\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255})/g],
  ["GitLab token", /\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|oas)-[A-Za-z0-9_.-]{20,255}/g],
  ["AWS key id", /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g],
  ["Google key", /\bAIza[A-Za-z0-9_-]{35}/g],
  ["Google token", /\bya29\.[A-Za-z0-9_-]{20,}/g],
  ["Slack token", /\bxox[abeprs]-[A-Za-z0-9-]{10,}/g],
  ["Stripe key", /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}/g],
  ["API key", /\b(?:sk|pk|gsk|xai|hf|npm)[-_][A-Za-z0-9_-]{20,}/g]
]
/**
 * `eyJ….eyJ….…` with whatever its first part is joined to: looked for where a run of such characters begins, for one may hold thousands of
 * beginnings, and each would be read to its end.
 */
const signedToken = /(?<![A-Za-z0-9_-])([A-Za-z0-9_-]{11,})\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g
const tokenStart = /(?:^|-)eyJ/

const withoutSignedToken = (whole: string, head: string): string => {
  const found = tokenStart.exec(head)
  if (found === null || found.index + found[0].length + 8 > head.length) return whole
  return `${head.slice(0, found.index + found[0].length - 3)}[signed token removed]`
}
const inUrl = /(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^/\s:@"']{0,200}:)[^/\s@"']{1,512}@/gi
const announced =
  /((?:api[_-]?key|secret(?:[_-]?(?:access)?[_-]?key)?|password|passwd|auth[_-]?token|access[_-]?token|client[_-]?secret)\\?["']?\s{0,3}[:=]\s{0,3}\\?["'])([^"'\s\\]{8,512})(\\?["'])/gi
const bearer = /\b(Bearer|Basic)\s+(?=\S*\d)[A-Za-z0-9+/=._~-]{16,}/g

export const withoutKnownSecrets = (text: string): string =>
  forms
    .reduce((clean, [name, form]) => clean.replace(form, `[${name} removed]`), text)
    .replace(signedToken, withoutSignedToken)
    .replace(inUrl, "$1[password removed]@")
    .replace(announced, "$1[secret removed]$3")
    .replace(bearer, "$1 [credential removed]")

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
