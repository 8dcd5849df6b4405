/**
 * Removes secrets from texts of any length, line by line, and every line keeps its number: a check of each line costs a third of one of
 * longer pieces, of which half look as if they may hold a secret. Lines that can only be judged together are: those of a private key, and a
 * name with the value that is assigned to it. A long line is split where nothing nearby looks like a secret. Pure.
 */
import { mayHoldSecret } from "./SecretHints.ts"
import { scrubSecrets } from "./Secrets.ts"

/** Longer lines are scrubbed in pieces. */
const wholeLength = 16_384
/** Target length of a piece. A piece has at most twice as many characters. */
const pieceLength = wholeLength / 2
/** Characters on either side of a cut that have to be harmless. */
const near = 512
const stride = 256

/** Scrubs the lines that are `isWanted`, by the 1-based numbers of the first and the last line that belong together; all without it. */
export const scrubText = (text: string, isWanted?: (first: number, last: number) => boolean): string => {
  const parts: Array<string> = []
  /** Start of the part that is not in `parts` yet: lines without a secret are copied together. */
  let rest = 0
  let line = 1
  for (let at = 0; at <= text.length;) {
    const { end, lines } = unitAt(text, at)
    if (isWanted?.(line, line + lines - 1) ?? true) {
      const unit = text.slice(at, end)
      const scrubbed = unit.length > wholeLength ? scrubPieces(unit) : scrubSecrets(unit)
      if (scrubbed !== unit) {
        parts.push(text.slice(rest, at), scrubbed)
        rest = end
      }
    }
    line += lines
    at = end + 1
  }
  return rest === 0 ? text : parts.join("") + text.slice(rest)
}

const begin = "-----BEGIN "
const privateKey = /[A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\\n\s]*/y

/** Returns the end of the line at a position, or of the lines that belong together, and their number. */
const unitAt = (text: string, from: number): { readonly end: number; readonly lines: number } => {
  let end = lineEnd(text, from)
  let lines = 1
  for (let at = from; end < text.length && end - from < wholeLength;) {
    const keyEnd = keyEndIn(text, at, end)
    if (keyEnd <= end && !isOpen(text, at, end, at === from)) break
    at = end + 1
    end = lineEnd(text, Math.max(at, keyEnd))
    for (let next = text.indexOf("\n", at - 1); next >= 0 && next < end; next = text.indexOf("\n", next + 1)) lines++
  }
  return { end, lines }
}

const lineEnd = (text: string, from: number): number => {
  const next = text.indexOf("\n", from)
  return next < 0 ? text.length : next
}

/** Returns the end of the private keys that begin in a line, or -1. */
const keyEndIn = (text: string, from: number, end: number): number => {
  let keyEnd = -1
  const line = text.slice(from, end)
  for (let at = line.indexOf(begin); at >= 0; at = line.indexOf(begin, at + 1)) {
    privateKey.lastIndex = from + at + begin.length
    if (privateKey.test(text)) keyEnd = privateKey.lastIndex
  }
  return keyEnd
}

/** Whether a line ends between a name and its value: after the sign or the scheme, or before the sign. Blank lines belong to those before. */
const isOpen = (text: string, from: number, end: number, isFirst: boolean): boolean => {
  let last = end - 1
  while (last >= from && isBlank(text.charCodeAt(last))) last--
  if (last < from) return !isFirst
  if (signs.test(text.slice(Math.max(from, last - 9), last + 1))) return true
  let next = end + 1
  while (next < text.length && isBlank(text.charCodeAt(next))) next++
  return text[next] === ":" || text[next] === "="
}

const isBlank = (code: number): boolean => code <= 32 || code === 0xa0 || code === 0xfeff
const signs = /(?:[:=]|=>|bearer|basic|token)$/i

const scrubPieces = (text: string): string => {
  const pieces: Array<string> = []
  for (let at = 0; at < text.length;) {
    const end = cutAfter(text, at + pieceLength)
    pieces.push(scrubSecrets(text.slice(at, end)))
    at = end
  }
  return pieces.join("")
}

const cutAfter = (text: string, from: number): number => {
  const last = from + pieceLength
  if (last >= text.length) return text.length
  for (let at = from; at < last; at += stride) {
    const cut = at + text.slice(at, at + stride).indexOf("\n") + 1
    if (!mayHoldSecret(text.slice(cut - near, cut + near))) return cut
  }
  // It looks like one all along: data, of which every part is as random as the whole.
  return last
}
