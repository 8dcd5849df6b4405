/** Reads the credentials of search providers, which are names of variables, or literals in layers of a workspace. */
import { Redacted } from "effect"
import type { Snapshot } from "../../config/Snapshot.ts"
import type { AgentConfig } from "../../config/schema/Agent.ts"

/** Returns those of providers that are not excluded, where the search is on. */
export const searchKeys = (
  { credential }: Pick<Snapshot, "credential">,
  { web_search: search }: Pick<AgentConfig, "web_search">
): Readonly<Record<string, string>> => {
  if (!search.enabled) return {}
  const keys = Object.entries(search.credentials).flatMap(([id, given]): ReadonlyArray<readonly [string, string]> => {
    if (search.exclude.includes(id)) return []
    const key = typeof given === "string" ? credential({ key_env: given }, "key") : credential(given, "value")
    return key === undefined ? [] : [[id, String(Redacted.value(key))]]
  })
  return Object.fromEntries(keys)
}
