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
import type { DestinationFields } from "./DestinationFields.ts"
import { readDestinationFields } from "./DestinationFields.ts"
import { entityLocations, entityShape } from "./Entities.ts"
import { searchEndpoints } from "./SearchEndpoints.ts"

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
