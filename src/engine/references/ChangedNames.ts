/**
 * Names that other files may use and whose definition a change alters or removes, by the definitions of a file before and after
 * it. Heuristics by language for what is public; a name too many costs a search. Pure.
 */
import type { ListedDefinition } from "../syntax/Definition.ts"

export interface ChangedName {
  readonly name: string
  readonly change: "changed" | "removed"
}

/** Definitions of a file on each side of the change; empty on the side without it. */
export interface DefinedSides {
  readonly path: string
  readonly before: ReadonlyArray<ListedDefinition>
  readonly after: ReadonlyArray<ListedDefinition>
}

/** Returns the names of a file, in the order of the file before the change. */
export const changedNames = ({ path, before, after }: DefinedSides): ReadonlyArray<ChangedName> => {
  const now = Map.groupBy(after, keyOf)
  const isPublic = publicIn(path)
  const found = new Map<string, ChangedName>()
  for (const definition of before) {
    const name = nameOf(definition)
    const same = now.get(keyOf(definition)) ?? []
    if (same.some((other) => signatureOf(other) === signatureOf(definition))) continue
    if (name === undefined || found.has(name) || !isPublic(definition, before)) continue
    found.set(name, { name, change: same.length === 0 ? "removed" : "changed" })
  }
  return [...found.values()]
}

/** Returns the names that a file defines only after the change. A name that another file no longer has moved here. */
export const addedNames = ({ before, after }: DefinedSides): ReadonlyArray<string> => {
  const known = new Set(before.map(keyOf))
  return after.flatMap((definition) => (known.has(keyOf(definition)) ? [] : (nameOf(definition) ?? [])))
}

const keyOf = (definition: ListedDefinition): string =>
  JSON.stringify([...definition.owners, nameOf(definition) ?? definition.name])

const signatureOf = ({ header }: ListedDefinition): string => header.replace(/\s+/g, " ").trim()

/** A definition in C has its whole head as name; a member that is assigned has the object before it. */
const nameOf = ({ name, header }: ListedDefinition): string | undefined => {
  const head = name === header.trim() ? name.slice(0, bracketIn(name)) : name
  const found =
    head
      .slice(-maxName)
      .trimEnd()
      .split(/[^\p{L}\p{N}_$]/u)
      .at(-1) ?? ""
  return found.length < minName || common.has(found) ? undefined : found
}

const bracketIn = (head: string): number => {
  const at = head.search(/[({]/)
  return at < 0 ? head.length : at
}

const maxName = 200
/** Shorter names are used for something else in too many files. */
const minName = 3
const common = new Set("main init run get set new test setup toString equals hashCode constructor default".split(" "))

type IsPublic = (definition: ListedDefinition, all: ReadonlyArray<ListedDefinition>) => boolean

const publicIn = (path: string): IsPublic => {
  const extension = path.slice(path.lastIndexOf(".") + 1).toLowerCase()
  return Object.hasOwn(publicBy, extension) ? (publicBy[extension] ?? unlessPrivate) : unlessPrivate
}

const isType = ({ header, firstLine }: ListedDefinition): boolean =>
  /\b(?:class|interface|namespace|module|struct|trait|impl|enum|record)\b/.test(`${firstLine} ${header}`)

const ownerOf = ({ owners, start, end }: ListedDefinition, all: ReadonlyArray<ListedDefinition>) =>
  all.findLast((one) => one.name === owners.at(-1) && one.start <= start && one.end >= end)

const unlessPrivate: IsPublic = ({ header }) => !/\bprivate\b/.test(header)

const script: IsPublic = (definition, all) => {
  const { firstLine, name, owners } = definition
  if (owners.length === 0) return /^\s*(?:export\b|exports\.|module\.exports)/.test(firstLine)
  const owner = ownerOf(definition, all)
  if (owner === undefined || !isType(owner)) return false
  return !name.startsWith("#") && !/^\s*(?:private|protected)\b/.test(firstLine) && script(owner, all)
}

const python: IsPublic = (definition, all) => {
  const owner = ownerOf(definition, all)
  return !definition.name.startsWith("_") && (definition.owners.length === 0 || (owner !== undefined && isType(owner)))
}

const scripts = "ts mts cts tsx js mjs cjs jsx".split(" ")
const publicBy: Readonly<Record<string, IsPublic>> = {
  ...Object.fromEntries(scripts.map((extension) => [extension, script])),
  py: python,
  c: ({ header }) => !/^\s*static\b/.test(header),
  go: ({ name }) => /^\p{Lu}/u.test(name),
  rs: ({ firstLine }) => /^\s*pub\b/.test(firstLine)
}
