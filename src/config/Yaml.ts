/**
 * A YAML text as plain data, with the place of every value in the text. One document of at most 1 MiB; syntax errors, unknown
 * tags and duplicate keys are reported with their position. Messages never quote the text: it may hold secrets.
 */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from "yaml"
import type { Document as YamlDocument, Node, Pair, ParsedNode } from "yaml"
import type { Path } from "./Path.ts"

export interface Place {
  readonly line: number
  readonly column: number
}

export interface TextIssue {
  readonly path: Path
  readonly message: string
  readonly place: Place | undefined
}

export interface ParsedText {
  readonly value: unknown
  readonly issues: ReadonlyArray<TextIssue>
  /** The place of the value at a path, or of its key; the nearest place above it where it is not there. */
  readonly locate: (path: Path, at: "key" | "value") => Place | undefined
}

export const maxBytes = 1024 * 1024

export const parseYaml = (text: string): ParsedText => {
  const bytes = Buffer.byteLength(text)
  if (bytes > maxBytes) return refused(`the document has ${bytes} bytes; at most ${maxBytes} (1 MiB) are read`)
  const lines = new LineCounter()
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false })
    const issues: Array<TextIssue> = [...document.errors, ...document.warnings].map((error) => ({
      path: [],
      message: `not valid YAML: ${words(error.code, error.message)}`,
      place: place(error.pos[0])
    }))
    if (issues.length > 0) return { value: undefined, issues, locate: () => undefined }
    let usable = true
    inspect(document, document.contents, [], {
      duplicate: (path, key, first) =>
        issues.push({
          path,
          message: `the key stands twice, first at line ${place(first.range[0]).line}; keep one`,
          place: place(key.range[0])
        }),
      unusable: (path, node, message) => {
        usable = false
        issues.push({ path, message, place: place(node.range[0]) })
      }
    })
    if (!usable) return { value: undefined, issues, locate: () => undefined }
    return {
      value: document.toJS({ maxAliasCount: 1000 }),
      issues,
      locate: (path, at) => {
        const node = nodeAt(document, path, at)
        return node?.range === undefined || node.range === null ? undefined : place(node.range[0])
      }
    }
  } catch (error) {
    if (error instanceof RangeError) return refused("the document is nested too deeply")
    if (error instanceof ReferenceError) return refused("the document repeats aliases without bound")
    throw error
  }
}

const refused = (message: string): ParsedText => ({
  value: undefined,
  issues: [{ path: [], message, place: { line: 1, column: 1 } }],
  locate: () => undefined
})

const words = (code: string, message: string): string =>
  code === "MULTIPLE_DOCS" ? "more than one document in the text; one is read" : message

type Ranged = ParsedNode

const isRanged = (node: unknown): node is Ranged =>
  (isScalar(node) || isMap(node) || isSeq(node) || isAlias(node)) && Array.isArray(node.range)

const keyText = (key: unknown): string => (isScalar(key) ? String(key.value) : String(key))

interface Findings {
  readonly duplicate: (path: Path, key: Ranged, first: Ranged) => void
  /** What cannot be made into plain data. */
  readonly unusable: (path: Path, node: Ranged, message: string) => void
}

/** What the parser lets pass: keys that stand twice, keys that are no text, and aliases of nothing. */
const inspect = (document: YamlDocument.Parsed, node: unknown, path: Path, findings: Findings): void => {
  if (isSeq(node)) return node.items.forEach((item, index) => inspect(document, item, [...path, index], findings))
  if (isAlias(node)) {
    if (node.resolve(document) === undefined && isRanged(node))
      findings.unusable(path, node, "an alias without an anchor before it")
    return
  }
  if (!isMap(node)) return
  const seen = new Map<string, Ranged>()
  for (const { key, value } of node.items) {
    const name = keyText(key)
    const first = seen.get(name)
    if (isRanged(key) && !isScalar(key)) {
      findings.unusable(path, key, "a key that is not text")
    } else if (isRanged(key)) {
      if (first === undefined) seen.set(name, key)
      else findings.duplicate([...path, name], key, first)
    }
    inspect(document, value, [...path, name], findings)
  }
}

const nodeAt = (document: YamlDocument.Parsed, path: Path, at: "key" | "value"): Node | undefined => {
  let node: unknown = document.contents
  let nearest: Node | undefined = isRanged(node) ? node : undefined
  for (const [index, segment] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document)
    let key: unknown
    if (isSeq(node) && typeof segment === "number") {
      node = node.items[segment]
    } else if (isMap(node)) {
      const pair: Pair<unknown, unknown> | undefined = node.items.findLast(
        (item) => keyText(item.key) === String(segment)
      )
      if (pair === undefined) return nearest
      key = pair.key
      node = pair.value
    } else {
      return nearest
    }
    const last = index === path.length - 1
    const pointed = key !== undefined && (!last || at === "key" || !isRanged(node) || !isScalar(node)) ? key : node
    if (isRanged(pointed)) nearest = pointed
  }
  return nearest
}
