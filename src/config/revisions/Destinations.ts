/**
 * Determines the destination of a credential: the kind and the endpoints of its holder, and those of the trigger or connection that it uses. A
 * database edit may use an environment variable only for a destination that the file grants, and keeps a stored credential only while its
 * destination is the same. Pure.
 */
import { createHash } from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import type { Path } from "../document/Path.ts"
import { isRecord, valueAt } from "../document/Path.ts"
import { Document } from "../Document.ts"
import { readShape, shapeAt } from "../fields/Shape.ts"
import { entityLocations, entityShape } from "./Entities.ts"
import { mergeLayers } from "../fields/Defaults.ts"
import type { Shape } from "../fields/Shape.ts"

/** Reads the fields of a map that decide where the credentials of its holder go. Pure. */
type DestinationFields = Readonly<Record<string, unknown>>

/** Fields whose values name, or are, a part of the destination themselves. */
const links = ["kind", "trigger", "connection"]

/** Absent and false are the same, and so is an empty map. */
const isSet = (value: unknown): boolean =>
  value !== undefined && value !== false && !(isRecord(value) && Object.keys(value).length === 0)

const readDestinationFields = (shape: Shape | undefined, holder: unknown): DestinationFields => {
  const objects = shape?.type === "union" ? shape.members : [shape]
  const object = objects.find((one) => one?.type === "object")
  if (object?.type !== "object" || !isRecord(holder)) return {}
  return Object.fromEntries(
    [...object.fields.values()].flatMap(({ meta, name }) => {
      const isLink = links.includes(name) && typeof holder[name] === "string"
      return (isLink || meta.destination === true) && isSet(holder[name]) ? [[name, holder[name]] as const] : []
    })
  )
}

/**
 * Determines where a credential of web search is sent: to the endpoint that the block of its provider has (`web_search.searxng.endpoint`). Layers of
 * workspaces merge, so the credential of one layer is used with the endpoint of another; a credential of a shared layer is used with the
 * endpoints of all workspaces that inherit it. Pure.
 */

const search = ["agent", "web_search"]
const defaults = ["workspaces", "defaults"]
const instances = ["workspaces", "instances"]

/** Returns the id of the search provider, and the path of the layer, to which a credential belongs. */
const locate = (path: Path): { readonly id: string; readonly layer: Path } | undefined => {
  const at = path.indexOf("web_search")
  const id = path[at + 2]
  return at > 0 && path[at - 1] === "agent" && path[at + 1] === "credentials" && typeof id === "string"
    ? { id, layer: path.slice(0, at - 1) }
    : undefined
}

/** Returns the fields that decide where the search credential at this path goes: a list of values where workspaces differ. */
export const searchEndpoints = (document: unknown, path: Path): DestinationFields => {
  const found = locate(path)
  if (found === undefined) return {}
  const { id, layer } = found
  const block = (at: Path): unknown => valueAt(document, [...at, ...search, id])
  const has = (at: Path): boolean => valueAt(document, [...at, ...search, "credentials", id]) !== undefined
  const shared = mergeLayers(block([]), block(defaults))
  const shape = shapeAt(readShape(Document), [...search, id])
  const read = (...layers: ReadonlyArray<unknown>): DestinationFields =>
    readDestinationFields(shape, mergeLayers<unknown>(...layers))
  if (layer.length > 2) return read(shared, block(layer))
  // The defaults of workspaces replace a global credential.
  if (layer.length === 0 && has(defaults)) return {}
  const ids = Object.keys(asRecord(valueAt(document, instances)))
  const own = ids
    .map((name) => [...instances, name])
    .filter((at) => block(at) !== undefined && !has(at))
    .map((at) => read(shared, block(at)))
  return combine([read(shared), ...own])
}

const asRecord = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {})

/** Returns each field with its value, or with the list of its different values. */
const combine = (all: ReadonlyArray<DestinationFields>): DestinationFields =>
  Object.fromEntries(
    [...new Set(all.flatMap((fields) => Object.keys(fields)))].map((name) => {
      const values = all.flatMap((fields) => (fields[name] === undefined ? [] : [JSON.stringify(fields[name])]))
      const distinct = [...new Set(values)].toSorted().map((text): unknown => JSON.parse(text))
      return [name, distinct.length === 1 ? distinct[0] : distinct]
    })
  )

export interface Destination {
  readonly kind?: string
  /** DestinationFields that decide to whom the credential is sent, such as addresses, proxies and accepted certificates. */
  readonly endpoints: Readonly<Record<string, unknown>>
  /** Destination of the trigger that the holder names. */
  readonly trigger?: Destination & { readonly name: string }
  /** Destination of the chat connection that the holder names. */
  readonly connection?: Destination & { readonly name: string }
  /** Destinations of the triggers whose changes a channel without a trigger serves. */
  readonly triggers?: ReadonlyArray<Destination>
}

type DestinationAt = (path: Path) => Destination

/**
 * Returns the function that determines the destination of the credential at a path of the combined document. DestinationFields of nearer maps take
 * precedence. Triggers and connections are read once, however many credentials there are.
 */
export const makeDestinationAt = (document: unknown): DestinationAt => {
  const linked = makeLinked(document)
  const servedTriggers = makeServedTriggers(document)
  return (path) => {
    const found = path.slice(0, -1).reduce<DestinationFields>((into, _, length) => {
      const at = path.slice(0, length + 1)
      return { ...into, ...readDestinationFields(shapeAt(readShape(Document), at), valueAt(document, at)) }
    }, {})
    const { kind, trigger, connection, ...endpoints } = found
    return {
      ...(typeof kind === "string" ? { kind } : {}),
      endpoints: { ...endpoints, ...searchEndpoints(document, path) },
      ...(typeof trigger === "string" ? { trigger: linked("triggers", trigger) } : {}),
      ...(typeof connection === "string" ? { connection: linked("im_connections", connection) } : {}),
      ...(trigger === undefined && isOfChannel(path) ? servedTriggers(kind, endpoints) : {})
    }
  }
}

/** Returns whether two destinations are equal. The triggers of channels, of which there may be thousands, are compared by their digest. */
export const sameDestination = (left: Destination | undefined, right: Destination | undefined): boolean => {
  if (left === undefined || right === undefined) return left === right
  const { triggers: ofLeft, ...inLeft } = left
  const { triggers: ofRight, ...inRight } = right
  return isDeepStrictEqual(inLeft, inRight) && digest(ofLeft) === digest(ofRight)
}

/** Returns whether two destinations are equal but for the names of the trigger and the connection, which a rename changes. */
export const haveSameReceiver = (left: Destination, right: Destination): boolean =>
  sameDestination(withoutNames(left), withoutNames(right))

const withoutNames = ({ connection, trigger, ...rest }: Destination): Destination => ({
  ...rest,
  ...(trigger === undefined ? {} : { trigger: { ...trigger, name: "" } }),
  ...(connection === undefined ? {} : { connection: { ...connection, name: "" } })
})

const digests = new WeakMap<object, string>()

const digest = (triggers: ReadonlyArray<Destination> | undefined): string | undefined => {
  if (triggers === undefined) return undefined
  const found = digests.get(triggers) ?? createHash("sha256").update(JSON.stringify(triggers)).digest("hex")
  digests.set(triggers, found)
  return found
}

type LinkedKind = "im_connections" | "triggers"

/** Returns the function that determines the destination of a trigger or of a chat connection by its name. */
const makeLinked = (document: unknown) => {
  const known = new Map<LinkedKind, ReadonlyMap<string, unknown>>()
  return (kind: LinkedKind, name: string) => {
    const holders = known.get(kind) ?? byName(document, kind)
    known.set(kind, holders)
    return { name, ...ownDestination(kind, holders.get(name)) }
  }
}

/** Returns the values of one kind by name; the first one of a name that exists twice. */
const byName = (document: unknown, kind: LinkedKind): ReadonlyMap<string, unknown> => {
  const { at, nameField = "name" } = entityLocations[kind]
  const collection = valueAt(document, at)
  if (!Array.isArray(collection)) return new Map(Object.entries(isRecord(collection) ? collection : {}))
  const named = collection.flatMap((item: unknown) => {
    const name = isRecord(item) ? item[nameField] : undefined
    return typeof name === "string" ? [[name, item] as const] : []
  })
  return new Map(named.toReversed())
}

const ownDestination = (kind: LinkedKind, holder: unknown): Destination => {
  const { kind: type, trigger: _, connection: __, ...endpoints } = readDestinationFields(entityShape(kind), holder)
  return { ...(typeof type === "string" ? { kind: type } : {}), endpoints }
}

/** Returns whether a path is a field of a channel itself, not of a group in it such as its chat message. */
const isOfChannel = (path: Path): boolean => path.at(-4) === "outputs" && path.at(-3) === "channels"

/** Kinds of triggers whose changes a kind of channel publishes to the host of the change. */
const servedKinds: ReadonlyArray<readonly [prefix: string, kinds: ReadonlyArray<unknown>]> = [
  ["gitea_", ["gitea", "forgejo"]],
  ["github_", ["github"]],
  ["gitlab_", ["gitlab"]]
]

/** A channel without a trigger uses that of the change: its address, unless the channel has one, and its proxy. */
const makeServedTriggers = (document: unknown) => {
  const known = new Map<string, ReadonlyArray<Destination>>()
  return (channelKind: unknown, own: DestinationFields): Pick<Destination, "triggers"> => {
    const kinds = servedKinds.find(([prefix]) => String(channelKind).startsWith(prefix))?.[1]
    if (kinds === undefined) return {}
    const key = JSON.stringify([kinds, Object.keys(own).toSorted()])
    const triggers = known.get(key) ?? listServed(document, kinds, own)
    known.set(key, triggers)
    return triggers.length === 0 ? {} : { triggers }
  }
}

const listServed = (
  document: unknown,
  kinds: ReadonlyArray<unknown>,
  own: DestinationFields
): ReadonlyArray<Destination> => {
  const triggers = valueAt(document, entityLocations.triggers.at)
  if (!Array.isArray(triggers)) return []
  const served = triggers
    .map((trigger: unknown) => ownDestination("triggers", trigger))
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ endpoints, ...rest }) => ({
      ...rest,
      endpoints: Object.fromEntries(Object.entries(endpoints).filter(([name]) => own[name] === undefined))
    }))
  const distinct = new Map(served.map((one) => [JSON.stringify(one), one]))
  return [...distinct].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
}

export interface SecretGrant {
  readonly env: string
  readonly target: ReadonlyArray<string>
  readonly destinations?: Readonly<Record<string, unknown>> | undefined
}

/** Returns whether the file grants the use of a variable at this place of the combined document, with this destination. */
export const isGranted = (
  grants: ReadonlyArray<SecretGrant>,
  env: string,
  target: ReadonlyArray<string>,
  destination: Destination
): boolean =>
  grants.some(
    (grant) =>
      grant.env === env &&
      isDeepStrictEqual(grant.target, target) &&
      Object.values(grant.destinations ?? {}).some((allowed) => isDeepStrictEqual(allowed, destination))
  )
