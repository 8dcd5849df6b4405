/**
 * Assembles the Lua of the queue: one file per transition in `redis/`, joined to one script that runs several of them in sequence, each
 * atomically. A batch of calls costs Redis one message and one start of a script.
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
  "retry",
  "quarantine"
] as const
export type ScriptName = (typeof names)[number]

export interface Script {
  readonly source: string
  /** Hash by which Redis identifies a loaded script. */
  readonly sha: string
}

const read = (name: string): string => readFileSync(new URL(`redis/${name}.lua`, import.meta.url), "utf8")

/** Redis runs the whole script for every message, so functions that are not called are not created. */
const asFunction = (name: ScriptName): string =>
  `if called['${name}'] then TRANSITIONS['${name}'] = function(...)\n${read(name)}\nend end`

const constants = /^local ([A-Z_]+(?:, [A-Z_]+)*) = (-?\d+(?:, -?\d+)*)$/gm
/** Lua has no constants: as variables of the script they would cost each function that uses them, when it is created and when it runs. */
const inlined = (source: string): string => {
  const values = new Map<string, string>()
  const rest = source.replaceAll(constants, (_, words: string, numbers: string) => {
    const given = numbers.split(", ")
    words.split(", ").forEach((word, index) => values.set(word, given[index] ?? "nil"))
    return ""
  })
  return rest.replaceAll(/\b[A-Z_]+\b/g, (word) => values.get(word) ?? word)
}

export const loadScript = (): Script => {
  const parts = [read("calls"), read("store"), read("shared"), read("damage"), ...names.map(asFunction), read("run")]
  const source = inlined(parts.join("\n"))
  return { source, sha: createHash("sha1").update(source).digest("hex") }
}
