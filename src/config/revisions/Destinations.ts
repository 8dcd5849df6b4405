/**
 * Determines the destination of a credential: the kind and the endpoints of its holder, and those of the trigger or connection that it uses. A
 * database edit may use an environment variable only for a destination that the file grants, and keeps a stored credential only while its
 * destination is the same. Pure.
 */
import { isDeepStrictEqual } from "node:util"
import type { Path } from "../Path.ts"
import { isRecord, valueAt } from "../Path.ts"
import { Document } from "../Document.ts"
import { named } from "../SealedPlaces.ts"
import { readShape, shapeAt } from "../Shape.ts"
import type { Shape } from "../Shape.ts"
import { entityLocations, entityShape } from "./Entities.ts"

export interface Destination {
  readonly kind?: string
  /** Fields that decide to whom the credential is sent, such as addresses, proxies and accepted certificates. */
  readonly endpoints: Readonly<Record<string, unknown>>
  /** Destination of the trigger that the holder names. */
  readonly trigger?: Destination & { readonly name: string }
  /** Destination of the chat connection that the holder names. */
  readonly connection?: Destination & { readonly name: string }
  /** Destinations of the triggers whose changes a channel without a trigger serves. */
  readonly triggers?: ReadonlyArray<Destination>
}

/** Returns the destination of the credential at a path of the combined document. Fields of nearer maps take precedence. */
export const destinationAt = (document: unknown, path: Path): Destination => {
  const found = path.slice(0, -1).reduce<Fields>((into, _, length) => {
    const at = path.slice(0, length + 1)
    return { ...into, ...readFields(shapeAt(readShape(Document), at), valueAt(document, at)) }
  }, {})
  const { kind, trigger, connection, ...endpoints } = found
  return {
    ...(typeof kind === "string" ? { kind } : {}),
    endpoints,
    ...(typeof trigger === "string" ? { trigger: linked(document, "triggers", trigger) } : {}),
    ...(typeof connection === "string" ? { connection: linked(document, "im_connections", connection) } : {}),
    ...(trigger === undefined && isOfChannel(path) ? servedTriggers(document, kind, endpoints) : {})
  }
}

type Fields = Readonly<Record<string, unknown>>

const links = ["kind", "trigger", "connection"]

/** Absent and false are the same, and so is an empty map. */
const isSet = (value: unknown): boolean =>
  value !== undefined && value !== false && !(isRecord(value) && Object.keys(value).length === 0)

const readFields = (shape: Shape | undefined, holder: unknown): Fields => {
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

const linked = (document: unknown, kind: "im_connections" | "triggers", name: string) => {
  const { at, nameField } = entityLocations[kind]
  const collection = valueAt(document, at)
  const holder = Array.isArray(collection)
    ? collection.find((item: unknown) => isRecord(item) && item[nameField ?? "name"] === name)
    : isRecord(collection)
      ? collection[name]
      : undefined
  return { name, ...ownDestination(kind, holder) }
}

const ownDestination = (kind: "im_connections" | "triggers", holder: unknown): Destination => {
  const { kind: type, trigger: _, connection: __, ...endpoints } = readFields(entityShape(kind), holder)
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
const servedTriggers = (document: unknown, channelKind: unknown, own: Fields): Pick<Destination, "triggers"> => {
  const kinds = servedKinds.find(([prefix]) => String(channelKind).startsWith(prefix))?.[1]
  const triggers = valueAt(document, entityLocations.triggers.at)
  if (kinds === undefined || !Array.isArray(triggers)) return {}
  const served = triggers
    .map((trigger: unknown) => ownDestination("triggers", trigger))
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ endpoints, ...rest }) => ({
      ...rest,
      endpoints: Object.fromEntries(Object.entries(endpoints).filter(([name]) => own[name] === undefined))
    }))
  const distinct = new Map(served.map((one) => [JSON.stringify(one), one]))
  const sorted = [...distinct].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
  return sorted.length === 0 ? {} : { triggers: sorted }
}

export interface SecretGrant {
  readonly env: string
  readonly target: ReadonlyArray<string>
  readonly destinations?: Readonly<Record<string, unknown>> | undefined
}

/** Returns whether the file grants the use of a variable at a path of the combined document. */
export const isGranted = (grants: ReadonlyArray<SecretGrant>, env: string, document: unknown, path: Path): boolean => {
  const target = named(document, path)
  const destination = destinationAt(document, path)
  return grants.some(
    (grant) =>
      grant.env === env &&
      isDeepStrictEqual(grant.target, target) &&
      Object.values(grant.destinations ?? {}).some((allowed) => isDeepStrictEqual(allowed, destination))
  )
}
