/**
 * Parses a YAML text to plain data, with the position of every value. One document of at most 1 MiB; syntax errors, unknown tags and
 * duplicate keys are reported with their position. Lines of the text are displayed with possible secrets masked.
 */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from "yaml"
import type { Alias, Document as YamlDocument, Node, Pair, ParsedNode, Range, YAMLError, YAMLMap } from "yaml"
import type { Path } from "./document/Path.ts"
import { nestedTooDeeply } from "./document/YamlNesting.ts"
import { maxSyntaxErrors, syntaxProblem, unclosed } from "./document/YamlProblems.ts"
import type { Reason } from "../domain/Reason.ts"

export interface TextPosition {
  readonly line: number
  readonly column: number
}

interface TextIssue {
  readonly path: Path
  readonly reason: Reason
  readonly place: TextPosition | undefined
}

interface ParsedText {
  readonly value: unknown
  readonly issues: ReadonlyArray<TextIssue>
  /** Returns the position of the value at a path, or of its key; if it is missing, the position of the nearest parent. */
  readonly locate: (path: Path, at: "key" | "value") => TextPosition | undefined
}

export const maxBytes = 1024 * 1024

/** The parser compares each alias with all others. */
const maxAliases = 1000

/** `limit`: maximum size in bytes, a whole number of MiB. */
export const parseYaml = (text: string, limit = maxBytes): ParsedText => {
  const bytes = Buffer.byteLength(text)
  if (bytes > limit) return refused({ _tag: "TextTooLarge", bytes, maximum: limit, size: limit / 1024 / 1024 })
  const deep = nestedTooDeeply(text)
  if (deep !== undefined) return refused({ _tag: "NestedTooDeeply" }, positionIn(text, deep))
  const lines = new LineCounter()
  const place = (offset: number): TextPosition => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false, merge: true })
    const startOf = startsIn(document)
    const issues: Array<TextIssue> = firstOfEachLine(
      [...document.errors, ...document.warnings].map((error) => ({ error, at: startOf(error) })),
      (offset) => place(offset).line
    ).map(({ error, at }) => ({
      path: [],
      reason: syntaxProblem(error, lineAt(text, at)),
      place: place(at)
    }))
    if (issues.length > 0) return { value: undefined, issues, locate: () => undefined }
    let usable = true
    const values = inspect(document.contents, {
      duplicate: (path, key, first) =>
        issues.push({
          path,
          reason: { _tag: "KeyRepeated", line: place(first.range[0]).line },
          place: place(key.range[0])
        }),
      unusable: (path, node, reason) => {
        usable = false
        issues.push({ path, reason, place: place(node.range[0]) })
      }
    })
    if (!usable) return { value: undefined, issues, locate: () => undefined }
    return {
      value: document.toJS({ maxAliasCount: maxAliases + 1 }),
      issues,
      locate: (path, at) => {
        const node = nodeAt(document.contents, values, path, at)
        return node?.range === undefined || node.range === null ? undefined : place(node.range[0])
      }
    }
  } catch (error) {
    if (error instanceof RangeError) return refused({ _tag: "NestedTooDeeply" })
    if (error instanceof ReferenceError) return refused({ _tag: "AliasesUnbounded" })
    throw error
  }
}

const refused = (reason: Reason, place: TextPosition = { line: 1, column: 1 }): ParsedText => ({
  value: undefined,
  issues: [{ path: [], reason, place }],
  locate: () => undefined
})

const positionIn = (text: string, offset: number): TextPosition => {
  const before = text.slice(0, offset).split("\n")
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

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

/** The parser represents `<<` by a symbol. */
const isMergeKey = (key: unknown): boolean => isScalar(key) && typeof key.value === "symbol"

const keyText = (key: unknown): string => (isMergeKey(key) ? "<<" : isScalar(key) ? String(key.value) : String(key))

interface Findings {
  readonly duplicate: (path: Path, key: Ranged, first: Ranged) => void
  /** Called for nodes that cannot be converted to plain data. */
  readonly unusable: (path: Path, node: Ranged, reason: Reason) => void
}

/** Values of aliases. */
type AliasValues = ReadonlyMap<Alias, Node>

/**
 * Finds what the parser accepts: duplicate keys, keys that are not text, aliases without an anchor, and too many of them. Returns
 * the values of all aliases: of each, the last one with its anchor before it.
 */
const inspect = (contents: unknown, findings: Findings): AliasValues => {
  const anchors = new Map<string, Node>()
  const values = new Map<Alias, Node>()
  const inspectAlias = (alias: Alias, path: Path): void => {
    const value = anchors.get(alias.source)
    if (value !== undefined) values.set(alias, value)
    if (!isRanged(alias)) return
    if (value === undefined) findings.unusable(path, alias, { _tag: "AliasWithoutAnchor" })
    else if (values.size === maxAliases + 1)
      findings.unusable(path, alias, { _tag: "TooManyAliases", count: maxAliases })
  }
  const inspectNode = (node: unknown, path: Path): void => {
    if (isAlias(node)) return inspectAlias(node, path)
    if ((isScalar(node) || isMap(node) || isSeq(node)) && node.anchor !== undefined) anchors.set(node.anchor, node)
    if (isSeq(node)) return node.items.forEach((item, index) => inspectNode(item, [...path, index]))
    if (isMap(node)) inspectMap(node, path)
  }
  const isMergeable = (value: unknown): boolean => {
    const node = isAlias(value) ? values.get(value) : value
    return isMap(node) || (isSeq(node) && node.items.every((item) => isAlias(item) && isMap(values.get(item))))
  }
  const inspectMap = (map: YAMLMap, path: Path): void => {
    const seen = new Map<string, Ranged>()
    for (const { key, value } of map.items) {
      const name = keyText(key)
      const first = seen.get(name)
      if (isRanged(key) && !isScalar(key)) {
        findings.unusable(path, key, { _tag: "KeyIsNoText" })
      } else if (isRanged(key)) {
        if (key.anchor !== undefined) anchors.set(key.anchor, key)
        if (first === undefined) seen.set(name, key)
        else findings.duplicate([...path, name], key, first)
      }
      inspectNode(value, [...path, name])
      if (isMergeKey(key) && isRanged(key) && !isMergeable(value))
        findings.unusable([...path, name], key, { _tag: "MergeOfOther" })
    }
  }
  inspectNode(contents, [])
  return values
}

/** Pairs of a map by key, the last one of each. They are collected once, because a document may have an issue at every key. */
const pairs = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>()

const pairAt = (map: YAMLMap, key: string): Pair | undefined => {
  const known = pairs.get(map) ?? new Map(map.items.map((pair) => [keyText(pair.key), pair]))
  pairs.set(map, known)
  return known.get(key)
}

const nodeAt = (contents: unknown, values: AliasValues, path: Path, at: "key" | "value"): Node | undefined => {
  let node = contents
  let nearest: Node | undefined = isRanged(node) ? node : undefined
  for (const [index, segment] of path.entries()) {
    if (isAlias(node)) node = values.get(node)
    let key: unknown
    if (isSeq(node) && typeof segment === "number") {
      node = node.items[segment]
    } else if (isMap(node)) {
      const pair = pairAt(node, String(segment))
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
