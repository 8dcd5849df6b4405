/**
 * Whether a text may hold a secret of any supported shape: one pass over its characters, because it runs on every line
 * of a change and nearly always returns false. Text that passes is matched in detail afterwards. Pure.
 */
import { credentialPrefix } from "./CredentialFormats.ts"

const name = 1
const dot = 2
const digit = 4
const upper = 8
const lower = 16
const quote = 32
const blank = 64

const classes = new Uint8Array(128)
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code)
  if (/[A-Za-z0-9+/_=-]/.test(char)) classes[code] = name
  if (/\d/.test(char)) classes[code] = name | digit
  if (/[A-Z]/.test(char)) classes[code] = name | upper
  if (/[a-z]/.test(char)) classes[code] = name | lower
  if (/["'`]/.test(char)) classes[code] = quote
  if (/\s/.test(char)) classes[code] = blank
}
classes[46] = dot

/** The shortest run of names and dots that a known format can be. */
const knownLength = 15
/** Minimum length of a run of names that may be random, and of its digits. */
const randomLength = 24
const randomDigits = 3
const assignedLength = 8

const authorization = /authorization/i
const secretName = /pass|pwd|secret|token|key|credential/i

export const mayHoldSecret = (text: string): boolean => {
  /** Lengths of the runs at hand: names and dots, names alone, characters since a quote. */
  let long = 0
  let run = 0
  let quoted = -1
  let digits = 0
  let mixed = 0
  let dashes = 0
  let known = false
  let assigned = false
  let url = false
  let zed = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const kind = code < 128 ? (classes[code] ?? 0) : 0
    if ((kind & name) !== 0) {
      run++
      if (++long === knownLength) known = true
      if ((kind & digit) !== 0) digits++
      else mixed |= kind
      if (run >= randomLength && digits >= randomDigits && (mixed & upper) !== 0 && (mixed & lower) !== 0) return true
      if (code === 45) dashes++
      else {
        // -----BEGIN
        if (code === 66 && dashes >= 5) return true
        dashes = 0
        if ((code | 32) === 122) zed = true
        if (code === 47 && text.charCodeAt(at - 1) === 47 && text.charCodeAt(at - 2) === 58) url = true
      }
      if (quoted >= 0) quoted++
      continue
    }
    run = 0
    digits = 0
    mixed = 0
    dashes = 0
    if (kind === dot) {
      if (++long === knownLength) known = true
    } else {
      long = 0
      if (code === 64 && url) return true
    }
    if (kind === quote) {
      if (quoted >= assignedLength) assigned = true
      quoted = 0
    } else if (kind === blank) quoted = -1
    else if (quoted >= 0) quoted++
  }
  return (
    (known && credentialPrefix.test(text)) || (assigned && secretName.test(text)) || (zed && authorization.test(text))
  )
}
