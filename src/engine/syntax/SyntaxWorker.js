/**
 * A thread that parses files, so that the main thread never waits for a parser, and returns what their outlines have. A file is parsed once:
 * its outline is kept in the memory of this thread, and in the index of its repository. Grammars are loaded when the first file of their
 * language comes. Parsed trees are freed immediately.
 *
 * This is JavaScript, and imports no TypeScript: a thread that strips types also loads the program that does so, which
 * takes more memory than everything else in it. Types are those of `Definition.ts` and `Grammars.ts`.
 *
 * @typedef {import("@vscode/tree-sitter-wasm").Language} Language
 * @typedef {import("@vscode/tree-sitter-wasm").Tree} Tree
 * @typedef {import("./Definition.ts").DefinitionRange} DefinitionRange
 * @typedef {import("./Definition.ts").NameUse} NameUse
 * @typedef {import("./Definition.ts").Outline} Outline
 * @typedef {import("./Definition.ts").SyntaxFile} SyntaxFile
 * @typedef {import("./Definition.ts").SyntaxReply} SyntaxReply
 * @typedef {import("./Definition.ts").SyntaxResult} SyntaxResult
 * @typedef {import("./Definition.ts").SyntaxTask} SyntaxTask
 * @typedef {import("./Definition.ts").SyntaxQuestion} SyntaxQuestion
 * @typedef {import("./Grammars.ts").Grammar} Grammar
 * @typedef {import("./Outline.js").Reader} Reader
 * @typedef {import("./OutlineIndex.js").OutlineIndex} OutlineIndex
 */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { parentPort } from "node:worker_threads"
import treeSitter from "@vscode/tree-sitter-wasm"
import { lowerPriority } from "../threads/LowerPriority.js"
import { makeReader, makeOutline, outlineVersion, useKinds } from "./Outline.js"
import { openOutlineIndex } from "./OutlineIndex.js"

lowerPriority()
const folder = dirname(createRequire(import.meta.url).resolve("@vscode/tree-sitter-wasm"))
const ready = treeSitter.Parser.init()
/** Outlines depend on it. */
const version = `${JSON.parse(readFileSync(join(folder, "../package.json"), "utf8")).version}-${outlineVersion}`
/** @type {Map<string, Promise<{ readonly language: Language, readonly reader: Reader }>>} */
const languages = new Map()

/** @type {(grammar: Grammar) => Promise<{ readonly language: Language, readonly reader: Reader }>} */
const languageOf = (grammar) => {
  const known = languages.get(grammar.name)
  if (known !== undefined) return known
  const loaded = treeSitter.Language.load(join(folder, `tree-sitter-${grammar.name}.wasm`)).then((language) => ({
    language,
    reader: makeReader(language, grammar)
  }))
  languages.set(grammar.name, loaded)
  return loaded
}

/**
 * Outlines in memory, the last used ones last; undefined for files that cannot be parsed.
 *
 * @type {Map<string, Outline | undefined>}
 */
const recent = new Map()
/** Names and definitions of the outlines in memory, which take some 100 bytes each. */
const maxWeight = 200_000
let weight = 0

/** @type {(outline: Outline | undefined) => number} */
const weightOf = (outline) =>
  10 +
  (outline === undefined
    ? 0
    : outline.definitions.length * 3 + outline.uses.size + Math.ceil((outline.prose?.length ?? 0) / 12))

/** @type {(key: string, outline: Outline | undefined) => void} */
const remember = (key, outline) => {
  if (recent.has(key)) weight -= weightOf(recent.get(key))
  recent.delete(key)
  recent.set(key, outline)
  weight += weightOf(outline)
  for (const [oldest, one] of recent) {
    if (weight <= maxWeight || oldest === key) break
    recent.delete(oldest)
    weight -= weightOf(one)
  }
}

/**
 * Open indexes, the last used one last.
 *
 * @type {Map<string, OutlineIndex>}
 */
const indexes = new Map()
const maxIndexes = 4
/** Time after the last request in which they stay open: the file of an evicted mirror takes space while it is open. */
const openMillis = 20_000
/** @type {NodeJS.Timeout | undefined} */
let closing

const closeLater = () => {
  clearTimeout(closing)
  closing = setTimeout(() => {
    for (const index of indexes.values()) index.close()
    indexes.clear()
  }, openMillis).unref()
}

/** @type {(path: string) => OutlineIndex} */
const indexAt = (path) => {
  const index = indexes.get(path) ?? openOutlineIndex(path, version)
  indexes.delete(path)
  indexes.set(path, index)
  for (const [oldest, one] of indexes) {
    if (indexes.size <= maxIndexes) break
    indexes.delete(oldest)
    one.close()
  }
  return index
}

/**
 * Undefined where the file cannot be parsed.
 *
 * @type {(file: SyntaxFile, millis: number) => Promise<Outline | "unknown" | undefined>}
 */
const outlineFor = async ({ grammar, index, key, text }, millis) => {
  const name = `${grammar.name}:${key}`
  const isKnown = recent.has(name)
  const known = isKnown ? recent.get(name) : index === undefined ? undefined : indexAt(index).get(name)
  if (isKnown || known !== undefined) {
    remember(name, known)
    return known
  }
  if (text === undefined) return "unknown"
  const outline = await parse(text, grammar, millis, (tree, reader) => makeOutline(tree, text, grammar, reader)).catch(
    () => undefined
  )
  remember(name, outline)
  if (index !== undefined && outline !== undefined) indexAt(index).put(name, outline)
  return outline
}

/**
 * Undefined where the file cannot be parsed in time.
 *
 * @type {<A>(text: string, grammar: Grammar, millis: number, read: (tree: Tree, reader: Reader) => A) => Promise<A | undefined>}
 */
const parse = async (text, grammar, millis, read) => {
  await ready
  const { language, reader } = await languageOf(grammar)
  const parser = new treeSitter.Parser()
  try {
    parser.setLanguage(language)
    const deadline = performance.now() + millis
    const tree = parser.parse(text, null, { progressCallback: () => performance.now() > deadline })
    if (tree === null) return undefined
    try {
      return read(tree, reader)
    } finally {
      tree.delete()
    }
  } finally {
    parser.delete()
  }
}

const maxListed = 2000

/** @type {(outline: Outline, task: Exclude<SyntaxTask, { find: "errors" }>, file: SyntaxFile) => SyntaxResult} */
const resultOf = ({ definitions, prose, uses }, task, { offsets = [] }) => {
  if (task.find === "prose") return { marks: prose, around: offsets.map((offset) => chainAt(definitions, offset)) }
  if (task.find === "uses") return task.names.flatMap((name) => (uses.get(name) ?? []).map(useOf(name)))
  if (task.find === "around") return offsets.map((offset) => chainAt(definitions, offset))
  return definitions
    .slice(0, maxListed)
    .map(({ isPublic, key, name, signature }) => ({ isPublic, key, name, signature }))
}

/** @type {(name: string) => (place: number) => NameUse} */
const useOf = (name) => (place) => ({ name, line: Math.floor(place / 3), kind: useKinds[place % 3] ?? "use" })

/**
 * Outermost first.
 *
 * @type {(definitions: Outline["definitions"], offset: number) => ReadonlyArray<DefinitionRange>}
 */
const chainAt = (definitions, offset) =>
  definitions
    .filter(({ from, to }) => from <= offset && offset <= to)
    .map(({ end, from, headerTo, nameFrom, nameTo, start }) => ({ end, from, headerTo, nameFrom, nameTo, start }))

/** @type {(text: string, grammar: Grammar, millis: number) => Promise<boolean | undefined>} */
const hasErrors = (text, grammar, millis) =>
  parse(text, grammar, millis, ({ rootNode }) => rootNode.hasError).catch(() => undefined)

/** @type {(question: SyntaxQuestion) => Promise<SyntaxReply>} */
const runTask = async ({ id, files, task, millis }) => {
  const found = []
  for (const file of files) {
    if (task.find === "errors") {
      const { grammar, text } = file
      found.push(text === undefined ? /** @type {const} */ ("unknown") : await hasErrors(text, grammar, millis))
      continue
    }
    const outline = await outlineFor(file, millis)
    found.push(outline === undefined || outline === "unknown" ? outline : resultOf(outline, task, file))
  }
  return { id, found }
}

/** @type {(reply: SyntaxReply) => void} */
const send = (reply) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(reply)
}

parentPort?.on("message", (/** @type {SyntaxQuestion} */ question) => {
  // A file that the parser cannot read has no definitions; the caller falls back to indentation.
  closeLater()
  runTask(question).then(send, () => send({ id: question.id, found: [] }))
})
