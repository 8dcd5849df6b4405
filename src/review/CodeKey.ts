/**
 * Key of quoted code, by which a later review finds out whether the code is still in its file without storing it: markers of
 * issues hold keys, and an issue may be read by people who cannot read the code. White space and line breaks do not count. Code of
 * the old side was removed by the change, so its problem ends when the file has the code as often as before. Pure.
 */
import { createHash } from "node:crypto"
import type { ReportedProblem } from "../domain/Problem.ts"
import type { Anchored } from "./Anchor.ts"
import { squeeze, weight } from "./CodeText.ts"
import { readQuote } from "./Quote.ts"
import { secretMark } from "./Secrets.ts"

/** Minimum weight of a quote within the anchored lines, and of code without its secrets. Shorter code is in almost every file. */
const minWeight = 4

const base = 257

/** Polynomial hash modulo 2^32, which is cheap to move along a text. */
const polynomial = (text: string): number => {
  let hash = 0
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, base) + text.charCodeAt(at)) | 0
  return hash
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16)

/** Returns the longest part of the code without a secret. */
const withoutSecrets = (squeezed: string): string =>
  squeezed.split(squeeze(secretMark)).reduce((longest, part) => (part.length > longest.length ? part : longest), "")

/** Returns the quoted part of the anchored lines, or these if the quote is not exactly in them. */
const quoted = (problem: Pick<ReportedProblem, "quote">, anchored: string): string => {
  const lines = squeeze(anchored)
  const quotes = readQuote(problem.quote ?? "").map(({ squeezed }) => squeezed.join(""))
  return quotes.find((quote) => weight(quote) >= minWeight && lines.includes(quote)) ?? lines
}

interface CodeKey {
  /** Number of occurrences from which on the code counts as present; undefined on the old side in place of one. */
  readonly restoredAt: number | undefined
  readonly length: number
  readonly hash: number
  readonly digest: string
}

const renderKey = ({ digest: code, hash, length, restoredAt }: CodeKey): string =>
  `${restoredAt === undefined ? "+" : `-${restoredAt}.`}${length}.${(hash >>> 0).toString(16)}.${code}`

const parseKey = (text: string): CodeKey | undefined => {
  const [, count, length, hash = "", code = ""] =
    /^(?:\+|-(\d{1,4})\.)(\d{1,7})\.([0-9a-f]{1,8})\.([0-9a-f]{16})$/.exec(text) ?? []
  if (length === undefined || Number(length) === 0 || count === "0") return undefined
  const restoredAt = count === undefined ? undefined : Number(count)
  return { restoredAt, length: Number(length), hash: Number.parseInt(hash, 16) | 0, digest: code }
}

/** Counts the occurrences of keys of one length in a squeezed text, as far as they matter. */
const countLength = (
  text: string,
  length: number,
  keys: ReadonlyArray<CodeKey>,
  counts: Map<CodeKey, number>
): void => {
  if (text.length < length) return
  const wanted = Map.groupBy(keys, ({ hash }) => hash)
  let top = 1
  for (let at = 1; at < length; at++) top = Math.imul(top, base)
  let hash = polynomial(text.slice(0, length))
  for (let end = length; wanted.size > 0; end++) {
    const candidates = wanted.get(hash)
    if (candidates !== undefined) {
      const code = digest(text.slice(end - length, end))
      for (const key of candidates) if (key.digest === code) counts.set(key, (counts.get(key) ?? 0) + 1)
      const rest = candidates.filter((key) => (counts.get(key) ?? 0) < enough(key))
      if (rest.length > 0) wanted.set(hash, rest)
      else wanted.delete(hash)
    }
    if (end >= text.length) return
    hash = (Math.imul(hash - Math.imul(text.charCodeAt(end - length), top), base) + text.charCodeAt(end)) | 0
  }
}

/** Number of occurrences from which on the code of a key is present. */
const enough = ({ restoredAt = 1 }: CodeKey): number => restoredAt

const countKeys = (text: string, keys: ReadonlyArray<CodeKey>): ReadonlyMap<CodeKey, number> => {
  const squeezed = squeeze(text)
  const counts = new Map<CodeKey, number>()
  for (const [length, some] of Map.groupBy(keys, (key) => key.length)) countLength(squeezed, length, some, counts)
  return counts
}

/** Maximum number of occurrences that are counted. */
const maxCount = 1000

const countIn = (text: string, key: CodeKey): number => {
  const counted = { ...key, restoredAt: maxCount }
  return countKeys(text, [counted]).get(counted) ?? 0
}

/** Returns for each key whether the text contains its code often enough; undefined for an invalid key. */
const present = (text: string, keys: ReadonlyArray<string>) => {
  const parsed = keys.map(parseKey)
  const counts = countKeys(
    text,
    parsed.filter((key) => key !== undefined)
  )
  return parsed.map((key) => key && { key, isPresent: (counts.get(key) ?? 0) >= enough(key) })
}

/**
 * Returns the key of the code of a problem that is anchored at these lines. `text` is the file at the side of the anchor. Undefined
 * if too little of the code identifies it.
 */
export const codeKey = (
  problem: Pick<ReportedProblem, "quote">,
  { code: anchored, anchor }: Pick<Anchored, "code" | "anchor">,
  text: string | undefined
): string | undefined => {
  const code = withoutSecrets(quoted(problem, anchored))
  if (weight(code) < minWeight) return undefined
  const key = { restoredAt: undefined, length: code.length, hash: polynomial(code), digest: digest(code) }
  if (anchor.side === "new") return renderKey(key)
  const restoredAt = countIn(text ?? "", key)
  return restoredAt === 0 || restoredAt === maxCount ? undefined : renderKey({ ...key, restoredAt })
}

/**
 * Returns for each key whether this text of its file ends its problem: code of the new side is not in it, code of the old side is in
 * it again. An invalid key ends nothing.
 */
export const endedKeys = (text: string, keys: ReadonlyArray<string>): ReadonlyArray<boolean> =>
  present(text, keys).map((entry) => entry !== undefined && entry.isPresent === (entry.key.restoredAt !== undefined))

/** Returns for each key whether it is of code of the new side that this text contains. */
export const heldKeys = (text: string, keys: ReadonlyArray<string>): ReadonlyArray<boolean> =>
  present(text, keys).map((entry) => entry !== undefined && entry.key.restoredAt === undefined && entry.isPresent)
