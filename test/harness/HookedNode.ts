/** Parts of scenarios with one node: its stores in a folder, a fake model, reads of its records, and calls of the hook of Perforce. */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { promisify } from "node:util"
import { programFolder } from "./AicrProcess.ts"

export const hookKey = "key-of-the-hooks"

/** Settings that are no subject of the scenario. */
export const nodeDocument = (
  { directory, model }: { readonly directory: string; readonly model: { readonly url: string } },
  port: number,
  autoCommit: Readonly<Record<string, unknown>> = { delay_seconds: 0 }
) => ({
  server: { port, hostname: "127.0.0.1", auth: { api_key: hookKey } },
  llm: {
    providers: [{ id: "fake", kind: "openai_compatible", base_url: `${model.url}/v1`, api_key: "model" }],
    model_chain: { default: [{ provider: "fake", model: "fake" }] }
  },
  agent: { default: "native-llm" },
  review: { output_language: "en", verification: "off", auto_commit: autoCommit },
  queue: { kind: "sqlite", sqlite: { path: join(directory, "queue.db") } },
  storage: {
    database: { sqlite: { path: join(directory, "aicr.db") } },
    object: { filesystem: { root: join(directory, "objects") } }
  }
})

/** Reads the records while the node writes them. */
export const readRows = (directory: string, query: string): ReadonlyArray<Record<string, unknown>> => {
  const database = new DatabaseSync(join(directory, "aicr.db"), { readOnly: true, timeout: 5000 })
  try {
    return database.prepare(query).all()
  } finally {
    database.close()
  }
}

/** Calls the script as the trigger of a Perforce server does. */
export const callP4Hook = (url: string, directory: string, ...args: ReadonlyArray<string>) =>
  callNamedHook(url, directory, undefined, ...args)

/** Calls the script with the name of a trigger in its settings. */
export const callNamedHook = (
  url: string,
  directory: string,
  trigger: string | undefined,
  ...args: ReadonlyArray<string>
) =>
  promisify(execFile)("sh", [join(programFolder, "scripts/hooks/p4-trigger.sh"), ...args], {
    env: {
      PATH: process.env["PATH"],
      AICR_URL: url,
      AICR_API_KEY: hookKey,
      ...(trigger === undefined ? {} : { AICR_TRIGGER: trigger }),
      AICR_LOG: join(directory, "hook.log"),
      AICR_RETRY_AFTER: "1"
    }
  })

/** Reviews the change of a run again, as an operator does on the machine of the node. */
export const reviewAgain = ({ directory }: { readonly directory: string }, run: string) =>
  promisify(execFile)(
    join(programFolder, "bin/aicr"),
    ["queue", "rereview", run, "--config", join(directory, "config.yaml")],
    { env: { PATH: process.env["PATH"] } }
  )
