/**
 * Finds the name of a definition that other files may use, and whether it is public. Heuristics by language; a name too many
 * costs a search. Pure. JavaScript, as `SyntaxWorker.js` is.
 *
 * @typedef {{ readonly header: string, readonly name: string, readonly firstLine: string, readonly owner: (Defined & { readonly isPublic: boolean }) | undefined }} Defined
 */

/**
 * Returns the name that other files may use. A definition in C has its whole head as name; a member that is assigned has the object before it.
 *
 * @type {(definition: Defined) => string | undefined}
 */
export const publicName = ({ name, header }) => {
  const head = name === header.trim() ? name.slice(0, bracketIn(name)) : name
  const found =
    head
      .slice(-maxName)
      .trimEnd()
      .split(/[^\p{L}\p{N}_$]/u)
      .at(-1) ?? ""
  return found.length < minName || common.has(found) ? undefined : found
}

/** @type {(head: string) => number} */
const bracketIn = (head) => {
  const at = head.search(/[({]/)
  return at < 0 ? head.length : at
}

const maxName = 200
/** Shorter names are used for something else in too many files. */
const minName = 3
const common = new Set("main init run get set new test setup toString equals hashCode constructor default".split(" "))

/** @type {(definition: Defined) => boolean} */
const isType = ({ header, firstLine }) =>
  /\b(?:class|interface|namespace|module|struct|trait|impl|enum|record)\b/.test(`${firstLine} ${header}`)

/** @type {(definition: Defined) => boolean} */
const unlessPrivate = ({ header }) => !/\bprivate\b/.test(header)

/** @type {(definition: Defined) => boolean} */
const script = ({ firstLine, name, owner }) => {
  if (owner === undefined) return /^\s*(?:export\b|exports\.|module\.exports)/.test(firstLine)
  if (!isType(owner)) return false
  return !name.startsWith("#") && !/^\s*(?:private|protected)\b/.test(firstLine) && owner.isPublic
}

/** @type {(definition: Defined) => boolean} */
const python = ({ name, owner }) => !name.startsWith("_") && (owner === undefined || isType(owner))

/**
 * Rules by grammar.
 *
 * @type {Readonly<Record<string, (definition: Defined) => boolean>>} */
const publicBy = {
  typescript: script,
  tsx: script,
  javascript: script,
  python,
  cpp: ({ header }) => !/^\s*static\b/.test(header),
  go: ({ name }) => /^\p{Lu}/u.test(name),
  rust: ({ firstLine }) => /^\s*pub\b/.test(firstLine)
}

/** @type {(grammar: string, definition: Defined) => boolean} */
export const isPublic = (grammar, definition) => (publicBy[grammar] ?? unlessPrivate)(definition)
