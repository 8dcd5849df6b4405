/** The Lua scripts in `redis/`, one per transition, each with what they share before it. */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"

const names = [
  "admit",
  "load",
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

export const loadScripts = (): ReadonlyMap<ScriptName, Script> => {
  const shared = read("shared")
  return new Map(
    names.map((name) => {
      const source = `${shared}\n${read(name)}`
      return [name, { source, sha: createHash("sha1").update(source).digest("hex") }] as const
    })
  )
}
