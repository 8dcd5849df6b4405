/**
 * A thread that parses files and tells in which definitions lines stand, so that the service's own thread never waits for a parser.
 * Grammars are loaded when the first file of their language comes. Parsed trees are freed at once.
 */
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { parentPort } from "node:worker_threads"
import treeSitter from "@vscode/tree-sitter-wasm"
import type { Language, Node } from "@vscode/tree-sitter-wasm"
import { grammarOf } from "./Grammars.ts"
import type { Grammar } from "./Grammars.ts"
import type { Definition, SyntaxAnswer, SyntaxQuestion } from "./Definition.ts"

const folder = dirname(createRequire(import.meta.url).resolve("@vscode/tree-sitter-wasm"))
const ready = treeSitter.Parser.init()
const languages = new Map<string, Promise<Language>>()

const languageOf = ({ name }: Grammar): Promise<Language> => {
  const known = languages.get(name)
  if (known !== undefined) return known
  const loaded = treeSitter.Language.load(join(folder, `tree-sitter-${name}.wasm`))
  languages.set(name, loaded)
  return loaded
}

const answer = async ({ id, path, text, lines, millis }: SyntaxQuestion): Promise<SyntaxAnswer> => {
  const grammar = grammarOf(path)
  if (grammar === undefined) return { id, chains: [] }
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

/** Outermost first. */
const chainAt = (
  root: Node,
  rows: ReadonlyArray<string>,
  line: number,
  grammar: Grammar
): ReadonlyArray<Definition> => {
  const row = line - 1
  const code = rows[row] ?? ""
  // The first character of the code: a line belongs to what it begins in.
  const column = Math.max(0, code.search(/\S/))
  const chain: Array<Definition> = []
  for (let node = root.descendantForPosition({ row, column }); node !== null;) {
    const definition = definitionOf(node, grammar)
    if (definition !== undefined) chain.unshift(definition)
    const { parent } = node
    if (parent === null) break
    node = parent
  }
  return chain
}

const definitionOf = (node: Node, grammar: Grammar): Definition | undefined => {
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

const tell = (told: SyntaxAnswer): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(told)
}

parentPort?.on("message", (question: SyntaxQuestion) => {
  // What a parser cannot read is answered as not known; its caller has another way.
  answer(question).then(tell, () => tell({ id: question.id, chains: [] }))
})
