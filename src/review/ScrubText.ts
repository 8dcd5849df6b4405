/**
 * Texts of any length without the secrets in them, in steps. A text is cut where nothing near the cut looks like a secret, so that none is
 * cut in two; lines can be long, so a cut need not be between them. Pure.
 */
import { mayHoldSecret } from "./SecretHints.ts"
import { scrubSecrets } from "./Secrets.ts"
import { meter, stepLength } from "./Steps.ts"
import type { Steps } from "./Steps.ts"

/** A piece has up to twice as many characters. */
const pieceLength = stepLength / 2
/** Characters on either side of a cut that have to be harmless. */
const near = 512
const stride = 256

export function* scrubText(text: string): Steps<string> {
  if (text.length <= stepLength) return scrubSecrets(text)
  const pieces: Array<string> = []
  for (let at = 0; at < text.length;) {
    const end = cutAfter(text, at + pieceLength)
    pieces.push(scrubSecrets(text.slice(at, end)))
    at = end
    yield
  }
  return pieces.join("")
}

/** Line by line, so that every line keeps its number. */
export function* scrubLines(text: string): Steps<string> {
  const enough = meter()
  const kept: Array<string> = []
  for (let at = 0; at <= text.length;) {
    const next = text.indexOf("\n", at)
    const end = next < 0 ? text.length : next
    const line = text.slice(at, end)
    kept.push(line.length > stepLength ? yield* scrubText(line) : scrubSecrets(line))
    if (enough(end - at)) yield
    at = end + 1
  }
  return kept.join("\n")
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
