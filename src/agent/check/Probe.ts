/** A program that runs in a sandbox in place of an agent, and prints what it can reach: variables, processes, addresses. */
import { Effect, Stream } from "effect"
import type { SandboxConfig } from "../../config/schema/Agent.ts"
import type { SandboxError, SandboxLimits } from "../../sandbox/Sandbox.ts"
import { Sandboxes } from "../../sandbox/Sandbox.ts"
import { commonEnvironment } from "../clis/CliEnvironment.ts"

/** Prints one line of JSON. It has no imports but those of node, because its text is its argument. */
const script = `
const { readdirSync, readFileSync } = require("node:fs")
const { connect } = require("node:net")
const environments = readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).map((pid) => {
  try { return readFileSync("/proc/" + pid + "/environ", "utf8") } catch { return "" }
})
const reach = ([host, port]) => new Promise((done) => {
  const socket = connect({ host, port, timeout: 2000 })
  const end = (reached) => { socket.destroy(); done(reached ? [host + ":" + port] : []) }
  socket.once("connect", () => end(true)).once("timeout", () => end(false)).once("error", () => end(false))
})
Promise.all(JSON.parse(process.argv[1]).map(reach)).then((reached) =>
  console.log(JSON.stringify({ environment: JSON.stringify(process.env) + environments.join("\\n"), reached: reached.flat() })))
`

export interface Seen {
  /** Variables of all processes that the program can see. */
  readonly environment: string
  /** Addresses that accepted a connection. */
  readonly reached: ReadonlyArray<string>
}

interface ProbeOptions {
  readonly config: SandboxConfig
  readonly limits: SandboxLimits
  readonly repository: string
  readonly sockets: { readonly model: string; readonly tools: string }
  readonly addresses: ReadonlyArray<readonly [host: string, port: number]>
}

export const probeSandbox = Effect.fnUntraced(function* ({
  addresses,
  config,
  limits,
  repository,
  sockets
}: ProbeOptions): Effect.fn.Return<Seen | undefined, SandboxError, Sandboxes> {
  const sandboxes = yield* Sandboxes
  const lines = yield* Effect.scoped(
    Effect.gen(function* () {
      const sandbox = yield* sandboxes.start(config, {
        labels: { run: "agent-check", pass: "probe" },
        repository,
        installation: [],
        limits,
        sockets,
        program: ({ scratch }) => ({
          command: "node",
          args: ["-e", script, JSON.stringify(addresses)],
          environment: commonEnvironment({ home: scratch, settings: scratch }, scratch),
          files: []
        })
      })
      return yield* Stream.runCollect(sandbox.lines)
    })
  )
  const line = lines.find((text) => text.startsWith("{"))
  return line === undefined ? undefined : (JSON.parse(line) as Seen)
})
