/** Flags that `npm start` passes to node. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Schema } from "effect"

const Package = Schema.Struct({ scripts: Schema.Record(Schema.String, Schema.String) })

/** Scripts of package.json that run the program. */
export const serviceScripts = ["start", "demo", "aicr"] as const

export const scriptFlags = (name: (typeof serviceScripts)[number]): ReadonlyArray<string> => {
  const file = readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")
  const { scripts } = Schema.decodeUnknownSync(Schema.fromJsonString(Package))(file)
  const [, ...words] = (scripts[name] ?? "").split(" ")
  return words.slice(0, words.indexOf("src/main.mjs"))
}

export const serviceFlags = scriptFlags("start")
