/**
 * Finds secrets in texts: formats with a prefix, values assigned to names of secrets, and runs of characters with high entropy.
 * A secret is replaced within its line, so that a scrubbed diff still matches quotes from it. Pure.
 */
import { showInvisible } from "../domain/Invisible.ts"
import { credentialFormats } from "./CredentialFormats.ts"
import { mayHoldSecret } from "./SecretHints.ts"

export const secretMark = "[secret removed]"

const privateKey = /-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\\n\s]*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g

/** `scheme://user:password@host`, and `Authorization: Bearer …`: only the credential is replaced. */
const inUrl = /(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@'"]{0,100}:)([^\s@/'"]{3,200})(?=@)/gi
const inHeader = /(\bauthorization["']?\s*[:=]\s*["'`]?(?:bearer|basic|token)\s+)([A-Za-z0-9+/=._~-]{8,})/gi
/** A literal that is assigned to a name of a secret. */
const assigned =
  /((?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|client[_-]?secret|credential)[A-Za-z0-9_]{0,30}["'`\]]?\s*(?::|=>|=)\s*["'`])([^"'`\s]{8,400})(?=["'`])/gi
const run = /[A-Za-z0-9+/_=-]{24,}/g

/** Placeholder texts for a secret. */
const standIn =
  /^(?:\$|\{\{|<|%|\[secret removed\]|process\.env|os\.environ|env[.:])|^[xX*.•]+$|example|placeholder|changeme|your[_-]/i

/** Returns a text as models read it: without secrets, and with invisible characters by their names. */
export const scrubSecrets = (text: string): string => {
  const removed = withoutSecrets(text)
  const shown = showInvisible(removed)
  // A value that was too short to be a secret may be one with the names of its characters.
  return shown === removed ? shown : withoutSecrets(shown)
}

const withoutSecrets = (text: string): string => (mayHoldSecret(text) ? removeSecrets(text) : text)

/** Looks for every shape. */
export const removeSecrets = (text: string): string => {
  let scrubbed = text
  for (const { shape } of credentialFormats) scrubbed = scrubbed.replace(shape, secretMark)
  // Each line of a key, so that every line of the text keeps its number.
  scrubbed = scrubbed.replace(privateKey, (key) => key.replace(/\S[^\n]*/g, secretMark))
  scrubbed = withoutWebTokens(scrubbed)
    .replace(inUrl, (whole, before: string, value: string) =>
      standIn.test(value) || spelledOut.test(value) ? whole : `${before}${secretMark}`
    )
    .replace(inHeader, (_, before: string) => `${before}${secretMark}`)
    .replace(assigned, (whole, before: string, value: string) =>
      standIn.test(value) || !isLikelySecret(value) ? whole : `${before}${secretMark}`
    )
  return scrubbed.replace(run, (value) => (isRandom(value) ? secretMark : value))
}

const webTokenBody = /\.eyJ[A-Za-z0-9_-]{8,}(?=(\.[A-Za-z0-9_-]{8,}))/g
const webTokenHeader = /\beyJ[A-Za-z0-9_-]{8,}$/
const ofWebToken = /[A-Za-z0-9_-]/

/**
 * `eyJ….eyJ….…`, matched from its middle: a text may hold thousands of beginnings without an end, and a match from the
 * beginning would scan from each of them.
 */
const withoutWebTokens = (text: string): string => {
  let shown = ""
  let from = 0
  for (const { 0: body, 1: signature = "", index } of text.matchAll(webTokenBody)) {
    let start = index
    while (start > from && ofWebToken.test(text[start - 1] ?? "")) start--
    const header = webTokenHeader.exec(text.slice(start, index))
    if (header === null || index < from) continue
    shown += `${text.slice(from, start + header.index)}${secretMark}`
    from = index + body.length + signature.length
  }
  return shown + text.slice(from)
}

/** Placeholder words that documents use instead of a password. */
const spelledOut = /^(?:pass(?:word|wd)?|pwd|secret|token|key)$/i
/** An address without credentials or query. */
const address = /^https?:\/\/[^@?]*$/
/** Words with separators between them: paths, keys and names of things. */
const words = /^(?:(?:[A-Z]?[a-z]{2,}(?:[A-Z][a-z]{2,})*|[A-Z]{2,})(?:[~@._/:-]+|$))+$/
/** Alphabets, and digests of published files. */
const inOrder = /abcdefgh|0123456789/i
const digest = /^sha(?:1|256|384|512)-/

/** A value of a telling name: not a word, nor a path or name made of words. */
const isLikelySecret = (value: string): boolean => {
  if (address.test(value) || words.test(value.replace(/^[~@./:-]+/, ""))) return false
  return /\d/.test(value) || /[^A-Za-z0-9_.:/-]/.test(value) || (value.length >= 16 && entropy(value) >= 3.5)
}

/** Upper and lower case and digits well mixed, more so than in names and paths. Hexadecimal digests are no secrets by themselves. */
const isRandom = (value: string): boolean => {
  if (/^[0-9a-f-]+$/i.test(value) || inOrder.test(value) || digest.test(value)) return false
  const digits = value.match(/\d/g)?.length ?? 0
  if (digits < 3 || !/[a-z]/.test(value) || !/[A-Z]/.test(value)) return false
  return entropy(value) >= Math.min(4.4, 0.9 * Math.log2(value.length))
}

/** Bits per character. */
const entropy = (value: string): number => {
  const counts = new Map<string, number>()
  for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length)
  return bits
}
