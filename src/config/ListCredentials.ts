/** Lists the values of all credentials of a configuration, so that they can be removed from text that is stored or shown. */
import { Redacted } from "effect"
import { namedVariables } from "./credentials/Environment.ts"
import { isRecord } from "./document/Path.ts"
import type { Snapshot } from "./Snapshot.ts"

/** Shorter values occur in any text. */
const minLength = 6

/** Fields that name variables without a credential. */
const open: ReadonlySet<unknown> = new Set(["endpoint_url_env", "region_env", "username_env"])

const literals = (value: unknown): ReadonlyArray<string> => {
  if (Redacted.isRedacted(value)) {
    const text = Redacted.value(value)
    return typeof text === "string" ? [text] : []
  }
  if (Array.isArray(value)) return value.flatMap(literals)
  return isRecord(value) ? Object.values(value).flatMap(literals) : []
}

const passwordOf = (value: string): ReadonlyArray<string> => {
  const password = URL.canParse(value) ? new URL(value).password : ""
  try {
    return [password, decodeURIComponent(password)]
  } catch {
    return [password]
  }
}

const known = new WeakMap<Snapshot, ReadonlyArray<string>>()

/** Returns each value once, the longest first. The password of a connection string is a value too. */
export const listCredentials = (snapshot: Snapshot): ReadonlyArray<string> => {
  const earlier = known.get(snapshot)
  if (earlier !== undefined) return earlier
  const fromVariables = namedVariables(snapshot.document).flatMap(({ name, path }) => {
    const value = open.has(path.at(-1)) ? undefined : snapshot.credential({ value_env: name }, "value")
    return value === undefined ? [] : [Redacted.value(value)]
  })
  const values = [...literals(snapshot.document), ...fromVariables].flatMap((value) => [value, ...passwordOf(value)])
  const list = [...new Set(values)]
    .filter((value) => value.trim().length >= minLength)
    .toSorted((a, b) => b.length - a.length)
  known.set(snapshot, list)
  return list
}
