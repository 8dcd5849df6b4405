/**
 * The Lua of the queue: one file per transition in `redis/`, joined to one script that runs several of them after each other, each
 * as whole as if it were alone. So calls that come together cost Redis one message and one start of a script.
 */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"

const names = [
  "admit",
  "load",
  "get",
  "survey",
  "release",
  "withdraw",
  "claim",
  "renew",
  "finish",
  "cancel",
  "cancel-entry",
  "running",
  "reclaim",
  "expire",
  "prune",
  "stats",
  "list",
  "retry"
] as const
export type ScriptName = (typeof names)[number]

export interface Script {
  readonly source: string
  /** By which Redis knows a script that it was given before. */
  readonly sha: string
}

const read = (name: string): string => readFileSync(new URL(`redis/${name}.lua`, import.meta.url), "utf8")

const asFunction = (name: ScriptName): string => `TRANSITIONS['${name}'] = function(...)\n${read(name)}\nend`

export const loadScript = (): Script => {
  const source = [read("store"), read("shared"), ...names.map(asFunction), read("run")].join("\n")
  return { source, sha: createHash("sha1").update(source).digest("hex") }
}
