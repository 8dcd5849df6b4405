/**
 * Checks API keys of `/triggers/*`: `X-API-Key` or `Authorization: Bearer`. The global key opens every workspace, a workspace's key only
 * that workspace. Each key is compared with every configured one as a digest, so that neither the duration nor the response reveals a near
 * match. Without a configured key every call is refused.
 */
import { createHash, timingSafeEqual } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"
import { Redacted } from "effect"
import type { Snapshot } from "../config/Snapshot.ts"

export interface KeyScope {
  /** Workspaces that the key opens; undefined: all. */
  readonly workspaces: ReadonlySet<string> | undefined
}

interface Key {
  readonly digest: Buffer
  /** Undefined for the global key. */
  readonly workspace: string | undefined
}

const digestOf = (key: string): Buffer => createHash("sha256").update(key).digest()

const keysOf = (snapshot: Snapshot): ReadonlyArray<Key> => {
  const { auth } = snapshot.document.server
  const key = (holder: { readonly enabled: boolean }, workspace: string | undefined): ReadonlyArray<Key> => {
    const secret = holder.enabled ? snapshot.credential(holder, "api_key") : undefined
    return secret === undefined ? [] : [{ digest: digestOf(Redacted.value(secret)), workspace }]
  }
  return [
    ...key(auth, undefined),
    ...[...snapshot.workspaces.values()].flatMap(({ id, instance }) => key(instance.auth, id))
  ]
}

const known = new WeakMap<Snapshot, ReadonlyArray<Key>>()

export const hasKeys = (snapshot: Snapshot): boolean => configured(snapshot).length > 0

const configured = (snapshot: Snapshot): ReadonlyArray<Key> => {
  let keys = known.get(snapshot)
  if (keys === undefined) {
    keys = keysOf(snapshot)
    known.set(snapshot, keys)
  }
  return keys
}

const givenKeys = (headers: IncomingHttpHeaders): ReadonlyArray<string> => {
  const own = headers["x-api-key"]
  const bearer = /^Bearer +(\S+)\s*$/i.exec(headers.authorization ?? "")?.[1]
  return [own, bearer].flatMap((key) => (typeof key === "string" && key !== "" ? [key] : []))
}

/** Returns the combined scope of the request's keys, or undefined if none of them is valid. */
export const findScope = (snapshot: Snapshot, headers: IncomingHttpHeaders): KeyScope | undefined => {
  const given = givenKeys(headers).map(digestOf)
  const opened = configured(snapshot).filter(
    ({ digest }) => given.filter((one) => timingSafeEqual(one, digest)).length > 0
  )
  if (opened.length === 0) return undefined
  if (opened.some(({ workspace }) => workspace === undefined)) return { workspaces: undefined }
  return { workspaces: new Set(opened.flatMap(({ workspace }) => workspace ?? [])) }
}
