/**
 * A thread that parses files and returns the definitions around lines, so that the main thread never waits for a
 * parser. Grammars are loaded when the first file of their language comes. Parsed trees are freed immediately.
 *
 * This is JavaScript, and imports no TypeScript: a thread that strips types also loads the program that does so, which
 * takes more memory than everything else in it. Types are those of `Definition.ts` and `Grammars.ts`.
 *
 * @typedef {import("@vscode/tree-sitter-wasm").Language} Language
 * @typedef {import("@vscode/tree-sitter-wasm").Node} Node
 * @typedef {import("./Definition.ts").Definition} Definition
 * @typedef {import("./Definition.ts").SyntaxAnswer} SyntaxAnswer
 * @typedef {import("./Definition.ts").SyntaxQuestion} SyntaxQuestion
 * @typedef {import("./Grammars.ts").Grammar} Grammar
 */
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { parentPort } from "node:worker_threads"
import treeSitter from "@vscode/tree-sitter-wasm"
import { lowerPriority } from "../threads/LowerPriority.js"

lowerPriority()
const folder = dirname(createRequire(import.meta.url).resolve("@vscode/tree-sitter-wasm"))
const ready = treeSitter.Parser.init()
/** @type {Map<string, Promise<Language>>} */
const languages = new Map()

/** @type {(grammar: Grammar) => Promise<Language>} */
const languageOf = ({ name }) => {
  const known = languages.get(name)
  if (known !== undefined) return known
  const loaded = treeSitter.Language.load(join(folder, `tree-sitter-${name}.wasm`))
  languages.set(name, loaded)
  return loaded
}

/** @type {(question: SyntaxQuestion) => Promise<SyntaxAnswer>} */
const answer = async ({ id, grammar, text, lines, millis }) => {
  await ready
  const parser = new treeSitter.Parser()
  try {
    parser.setLanguage(await languageOf(grammar))
    const deadline = performance.now() + millis
    const tree = parser.parse(text, null, { progressCallback: () => performance.now() > deadline })
    if (tree === null) return { id, chains: [] }
    try {
      const rows = text.split("\n")
      return { id, chains: lines.map((line) => chainAt(tree.rootNode, rows, line, grammar)) }
    } finally {
      tree.delete()
    }
  } finally {
    parser.delete()
  }
}

/**
 * Outermost first.
 *
 * @type {(root: Node, rows: ReadonlyArray<string>, line: number, grammar: Grammar) => ReadonlyArray<Definition>}
 */
const chainAt = (root, rows, line, grammar) => {
  const row = line - 1
  const code = rows[row] ?? ""
  // The column of the first code character: a line belongs to the node in which it begins.
  const column = Math.max(0, code.search(/\S/))
  /** @type {Array<Definition>} */
  const chain = []
  for (let node = root.descendantForPosition({ row, column }); node !== null;) {
    const definition = definitionOf(node, grammar)
    if (definition !== undefined) chain.unshift(definition)
    const { parent } = node
    if (parent === null) break
    node = parent
  }
  return chain
}

/** @type {(node: Node, grammar: Grammar) => Definition | undefined} */
const definitionOf = (node, grammar) => {
  const value = grammar.holders.has(node.type)
    ? (node.childForFieldName("value") ?? node.childForFieldName("right"))
    : undefined
  const held = value !== undefined && value !== null && grammar.values.has(value.type)
  if (!held && !grammar.definitions.has(node.type)) return undefined
  const body =
    (held ? value : node).childForFieldName("body") ??
    node.namedChildren.find((child) => child !== null && bodies.has(child.type))
  const end = body?.startIndex ?? node.endIndex
  const header = node.text.slice(0, Math.max(0, end - node.startIndex)).slice(0, maxHeader)
  const name = node.childForFieldName("name") ?? node.childForFieldName("key") ?? node.childForFieldName("left")
  return {
    header,
    name: (name?.text ?? header).slice(0, maxName).trim(),
    start: node.startPosition.row + 1,
    end: node.endPosition.row + 1
  }
}

const bodies = new Set(["declaration_list", "accessor_list", "block", "field_declaration_list"])
const maxHeader = 2000
const maxName = 200

/** @type {(told: SyntaxAnswer) => void} */
const tell = (told) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(told)
}

parentPort?.on("message", (/** @type {SyntaxQuestion} */ question) => {
  // A file that the parser cannot read has no definitions; the caller falls back to indentation.
  answer(question).then(tell, () => tell({ id: question.id, chains: [] }))
})
