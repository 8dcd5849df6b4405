/**
 * Lists what an edit changes about credentials: which ones are set, whose owner is renamed, and who receives them. A person who approves the
 * edit would not see it in the masked values. Pure.
 */
import { namedVariables } from "../credentials/Environment.ts"
import type { CredentialChange, Receiver } from "./CredentialChange.ts"
import type { Path } from "../document/Path.ts"
import { formatPath, valueAt } from "../document/Path.ts"
import { named } from "../credentials/SealedPlaces.ts"
import { masked } from "../Show.ts"
import { haveSameReceiver, makeDestinationAt } from "./Destinations.ts"
import type { Destination } from "./Destinations.ts"
import { secretPaths } from "./EditValue.ts"
import { entityField } from "./Entities.ts"

/** Identifies a credential at a path. Undefined: one that no other document has. */
type CredentialKey = (secret: unknown, path: Path) => string | undefined

interface Held {
  readonly key: string | undefined
  readonly place: string
  readonly entity: string
  readonly path: string
  readonly destination: Destination
}

const list = (tree: unknown, keyOf: CredentialKey): ReadonlyArray<Held> => {
  const destinationAt = makeDestinationAt(tree)
  const held = (path: Path, key: string | undefined): Held => {
    const names = named(tree, path)
    const { entity, field } = entityField(names)
    return { key, place: JSON.stringify(names), entity, path: formatPath(field), destination: destinationAt(path) }
  }
  return [
    ...secretPaths(tree).map((path) => held(path, keyOf(valueAt(tree, path), path))),
    ...namedVariables(tree).map(({ name, path }) => held(path, `variable ${name}`))
  ]
}

const prefixed = (prefix: string, linked: Destination["trigger"]): Receiver =>
  linked === undefined
    ? {}
    : {
        [prefix]: linked.name,
        ...Object.fromEntries(Object.entries(toReceiver(linked)).map(([name, value]) => [`${prefix}.${name}`, value]))
      }

const toReceiver = ({ connection, endpoints, kind, trigger, triggers }: Destination): Receiver => ({
  ...(kind === undefined ? {} : { kind }),
  ...Object.fromEntries(Object.entries(endpoints).map(([name, value]) => [name, masked(value)])),
  ...prefixed("trigger", trigger),
  ...prefixed("connection", connection),
  ...(triggers === undefined ? {} : { triggers: triggers.map(toReceiver) })
})

/** `before` and `after` are combined documents. The keys of a credential that an edit keeps are the same in both. */
export const credentialChanges = (
  before: { readonly tree: unknown; readonly keyOf: CredentialKey },
  after: { readonly tree: unknown; readonly keyOf: CredentialKey }
): ReadonlyArray<CredentialChange> => {
  const [old, next] = [list(before.tree, before.keyOf), list(after.tree, after.keyOf)]
  const oldAt = new Map(old.map((one) => [one.place, one]))
  const nextAt = new Set(next.map(({ place }) => place))
  const gone = new Map(old.filter(({ place }) => !nextAt.has(place)).map((one) => [one.key, one]))
  return next.flatMap(({ destination, entity, key, path, place }): ReadonlyArray<CredentialChange> => {
    const there = oldAt.get(place)
    const isKept = key !== undefined && there?.key === key
    if (isKept && haveSameReceiver(there.destination, destination)) return []
    const moved = isKept || key === undefined ? undefined : gone.get(key)
    const former = moved ?? there
    return [
      {
        entity,
        path,
        change: isKept ? "redirected" : moved === undefined ? "set" : "renamed",
        from: moved?.entity,
        before: former && toReceiver(former.destination),
        after: toReceiver(destination)
      }
    ]
  })
}
