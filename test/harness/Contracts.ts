/** Reads the recorded material of the hosts in `test/contracts`. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { Schema } from "effect"

const folder = join(import.meta.dirname, "../contracts")

const bytesOf = (path: string): Buffer => readFileSync(join(folder, path))

/** Parses a JSON file of the folder. */
export const readContract = (path: string): unknown => JSON.parse(bytesOf(path).toString())

const Source = Schema.Struct({
  repo: Schema.String,
  commit: Schema.optionalKey(Schema.String),
  path: Schema.String,
  licence: Schema.String
})

const Manifest = Schema.Struct({
  /** The secret that all signatures of the manifest are made with. */
  secret: Schema.String,
  payloads: Schema.Array(Schema.Struct({ file: Schema.String, source: Source }))
})

const { payloads } = Schema.decodeUnknownSync(Manifest)(readContract("payloads/manifest.json"))
const sources = new Map(payloads.map(({ file, source }) => [file, source]))

const examplesPackage = "npm:@octokit/webhooks-examples"
const Examples = Schema.Array(Schema.Struct({ name: Schema.String, examples: Schema.Array(Schema.Unknown) }))
let examples: typeof Examples.Type | undefined

/** Returns the bytes of a delivery: a file of the folder, or an example of the package that its source names (`…#/event/number`). */
export const payloadBytes = (file: string): Buffer => {
  const source = sources.get(file)
  if (source === undefined) throw new Error(`payload ${file} is not in test/contracts/payloads/manifest.json`)
  if (source.repo !== examplesPackage) return bytesOf(`payloads/${file}`)
  examples ??= Schema.decodeUnknownSync(Examples)(
    createRequire(import.meta.url)("@octokit/webhooks-examples/api.github.com/index.json")
  )
  const [, event, at] = /#\/(\w+)\/(\d+)$/.exec(source.path) ?? []
  const example = examples.find(({ name }) => name === event)?.examples[Number(at)]
  if (example === undefined) throw new Error(`${examplesPackage} has no example ${source.path} for payload ${file}`)
  return Buffer.from(JSON.stringify(example))
}
