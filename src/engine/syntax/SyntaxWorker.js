/**
 * A thread that parses files and returns their definitions and the uses of names, so that the main thread never waits for a
 * parser. Grammars are loaded when the first file of their language comes. Parsed trees are freed immediately.
 *
 * This is JavaScript, and imports no TypeScript: a thread that strips types also loads the program that does so, which
 * takes more memory than everything else in it. Types are those of `Definition.ts` and `Grammars.ts`.
 *
 * @typedef {import("@vscode/tree-sitter-wasm").Language} Language
 * @typedef {import("@vscode/tree-sitter-wasm").Node} Node
 * @typedef {import("./Definition.ts").Definition} Definition
 * @typedef {import("./Definition.ts").ListedDefinition} ListedDefinition
 * @typedef {import("./Definition.ts").NameUse} NameUse
 * @typedef {import("./Definition.ts").SyntaxReply} SyntaxReply
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

/** @type {(question: SyntaxQuestion) => Promise<SyntaxReply>} */
const runTask = async ({ id, grammar, text, task, millis }) => {
  await ready
  const parser = new treeSitter.Parser()
  try {
    parser.setLanguage(await languageOf(grammar))
    const deadline = performance.now() + millis
    const tree = parser.parse(text, null, { progressCallback: () => performance.now() > deadline })
    if (tree === null) return { id, found: undefined }
    try {
      const rows = text.split("\n")
      const root = tree.rootNode
      if (task.find === "uses") return { id, found: usesOf(root, rows, task.names, grammar) }
      if (task.find === "definitions") return { id, found: listDefinitions(root, rows, grammar) }
      return { id, found: task.lines.map((line) => chainAt(root, rows, line, grammar)) }
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
  const innermost = root.descendantForPosition({ row, column })
  /** @type {Array<Definition>} */
  const chain = []
  // Downwards: the parser finds a parent by a search from the root.
  for (
    let node = innermost && root;
    node !== null;
    node = node.equals(innermost) ? null : node.childWithDescendant(innermost)
  ) {
    const definition = definitionOf(node, grammar)
    if (definition !== undefined) chain.push(definition)
  }
  return chain
}

/**
 * Returns definitions in the order of the file. Bodies of functions are searched as well, because languages define classes in them.
 *
 * @type {(root: Node, rows: ReadonlyArray<string>, grammar: Grammar) => ReadonlyArray<ListedDefinition>}
 */
const listDefinitions = (root, rows, grammar) => {
  const types = [...grammar.definitions, ...grammar.holders].filter((type) => type !== "")
  /** @type {Array<ListedDefinition & { readonly until: number }>} */
  const open = []
  /** @type {Array<ListedDefinition>} */
  const found = []
  for (const node of root.descendantsOfType(types)) {
    if (found.length === maxListed) break
    const definition = node === null ? undefined : definitionOf(node, grammar)
    if (node === null || definition === undefined) continue
    while ((open.at(-1)?.until ?? Infinity) <= node.startIndex) open.pop()
    const firstLine = (rows[node.startPosition.row] ?? "").slice(0, maxName)
    const listed = { ...definition, firstLine, owners: open.map(({ name }) => name) }
    found.push(listed)
    open.push({ ...listed, until: node.endIndex })
  }
  return found
}

/** @type {(root: Node, rows: ReadonlyArray<string>, names: ReadonlyArray<string>, grammar: Grammar) => ReadonlyArray<NameUse>} */
const usesOf = (root, rows, names, grammar) => names.flatMap((name) => usesOfName(root, rows, name, grammar))

/** @type {(root: Node, rows: ReadonlyArray<string>, name: string, grammar: Grammar) => ReadonlyArray<NameUse>} */
const usesOfName = (root, rows, name, grammar) => {
  /** @type {Array<NameUse>} */
  const uses = []
  for (const [row, code] of rows.entries()) {
    for (let column = code.indexOf(name); column >= 0; column = code.indexOf(name, column + name.length)) {
      if (uses.length === maxUses) return uses
      const node = root.descendantForPosition({ row, column }, { row, column: column + name.length })
      // A longer node is a comment, a text or another name.
      if (node === null || node.text !== name || texts.test(node.type)) continue
      uses.push({ name, line: row + 1, kind: kindOf(node, grammar) })
    }
  }
  return uses
}

/** @type {(node: Node, grammar: Grammar) => NameUse["kind"]} */
const kindOf = (node, grammar) => {
  let named = node
  for (let parent = named.parent; parent !== null; parent = named.parent) {
    if (calls.has(parent.type) && calledFields.some((field) => isField(parent, field, named))) return "call"
    const isName = nameFields.some((field) => isField(parent, field, named))
    if (isName && (definers.has(parent.type) || definitionOf(parent, grammar) !== undefined)) return "definition"
    // The name of a member ends what it is a member of; that of a function in C is inside of its declarator.
    const isLast = members.has(parent.type) && parent.endIndex === named.endIndex
    if (!isLast && !isField(parent, "declarator", named)) return "use"
    named = parent
  }
  return "use"
}

/** @type {(parent: Node, field: string, node: Node) => boolean} */
const isField = (parent, field, node) => {
  const child = parent.childForFieldName(field)
  return child !== null && child.startIndex === node.startIndex && child.endIndex === node.endIndex
}

const calls = new Set(
  "call_expression call new_expression method_invocation object_creation_expression invocation_expression macro_invocation".split(
    " "
  )
)
const calledFields = ["function", "constructor", "name", "type", "macro"]
const nameFields = ["name", "declarator", "key", "left"]
const definers = new Set(
  "variable_declarator type_alias_declaration const_item static_item type_item const_spec".split(" ")
)
const members = new Set(
  "member_expression attribute selector_expression field_expression member_access_expression scoped_identifier qualified_identifier scoped_type_identifier generic_name generic_function generic_type".split(
    " "
  )
)

const texts = /string|comment|text|char/
const maxListed = 2000
const maxUses = 200

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

/** @type {(reply: SyntaxReply) => void} */
const send = (reply) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(reply)
}

parentPort?.on("message", (/** @type {SyntaxQuestion} */ question) => {
  // A file that the parser cannot read has no definitions; the caller falls back to indentation.
  runTask(question).then(send, () => send({ id: question.id, found: undefined }))
})
