/**
 * Cleans values for log lines: limited depth and size, without credentials. A credential is recognised by the name of its field or by its
 * form inside a text (user information in URLs, authorization schemes). `Redacted` values print as such.
 */
import { Redacted } from "effect"

export const censored = "[redacted]"
const maxDepth = 6
const maxItems = 50
const maxText = 8192

const credentialName =
  /(?:authorization|password|passwd|passphrase|secret|token|api[-_]?key|private[-_]?key|access[-_]?key|cookie|credentials?|ticket|signature)$/i

/**
 * Credentials by form: `https://user:pass@host`, `?token=…` of URLs, `Bearer …`, `Basic …`, PEM blocks, well-known token prefixes of hosts.
 */
const credentialForms: ReadonlyArray<readonly [RegExp, string]> = [
  [/(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^/\s@]{1,512}@/gi, `$1${censored}@`],
  [
    /([?&][\w.~%[-]{0,64}(?:authorization|passw(?:or)?d|passphrase|secret|token|key|credentials?|ticket|signature|sig)\]?=)[^&#\s"'<>]+/gi,
    `$1${censored}`
  ],
  [/\b([Bb]earer|[Bb]asic|[Tt]oken)\s+(?=\S*(?:\d|[a-z][A-Z]))[A-Za-z0-9+/=._~-]{12,}/g, `$1 ${censored}`],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, censored],
  [/\b(?:gh[pousr]_|github_pat_|glpat-|sk-)[A-Za-z0-9_-]{16,}/g, censored]
]

/** Characters that control a terminal or the direction of text, except for line feeds and tabs. */
// eslint-disable-next-line no-control-regex
const controls = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

const showControl = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/** Returns the text without credentials, with control characters written out, cut after 8192 characters. */
export const cleanText = (text: string): string => {
  const cut = text.length > maxText ? `${text.slice(0, maxText)}… (${text.length} characters)` : text
  return redactForms(cut).replace(controls, showControl)
}

/** Text that each of the forms contains. Most texts contain none, and are searched once. */
const mayHaveForm = /[@?&]|[Bb]earer|[Bb]asic|[Tt]oken|-----BEGIN|gh[pousr]_|github_pat_|glpat-|sk-/

/** Returns the text with `[redacted]` in place of what has the form of a credential. */
export const redactForms = (text: string): string =>
  mayHaveForm.test(text)
    ? credentialForms.reduce((clean, [form, replacement]) => clean.replace(form, replacement), text)
    : text

/** Returns the text with `[redacted]` in place of these values. */
export const redactValues = (text: string, values: ReadonlyArray<string>): string =>
  values.reduce((clean, value) => (clean.includes(value) ? clean.replaceAll(value, censored) : clean), text)

export const isCredentialName = (name: string): boolean => credentialName.test(name)

/**
 * Returns the value as plain JSON data without credentials. A field named like a credential is censored unless it is a number or a boolean
 * (a fencing token, `has_token`).
 */
export const clean = (value: unknown, depth = 0): unknown => {
  if (typeof value === "string") return cleanText(value)
  if (typeof value === "bigint" || typeof value === "symbol") return String(value)
  if (typeof value === "function") return "[function]"
  if (typeof value !== "object" || value === null) return value
  if (Redacted.isRedacted(value)) return censored
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "invalid date" : value.toISOString()
  if (value instanceof URL) return cleanText(value.href)
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`
  if (depth >= maxDepth) return Array.isArray(value) ? "[array]" : "[object]"
  if (value instanceof Error) return cleanError(value, depth)
  if (value instanceof Map)
    return cleanEntries(
      [...value].map(([key, held]) => [String(key), held]),
      depth
    )
  if (Array.isArray(value) || value instanceof Set) return cleanItems([...value], depth)
  return cleanEntries(Object.entries(value), depth)
}

/** Returns type, message and stack, then the error's fields and its cause. */
const cleanError = (error: Error, depth: number): Record<string, unknown> => ({
  ...cleanEntries(Object.entries(error), depth),
  type: error.name,
  message: cleanText(error.message),
  ...(error.stack === undefined ? {} : { stack: cleanText(error.stack) }),
  ...(error.cause === undefined ? {} : { cause: clean(error.cause, depth + 1) })
})

const cleanItems = (items: ReadonlyArray<unknown>, depth: number): ReadonlyArray<unknown> => {
  const kept = items.slice(0, maxItems).map((item) => clean(item, depth + 1))
  return items.length > maxItems ? [...kept, `… ${items.length - maxItems} more`] : kept
}

const cleanEntries = (entries: ReadonlyArray<readonly [string, unknown]>, depth: number): Record<string, unknown> => {
  const kept: Record<string, unknown> = Object.create(null)
  for (const [key, held] of entries.slice(0, maxItems)) kept[cleanText(key)] = cleanField(key, held, depth)
  if (entries.length > maxItems) kept["…"] = `${entries.length - maxItems} more`
  return kept
}

const cleanField = (key: string, held: unknown, depth: number): unknown =>
  credentialName.test(key) &&
  typeof held !== "number" &&
  typeof held !== "boolean" &&
  held !== undefined &&
  held !== null
    ? censored
    : clean(held, depth + 1)
