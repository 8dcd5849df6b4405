/**
 * Credentials in the lines that a change adds: only formats with a prefix, and private keys. Names and randomness decide nothing, so that what
 * is found is a fact. The value itself is in no result. Pure.
 */
import { createHash } from "node:crypto"
import { credentialFormats, credentialPrefix, isStandIn } from "./CredentialFormats.ts"
import type { FileDiff, NumberedLine } from "./FileDiff.ts"
import { numberLines } from "./FileDiff.ts"
import { parseIgnoreFile } from "./IgnoreFile.ts"
import { scrubSecrets } from "./Secrets.ts"

export interface LeakedCredential {
  readonly kind: string
  readonly path: string
  readonly oldPath: string | undefined
  readonly line: number
  /** The line without its secrets. */
  readonly code: string
  /** SHA-256 of the value, in hexadecimal digits. */
  readonly digest: string
}

/** Maximum number of credentials that a review reports. */
const maxFound = 50
/** Characters of a line that are searched. */
const maxLine = 20_000

const keyBegin = /-----BEGIN (?:(?:RSA|DSA|EC|OPENSSH|PGP) )?PRIVATE KEY(?: BLOCK)?-----/
/** Characters of a key, on the same line as its first line or on one of the next. */
const keyBody = /[A-Za-z0-9+/]{40,}/
/** Lines below its first line in which a key begins: those of PGP have headers. */
const keyReach = 4

const formats = credentialFormats.flatMap(({ exact, kind }) => (exact === undefined ? [] : [{ kind, pattern: exact }]))

/** Returns the credentials, each once per file. */
export const findCredentials = (files: ReadonlyArray<FileDiff>): ReadonlyArray<LeakedCredential> => {
  const found = new Map<string, LeakedCredential>()
  for (const { hunks, oldPath, path } of files)
    for (const hunk of hunks) {
      if (!hunk.lines.some(mayAddCredential)) continue
      const lines = numberLines(hunk)
      for (const [at, { kind: mark, newLine, text }] of lines.entries()) {
        if (mark !== "+" || newLine === undefined) continue
        for (const { kind, value } of credentialsIn(text.slice(0, maxLine), lines.slice(at + 1, at + 1 + keyReach))) {
          const digest = createHash("sha256").update(value).digest("hex")
          const key = JSON.stringify([path, kind, digest])
          if (!found.has(key)) found.set(key, { kind, path, oldPath, line: newLine, code: scrubSecrets(text), digest })
          if (found.size === maxFound) return [...found.values()]
        }
      }
    }
  return [...found.values()]
}

const mayAddCredential = (line: string): boolean =>
  line.startsWith("+") && (credentialPrefix.test(line) || line.includes("-----BEGIN "))

const credentialsIn = (text: string, below: ReadonlyArray<NumberedLine>) => {
  const values = credentialPrefix.test(text)
    ? formats.flatMap(({ kind, pattern }) => Array.from(text.matchAll(pattern), ([value]) => ({ kind, value })))
    : []
  const key = privateKeyIn(text, below)
  return [...values.filter(({ value }) => !isStandIn(value)), ...(key === undefined ? [] : [key])]
}

const privateKeyIn = (text: string, below: ReadonlyArray<NumberedLine>) => {
  const begin = keyBegin.exec(text)
  if (begin === null) return undefined
  const rest = text.slice(begin.index + begin[0].length)
  const after = [rest, ...below.flatMap((line) => (line.kind === "+" ? [line.text] : []))]
  const value = after.flatMap((line) => keyBody.exec(line)?.[0] ?? []).at(0)
  return value === undefined || isStandIn(value) ? undefined : { kind: "Private key", value }
}

/**
 * Returns those that the allow list does not name: patterns of paths as in an ignore file, and `sha256:` with the digest of a value. The list is
 * that of the protected base.
 */
export const withoutAllowed = (
  found: ReadonlyArray<LeakedCredential>,
  allowList: string
): ReadonlyArray<LeakedCredential> => {
  const lines = allowList.split(/\r?\n/)
  const digests = new Set(
    lines.flatMap((line) => /^\s*sha256:([0-9a-f]{64})\s*$/i.exec(line)?.[1]?.toLowerCase() ?? [])
  )
  const { ignoredBy } = parseIgnoreFile(lines.filter((line) => !/^\s*sha256:/i.test(line)).join("\n"))
  return found.filter(({ digest, path }) => !digests.has(digest) && ignoredBy(path) === undefined)
}
