/**
 * Removes secrets from texts of any length. A long text is split where nothing nearby looks like a secret, so that no
 * secret is divided; lines can be long, so a split need not be between them. Pure.
 */
import { mayHoldSecret } from "./SecretHints.ts"
import { scrubSecrets } from "./Secrets.ts"

/** Longer texts are scrubbed in pieces. */
const wholeLength = 16_384
/** Target length of a piece. A piece has at most twice as many characters. */
const pieceLength = wholeLength / 2
/** Characters on either side of a cut that have to be harmless. */
const near = 512
const stride = 256

export const scrubText = (text: string): string => {
  if (text.length <= wholeLength) return scrubSecrets(text)
  const pieces: Array<string> = []
  for (let at = 0; at < text.length;) {
    const end = cutAfter(text, at + pieceLength)
    pieces.push(scrubSecrets(text.slice(at, end)))
    at = end
  }
  return pieces.join("")
}

/** Line by line, so that every line keeps its number. */
export const scrubLines = (text: string): string => {
  const parts: Array<string> = []
  /** Start of the part that is not in `parts` yet: lines without a secret are copied together. */
  let rest = 0
  for (let at = 0; at <= text.length;) {
    const next = text.indexOf("\n", at)
    const end = next < 0 ? text.length : next
    const line = text.slice(at, end)
    const scrubbed = line.length > wholeLength ? scrubText(line) : scrubSecrets(line)
    if (scrubbed !== line) {
      parts.push(text.slice(rest, at), scrubbed)
      rest = end
    }
    at = end + 1
  }
  return rest === 0 ? text : parts.join("") + text.slice(rest)
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
