/** How much may be wrong in a hunk, for choosing which ones are read when not all can be. Pure. */
import type { Hunk } from "./FileDiff.ts"
import { bytesOf, countLines } from "./HunkText.ts"
import type { RiskTier } from "./Risk.ts"

/** Words that begin so. */
const sensitive =
  "auth token secret passw crypt sql query exec eval spawn system shell deserial unsafe lock mutex atomic await async goroutine thread free malloc close delete drop truncate transaction commit rollback retry timeout catch except panic unwrap null nil undefined overflow parse permission admin cookie redirect path upload"

const tierWeight = [40, 24, 10, 0] as const
/** Lines looked at, and bytes of each: a ranking, not a reading. */
const maxLines = 48
/** With the mark. */
const maxColumns = 160
const hitWeight = 3
const maxHitWeight = 20
const maxHits = Math.ceil(maxHitWeight / hitWeight)

const newline = 10
const space = 32
const width = 32
const found = 1
/** Per node and letter the next node; node 0 is the root, 1 stands for "found", and 0 as a next one for none. */
const trie = ((): Uint16Array => {
  const nodes: Array<number> = Array.from({ length: 2 * width }, () => 0)
  for (const word of sensitive.split(" ")) {
    let node = 0
    for (const [index, letter] of [...word].entries()) {
      const at = node * width + (letter.charCodeAt(0) & 31)
      if (nodes[at] === found) break
      if (index === word.length - 1) nodes[at] = found
      else if (nodes[at] === 0) {
        nodes[at] = nodes.length / width
        nodes.push(...Array.from({ length: width }, () => 0))
      }
      node = nodes[at] ?? 0
    }
  }
  return Uint16Array.from(nodes)
})()

const letter = 2
/** 1 for what words are made of beside letters. */
const kinds = new Uint8Array(256)
for (let byte = 0; byte < 128; byte++) {
  const char = String.fromCharCode(byte)
  kinds[byte] = /[a-z]/i.test(char) ? letter : /\w/.test(char) ? 1 : 0
}

/** States of a reading beside the nodes of the trie. */
const otherWord = -1
const restOfLine = -2

/** Of every hunk of a change: it goes over bytes, once. `tier` is that of the file. */
export const hunkRisk = (tier: RiskTier, hunk: Hunk): number => {
  let lines = 0
  let changed = 0
  let hits = 0
  let column = 0
  let node = 0
  reading: for (const bytes of bytesOf(hunk)) {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0
      if (byte === newline) {
        if (++lines === maxLines) break reading
        column = 0
        continue
      }
      if (column++ === 0) {
        if (byte !== space) changed++
        node = byte === space || hits === maxHits ? restOfLine : 0
        continue
      }
      if (column > maxColumns) {
        // Nobody looks at the rest, however long it is.
        const end = bytes.indexOf(newline, at)
        at = end < 0 ? bytes.length : end - 1
        continue
      }
      if (node === restOfLine) continue
      const kind = kinds[byte]
      if (kind === 0) node = 0
      else if (node !== otherWord) {
        const next = kind === letter ? (trie[node * width + (byte & 31)] ?? 0) : 0
        node = next === 0 ? otherWord : next === found ? restOfLine : next
        if (next === found) hits++
      }
    }
  }
  const more = Math.max(0, countLines(hunk) - maxLines)
  return tierWeight[tier] + Math.min(maxHitWeight, hits * hitWeight) + 4 * Math.log2(1 + changed + more)
}
