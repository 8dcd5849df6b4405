/**
 * Parses a YAML text to plain data, with the position of every value. One document of at most 1 MiB; syntax errors, unknown tags and
 * duplicate keys are reported with their position. Lines of the text are displayed with possible secrets masked.
 */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from "yaml"
import type { Document as YamlDocument, Node, Pair, ParsedNode, Range, YAMLError } from "yaml"
import type { Path } from "./Path.ts"
import { maxSyntaxErrors, syntaxProblem, unclosed } from "./YamlProblems.ts"

export interface TextPosition {
  readonly line: number
  readonly column: number
}

export interface TextIssue {
  readonly path: Path
  readonly message: string
  readonly place: TextPosition | undefined
}

export interface ParsedText {
  readonly value: unknown
  readonly issues: ReadonlyArray<TextIssue>
  /** Returns the position of the value at a path, or of its key; if it is missing, the position of the nearest parent. */
  readonly locate: (path: Path, at: "key" | "value") => TextPosition | undefined
}

export const maxBytes = 1024 * 1024

export const parseYaml = (text: string): ParsedText => {
  const bytes = Buffer.byteLength(text)
  if (bytes > maxBytes) return refused(`the document has ${bytes} bytes; at most ${maxBytes} (1 MiB) are read`)
  const lines = new LineCounter()
  const place = (offset: number): TextPosition => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false })
    const startOf = startsIn(document)
    const issues: Array<TextIssue> = firstOfEachLine(
      [...document.errors, ...document.warnings].map((error) => ({ error, at: startOf(error) })),
      (offset) => place(offset).line
    ).map(({ error, at }) => ({
      path: [],
      message: syntaxProblem(error, lineAt(text, at)),
      place: place(at)
    }))
    if (issues.length > 0) return { value: undefined, issues, locate: () => undefined }
    let usable = true
    inspect(document, document.contents, [], {
      duplicate: (path, key, first) =>
        issues.push({
          path,
          message: `duplicate key, first at line ${place(first.range[0]).line}; keep one`,
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

interface At {
  readonly error: YAMLError
  readonly at: number
}

/** Returns the first error of each line, for three lines at most, because later ones are usually consequences. */
const firstOfEachLine = (errors: ReadonlyArray<At>, lineOf: (offset: number) => number): ReadonlyArray<At> => {
  const seen = new Set<number>()
  return errors
    .toSorted((left, right) => left.at - right.at)
    .filter(({ at }) => {
      const line = lineOf(at)
      return seen.has(line) ? false : seen.add(line)
    })
    .slice(0, maxSyntaxErrors)
}

/** Returns where quotes and brackets open and end, in the order of the document. */
const openingsOf = (document: YamlDocument.Parsed) => {
  const openings = { quote: new Array<Range>(), bracket: new Array<Range>() }
  visit(document, {
    Scalar: (_, { range, type }) => {
      if (type?.startsWith("QUOTE") === true && range) openings.quote.push(range)
    },
    Collection: (_, { flow, range }) => {
      if (flow === true && range) openings.bracket.push(range)
    }
  })
  return openings
}

/**
 * Returns the start of an unclosed quote or bracket, where the parser reports its end. The document is traversed once for all errors,
 * because there may be hundreds.
 */
const startsIn = (document: YamlDocument.Parsed): ((error: YAMLError) => number) => {
  let openings: ReturnType<typeof openingsOf> | undefined
  return ({ message, pos: [at] }) => {
    const kind = unclosed(message)
    if (kind === undefined) return at
    openings ??= openingsOf(document)
    const opening = openings[kind].findLast(([start, end]) => start < at && (kind === "quote" || end >= at))
    return opening?.[0] ?? at
  }
}

const lineAt = (text: string, offset: number): string => {
  const start = text.lastIndexOf("\n", offset - 1) + 1
  const end = text.indexOf("\n", start)
  return text.slice(start, end < 0 ? undefined : end)
}

type Ranged = ParsedNode

const isRanged = (node: unknown): node is Ranged =>
  (isScalar(node) || isMap(node) || isSeq(node) || isAlias(node)) && Array.isArray(node.range)

const keyText = (key: unknown): string => (isScalar(key) ? String(key.value) : String(key))

interface Findings {
  readonly duplicate: (path: Path, key: Ranged, first: Ranged) => void
  /** Called for nodes that cannot be converted to plain data. */
  readonly unusable: (path: Path, node: Ranged, message: string) => void
}

/** Finds what the parser accepts: duplicate keys, keys that are not text, and aliases without an anchor. */
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
