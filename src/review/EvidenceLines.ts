/** Lines of a file as digests, for the evidence of findings. Pure. */
import { hash } from "node:crypto"
import { squeeze, weight } from "./CodeText.ts"
import { enclosingDefinition } from "./Enclosing.ts"
import { linesOfText } from "./HunkText.ts"

const digestLength = 10
/** Characters of a line that count. */
const maxLine = 4000

/** A line with letters or digits. */
interface EvidenceLine {
  readonly digest: string
  /** 0-based position in the file. */
  readonly at: number
  readonly weight: number
}

export interface EvidenceFile {
  readonly text: string
  readonly lines: ReadonlyArray<string>
  readonly weighty: ReadonlyArray<EvidenceLine>
}

/** Returns the digest of a line without its layout; undefined if it has no letters and digits. */
const digestLine = (line: string): { readonly digest: string; readonly weight: number } | undefined => {
  const squeezed = squeeze(line.slice(0, maxLine))
  const value = weight(squeezed)
  return value === 0
    ? undefined
    : { digest: hash("sha256", squeezed, "base64url").slice(0, digestLength), weight: value }
}

export const toEvidenceFile = (text: string): EvidenceFile => {
  const lines = linesOfText(text)
  const weighty = lines.flatMap((line, at) => {
    const found = digestLine(line)
    return found === undefined ? [] : [{ ...found, at }]
  })
  return { text, lines, weighty }
}

/** Returns the digest of the definition around a line, by indentation. */
export const definitionAround = ({ lines }: Pick<EvidenceFile, "lines">, at: number): string =>
  hash("sha256", enclosingDefinition(lines, at)?.text ?? "", "base64url").slice(0, digestLength)

/** Returns the positions in `weighty` at which consecutive lines have these digests. */
export const findDigests = (
  { weighty }: Pick<EvidenceFile, "weighty">,
  digests: ReadonlyArray<string>
): ReadonlyArray<number> => {
  const [first] = digests
  if (first === undefined) return []
  const found: Array<number> = []
  for (let at = 0; at + digests.length <= weighty.length; at++) {
    if (weighty[at]?.digest !== first) continue
    if (digests.every((digest, offset) => weighty[at + offset]?.digest === digest)) found.push(at)
  }
  return found
}
