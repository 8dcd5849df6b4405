/**
 * Determines the destination of a credential: the kind and the endpoints of its holder, and those of the trigger or connection that it uses. A
 * database edit may use an environment variable only for a destination that the file grants, and keeps a stored credential only while its
 * destination is the same. Pure.
 */
import { isDeepStrictEqual } from "node:util"
import type { Path } from "../Path.ts"
import { isRecord, valueAt } from "../Path.ts"
import { entityLocations } from "./Entities.ts"
import { named } from "../SealedPlaces.ts"

const endpointFields = ["base_url", "url", "repository_url", "port", "http_proxy", "webhook_url"] as const

export interface Destination {
  readonly kind?: string
  readonly endpoints: Readonly<Record<string, number | string>>
  /** Destination of the trigger that the holder names. */
  readonly trigger?: Destination & { readonly name: string }
  /** Destination of the chat connection that the holder names. */
  readonly connection?: Destination & { readonly name: string }
}

/** Returns the destination of the credential at a path of the combined document. Fields of nearer maps take precedence. */
export const destinationAt = (document: unknown, path: Path): Destination => {
  const holders = path.slice(0, -1).map((_, length) => valueAt(document, path.slice(0, length + 1)))
  const found = holders.filter(isRecord).reduce<Fields>((into, holder) => ({ ...into, ...fieldsIn(holder) }), {})
  const { kind, trigger, connection, ...endpoints } = found
  return {
    ...(typeof kind === "string" ? { kind } : {}),
    endpoints,
    ...(typeof trigger === "string" ? { trigger: linked(document, "triggers", trigger) } : {}),
    ...(typeof connection === "string" ? { connection: linked(document, "im_connections", connection) } : {})
  }
}

type Fields = Readonly<Record<string, number | string>>

const fieldsIn = (holder: Readonly<Record<string, unknown>>): Fields =>
  Object.fromEntries(
    ["kind", "trigger", "connection", ...endpointFields].flatMap((name) => {
      const value = holder[name]
      return typeof value === "string" || typeof value === "number" ? [[name, value] as const] : []
    })
  )

const linked = (document: unknown, kind: "im_connections" | "triggers", name: string) => {
  const { at, nameField } = entityLocations[kind]
  const collection = valueAt(document, at)
  const holder = Array.isArray(collection)
    ? collection.find((item: unknown) => isRecord(item) && item[nameField ?? "name"] === name)
    : isRecord(collection)
      ? collection[name]
      : undefined
  const { kind: type, trigger: _, connection: __, ...endpoints } = isRecord(holder) ? fieldsIn(holder) : {}
  return { name, ...(typeof type === "string" ? { kind: type } : {}), endpoints }
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
