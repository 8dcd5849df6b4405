/** Lists the effective values with the origin of each: default, line of the file, or revision of the database. Pure. */
import type { ConfigFileLines, LayeredFile } from "../ConfigStore.ts"
import { formatPath, parsePath } from "../document/Path.ts"
import { named, positions } from "../credentials/SealedPlaces.ts"
import { showDocument, showWorkspace } from "../Show.ts"
import type { ShownValue } from "../Show.ts"
import type { Snapshot } from "../Snapshot.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import type { EntityRef } from "./Entities.ts"
import { entityField, entityKinds, formatRef } from "./Entities.ts"
import { makeFindInFile, overlay, ownedByFile } from "./Overlay.ts"
import { withRouteName } from "./EntityPath.ts"
import type { ConfigRevision } from "./Revision.ts"
import type { ReasonWith } from "../../domain/Reason.ts"
import type { originReasons } from "../../domain/reasons/Origin.ts"

/** Sources that origins are determined from. */
interface OriginSource {
  readonly layered: ConfigFileLines
  /** Revisions that still exist, newest first. */
  readonly history: ReadonlyArray<Pick<ConfigRevision, "actor" | "diff" | "number">>
  /** Names of the database's route rules, which have none in the combined list. */
  readonly routes: ReadonlyArray<string>
}

/** A value with its origin. */
export interface EffectiveValue {
  readonly path: string
  /** Masked. */
  readonly value: unknown
  readonly origin: Origin
}

type Origin = ReasonWith<keyof typeof originReasons>
type FindOrigin = (
  names: ReadonlyArray<string>
) => Exclude<Origin, { readonly _tag: `Origin${"Default" | "Inherited" | "Layer"}` }> | undefined

/** Returns the function that names the origin of a value that is set, by its path with names in place of positions. */
const makeOrigin = ({ layered, history, routes }: OriginSource): FindOrigin => {
  const { baseline, line } = layered
  const base = layered.file.split("/").at(-1) ?? layered.file
  const changes = indexChanges(history)
  const ordered = routes.toSorted()
  return (names) => {
    const path = nearest(baseline.file, names)
    if (path !== undefined) {
      const at = line(path)
      return { _tag: "OriginFile", location: at === undefined ? base : `${base}:${at}` }
    }
    const { entity, field } = entityField(withRouteName(baseline.file, names, ordered))
    const changed = changes.get(entity)?.find(({ names: set }) => concerns(set, [entity, ...field]))
    if (changed !== undefined) return { _tag: "OriginRevision", number: changed.number, name: changed.actor }
    const oldest = history.at(-1)?.number
    return oldest === undefined ? undefined : { _tag: "OriginBefore", number: oldest }
  }
}

interface ChangeOf extends Pick<ConfigRevision, "actor" | "number"> {
  readonly names: ReadonlyArray<string>
}

/** Returns the changes of each entity, newest first. */
const indexChanges = (history: OriginSource["history"]): ReadonlyMap<string, ReadonlyArray<ChangeOf>> => {
  const changes = new Map<string, Array<ChangeOf>>()
  for (const { actor, diff, number } of history)
    for (const { names } of diff) {
      const [entity = ""] = names
      const others = changes.get(entity)
      if (others === undefined) changes.set(entity, [{ actor, number, names }])
      else others.push({ actor, number, names })
    }
  return changes
}

/** Whether a change of one path sets the other: one contains the other. */
const concerns = (changed: ReadonlyArray<string>, names: ReadonlyArray<string>): boolean =>
  changed.slice(0, names.length).every((part, index) => part === names[index])

/** Returns the path of the value in the file, or of the list element or text that contains it. */
const nearest = (file: unknown, names: ReadonlyArray<string>) => {
  const path = positions(file, names)
  if (path === undefined) return undefined
  let value: unknown = file
  for (const segment of path) {
    value = Object(value)[segment]
    if (value === undefined || value === null) return undefined
  }
  return path
}

const layerNames = /^document(?: \((.*)\))?$/

/** Adds where each value is set to a list of shown values; `prefixes` are the layers that a value can come from. */
const withOrigins = (
  shown: ReadonlyArray<ShownValue>,
  tree: unknown,
  find: FindOrigin
): ReadonlyArray<EffectiveValue> =>
  withLayers(shown).map((item) => {
    const path = parsePath(item.path)
    if (item.origin._tag !== "OriginLayer") return item
    const { layer: given } = item.origin
    const inLayer = layerNames.exec(given)
    if (inLayer !== null) {
      const at = inLayer[1]
      const found = find(at === undefined ? named(tree, path) : at.split("."))
      return found === undefined ? item : { ...item, origin: at === undefined ? found : { ...found, layer: at } }
    }
    const layer = given.split(" ")[0] ?? ""
    const holder = layer.startsWith("workspaces.instances.")
      ? ["workspaces", "instances", layer.slice("workspaces.instances.".length)]
      : layer.split(".")
    const found = find(named(tree, [...holder, ...path]))
    return found === undefined ? item : { ...item, origin: { ...found, layer: given } }
  })

/** Names the layers of values whose lines are not known. */
export const withLayers = (shown: ReadonlyArray<ShownValue>): ReadonlyArray<EffectiveValue> =>
  shown.map(({ origin, ...item }) => ({ ...item, origin: toOrigin(origin) }))

const toOrigin = (layer: string): Origin => {
  if (layer === "default") return { _tag: "OriginDefault" }
  return layer === "inherited" ? { _tag: "OriginInherited" } : { _tag: "OriginLayer", layer }
}

/** Lists values of the document, or of a workspace, with origins. Undefined if there is no such workspace. */
export const effectiveValues = (
  snapshot: Snapshot,
  source: OriginSource,
  workspace?: string
): ReadonlyArray<EffectiveValue> | undefined => {
  const shown = workspace === undefined ? showDocument(snapshot) : showWorkspace(snapshot, workspace)
  return shown === undefined ? undefined : withOrigins(shown, snapshot.given, makeOrigin(source))
}

/** Returns what of the database the file hides. */
export const listShadowed = ({ baseline }: LayeredFile, document: DatabaseDocument): ReadonlyArray<string> => {
  const { shadowed, shadowedGlobals } = overlay(baseline.file, document)
  return [...shadowed.map(formatRef), ...shadowedGlobals.map(formatPath)]
}

export const listOwned = ({ baseline, line }: LayeredFile) => {
  const findInFile = makeFindInFile(baseline.file)
  return entityKinds.flatMap((kind) =>
    ownedByFile(baseline.file, kind).map((name) => {
      const ref: EntityRef = { kind, name }
      const path = findInFile(ref)
      return { entity: formatRef(ref), line: path === undefined ? undefined : line(path) }
    })
  )
}
