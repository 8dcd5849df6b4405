/**
 * Makes the outline of a file in one walk over its tree: its definitions, the names that it uses, and where it speaks to readers (`Prose.js`). It
 * has names and positions, but no other text of the file, so that it can be kept. JavaScript, as `SyntaxWorker.js` is.
 *
 * @typedef {import("@vscode/tree-sitter-wasm").Language} Language
 * @typedef {import("@vscode/tree-sitter-wasm").Node} Node
 * @typedef {import("@vscode/tree-sitter-wasm").Tree} Tree
 * @typedef {import("@vscode/tree-sitter-wasm").TreeCursor} TreeCursor
 * @typedef {import("./Definition.ts").NameUse} NameUse
 * @typedef {import("./Definition.ts").Outline} Outline
 * @typedef {import("./Definition.ts").OutlinedDefinition} OutlinedDefinition
 * @typedef {import("./Grammars.ts").Grammar} Grammar
 * @typedef {import("./PublicNames.js").Defined} Defined
 *
 * A definition around others. `path` is the same for the same name in the same definitions.
 * @typedef {Defined & { readonly isPublic: boolean, readonly path: string }} Owner
 *
 * A node that the walk is in. `role`: its role in what the file has for its readers; `field`: its field in the node around it; `defines`: it is a definition; `owner`: the innermost definition with it.
 * @typedef {{ readonly kind: number, readonly role: number, readonly field: number, readonly end: number, readonly defines: boolean, readonly owner: Owner | undefined }} Frame
 *
 * @typedef {{ readonly kinds: Uint8Array, readonly roles: Uint8Array, readonly called: ReadonlySet<number>, readonly naming: ReadonlySet<number>, readonly declarator: number }} Reader
 */
import { createHash } from "node:crypto"
import { collectProse, proseRoles } from "./Prose.js"
import { isPublic, publicName } from "./PublicNames.js"

/** Version of outlines: those of another one are not used. */
export const outlineVersion = 3

const maxDefinitions = 20_000
/** Uses of one name, and of all names. */
const maxOfName = 200
const maxUses = 100_000
const maxHeader = 2000
const maxName = 200

/** Kinds of nodes. */
const defines = 1
const calls = 2
const names = 4
const joins = 8
const isText = 16
const isNamed = 32

const callTypes = new Set(
  "call_expression call new_expression method_invocation object_creation_expression invocation_expression macro_invocation".split(
    " "
  )
)
const calledFields = ["function", "constructor", "name", "type", "macro"]
const nameFields = ["name", "declarator", "key", "left"]
const nameTypes = new Set(
  "variable_declarator type_alias_declaration const_item static_item type_item const_spec".split(" ")
)
const memberTypes = new Set(
  "member_expression attribute selector_expression field_expression member_access_expression scoped_identifier qualified_identifier scoped_type_identifier generic_name generic_function generic_type".split(
    " "
  )
)
const texts = /string|comment|text|char/
const bodies = new Set(["declaration_list", "accessor_list", "block", "field_declaration_list"])
const identifier = /^[#@]?[\p{L}_$][\p{L}\p{N}_$]*$/u
const constants = new Set(["this", "true", "false", "null"])

/** @type {(language: Language, grammar: Grammar) => Reader} */
export const makeReader = (language, grammar) => {
  const kinds = Uint8Array.from(language.types, (type, id) =>
    [
      [defines, grammar.definitions.has(type) || grammar.holders.has(type)],
      [calls, callTypes.has(type)],
      [names, nameTypes.has(type)],
      [joins, memberTypes.has(type)],
      [isText, texts.test(type)],
      [isNamed, language.nodeTypeIsNamed(id)]
    ].reduce((sum, [kind, has]) => (has === true ? sum | Number(kind) : sum), 0)
  )
  /** @type {(fields: ReadonlyArray<string>) => Set<number>} */
  const idsOf = (fields) => new Set(fields.flatMap((field) => language.fieldIdForName(field) ?? []))
  return {
    kinds,
    roles: proseRoles(language),
    called: idsOf(calledFields),
    naming: idsOf(nameFields),
    declarator: language.fieldIdForName("declarator") ?? -1
  }
}

/** @type {(tree: Tree, text: string, grammar: Grammar, reader: Reader) => Outline} */
export const makeOutline = (tree, text, grammar, reader) => {
  /** @type {Array<OutlinedDefinition>} */
  const definitions = []
  /** @type {Map<string, Array<number>>} */
  const uses = new Map()
  const prose = collectProse(text, grammar, tree.rootNode.hasError)
  let count = 0
  let line = 1
  let nextLine = text.indexOf("\n")
  /** @type {Array<Frame>} */
  const open = []
  const cursor = tree.walk()

  const addUse = () => {
    const { startIndex, endIndex } = cursor
    const name = text.slice(startIndex, endIndex)
    if (endIndex - startIndex > maxName || !identifier.test(name) || constants.has(name) || count === maxUses) return
    for (; nextLine >= 0 && nextLine < startIndex; nextLine = text.indexOf("\n", nextLine + 1)) line++
    const places = uses.get(name) ?? []
    if (places.length === 0) uses.set(name, places)
    if (places.length === maxOfName) return
    count++
    places.push(line * 3 + kindOf(open, cursor.currentFieldId, endIndex, reader))
  }
  /** @type {(kind: number) => Owner | undefined} */
  const define = (kind) => {
    const defined = (kind & defines) === 0 ? undefined : definitionOf(cursor.currentNode, text, grammar)
    if (defined === undefined || definitions.length === maxDefinitions) return undefined
    const owner = open.at(-1)?.owner
    const one = { ...defined.shown, owner }
    const listed = describe(one, owner?.path ?? "", grammar)
    definitions.push({ ...defined.ranges, ...listed })
    return { ...one, isPublic: listed.isPublic, path: digest(JSON.stringify([owner?.path ?? "", one.name])) }
  }

  try {
    while (true) {
      const kind = reader.kinds[cursor.nodeTypeId] ?? 0
      const role = reader.roles[cursor.nodeTypeId] ?? 0
      if (role !== 0 || open.at(-1)?.role !== 0) {
        prose.enter(role, open.at(-1)?.role ?? 0, cursor.startIndex, cursor.endIndex)
      }
      const field = cursor.currentFieldId
      const defined = define(kind)
      const end = (kind & joins) === 0 && defined === undefined ? -1 : cursor.endIndex
      if (cursor.gotoFirstChild()) {
        open.push({ kind, role, field, end, defines: defined !== undefined, owner: defined ?? open.at(-1)?.owner })
        continue
      }
      if ((kind & (isNamed | isText)) === isNamed) addUse()
      while (!cursor.gotoNextSibling()) {
        if (!cursor.gotoParent()) return { definitions, uses, prose: prose.marks() }
        open.pop()
      }
    }
  } finally {
    cursor.delete()
  }
}

/**
 * Numbers of the kinds of uses.
 *
 * @type {ReadonlyArray<NameUse["kind"]>} */
export const useKinds = ["definition", "call", "use"]
const [definition, call, use] = [0, 1, 2]

/** @type {(open: ReadonlyArray<Frame>, field: number, end: number, reader: Reader) => number} */
const kindOf = (open, field, end, { called, naming, declarator }) => {
  for (let at = open.length - 1; at >= 0; at--) {
    const around = open[at]
    if (around === undefined) break
    if ((around.kind & calls) !== 0 && called.has(field)) return call
    if (naming.has(field) && ((around.kind & names) !== 0 || around.defines)) return definition
    // The name of a member ends what it is a member of; that of a function in C is inside of its declarator.
    const isLast = (around.kind & joins) !== 0 && around.end === end
    if (!isLast && field !== declarator) return use
    field = around.field
    end = around.end
  }
  return use
}

/** @type {(defined: Defined, path: string, grammar: Grammar) => Pick<OutlinedDefinition, "name" | "key" | "signature" | "isPublic">} */
const describe = (defined, path, grammar) => {
  const name = publicName(defined)
  return {
    ...(name === undefined ? {} : { name }),
    key: digest(JSON.stringify([path, name ?? defined.name])),
    signature: digest(defined.header.replace(/\s+/g, " ").trim()),
    isPublic: isPublic(grammar.name, defined)
  }
}

/** @type {(text: string) => string} */
const digest = (text) => createHash("sha256").update(text).digest("base64").slice(0, 16)

/** @type {(node: Node, text: string, grammar: Grammar) => { readonly shown: Omit<Defined, "owner">, readonly ranges: Pick<OutlinedDefinition, "start" | "end" | "from" | "to" | "nameFrom" | "nameTo" | "headerTo"> } | undefined} */
const definitionOf = (node, text, grammar) => {
  const value = grammar.holders.has(node.type)
    ? (node.childForFieldName("value") ?? node.childForFieldName("right"))
    : undefined
  const held = value !== undefined && value !== null && grammar.values.has(value.type)
  if (!held && !grammar.definitions.has(node.type)) return undefined
  const body =
    (held ? value : node).childForFieldName("body") ??
    node.namedChildren.find((child) => child !== null && bodies.has(child.type))
  const { startIndex: from, endIndex: to, startPosition } = node
  const headerTo = Math.min(Math.max(from, body?.startIndex ?? to), from + maxHeader)
  const name = node.childForFieldName("name") ?? node.childForFieldName("key") ?? node.childForFieldName("left")
  const nameFrom = name?.startIndex ?? from
  const nameTo = Math.min(name?.endIndex ?? headerTo, nameFrom + maxName)
  const lineFrom = from - startPosition.column
  const lineTo = text.indexOf("\n", lineFrom)
  return {
    shown: {
      header: text.slice(from, headerTo),
      name: text.slice(nameFrom, nameTo).trim(),
      firstLine: text.slice(lineFrom, Math.min(lineTo < 0 ? text.length : lineTo, lineFrom + maxName))
    },
    ranges: { start: startPosition.row + 1, end: node.endPosition.row + 1, from, to, nameFrom, nameTo, headerTo }
  }
}
