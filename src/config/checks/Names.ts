/** Collects the names that a document declares, and checks references to them. */
import type { Reference } from "../fields/Field.ts"
import type { Report } from "../document/Normalise.ts"
import type { Path } from "../document/Path.ts"
import { formatPath } from "../document/Path.ts"
import { suggest } from "../fields/Suggest.ts"
import type { TreePosition, Tree } from "./Tree.ts"
import { recordAt, recordsAt, textAt } from "./Tree.ts"

const listed = (tree: unknown, key: string, ...path: Path): ReadonlySet<string> =>
  new Set(recordsAt(tree, ...path).flatMap(({ value }) => textAt(value, key) ?? []))

const keyed = (tree: unknown, ...path: Path): ReadonlySet<string> => new Set(Object.keys(recordAt(tree, ...path)))

export interface Declared {
  readonly where: string
  readonly names: ReadonlySet<string>
}

/** Location of each kind of name. Channels and templates depend on the layer and are checked in Channels.ts. */
export const declared = (tree: unknown): Readonly<Record<Exclude<Reference, "channel" | "template">, Declared>> => ({
  trigger: { where: "triggers", names: listed(tree, "name", "triggers") },
  provider: { where: "llm.providers", names: listed(tree, "id", "llm", "providers") },
  chain: { where: "llm.model_chain", names: keyed(tree, "llm", "model_chain") },
  prompt: { where: "prompts.system", names: keyed(tree, "prompts", "system") },
  connection: { where: "im.connections", names: keyed(tree, "im", "connections") },
  workspace: { where: "workspaces.instances", names: keyed(tree, "workspaces", "instances") }
})

export const checkReference = (name: string, path: Path, { where, names }: Declared, error: Report): void => {
  if (names.has(name)) return
  error({
    path,
    reason: {
      _tag: "NameUnknown",
      name: JSON.stringify(name),
      place: where,
      suggestion: suggest(name, names),
      names: names.size === 0 || names.size > 8 ? undefined : [...names],
      none: names.size === 0 ? where : undefined
    },
    at: "value"
  })
}

/** Reports duplicate values of `key`. */
export const checkUnique = (items: ReadonlyArray<TreePosition<Tree>>, key: string, error: Report): void => {
  const seen = new Map<string, Path>()
  for (const { path, value } of items) {
    const name = textAt(value, key)
    if (name === undefined) continue
    const first = seen.get(name)
    if (first === undefined) seen.set(name, path)
    else
      error({
        path: [...path, key],
        reason: { _tag: "NameTaken", name: JSON.stringify(name), place: formatPath(first), key },
        at: "value"
      })
  }
}
