/**
 * `npm run bench -- [NAME] [--json] [--against COMMIT]`: measurements of the service's parts. Without a name it lists them. A benchmark prints its
 * numbers as it goes; with --json the last line of the output is one JSON object with them.
 */
import { parseArgs } from "node:util"
import { ownFolder } from "../harness/RunFolder.ts"

export interface Benchmark {
  readonly name: string
  readonly summary: string
  /** `against`: a commit to compare with, of benchmarks that do. */
  readonly run: (options: {
    readonly json: boolean
    readonly against?: string | undefined
  }) => Promise<Record<string, number>>
}

const benchmarks: Readonly<Record<string, () => Promise<Benchmark>>> = {
  acceptance: () => import("./acceptance.ts").then((module) => module.acceptance),
  agents: () => import("./agents.ts").then((module) => module.agents),
  actors: () => import("./actors.ts").then((module) => module.actorCalls),
  catchup: () => import("./catchup.ts").then((module) => module.catchup),
  chat: () => import("./chat.ts").then((module) => module.chat),
  cluster: () => import("./cluster.ts").then((module) => module.cluster),
  cpu: () => import("./cpu.ts").then((module) => module.cpu),
  conversation: () => import("./conversation.ts").then((module) => module.conversation),
  config: () => import("./config.ts").then((module) => module.config),
  dashboard: () => import("./dashboard.ts").then((module) => module.dashboard),
  failover: () => import("./failover.ts").then((module) => module.failover),
  engine: () => import("./engine.ts").then((module) => module.engine),
  framing: () => import("./framing.ts").then((module) => module.framing),
  hostile: () => import("./hostile.ts").then((module) => module.hostile),
  "hostile-port": () => import("./hostilePort.ts").then((module) => module.hostilePort),
  ingest: () => import("./ingest.ts").then((module) => module.ingest),
  outcomes: () => import("./outcomes.ts").then((module) => module.outcomes),
  overhead: () => import("./overhead.ts").then((module) => module.overhead),
  queue: () => import("./queue.ts").then((module) => module.queue),
  publish: () => import("./publish.ts").then((module) => module.publish),
  review: () => import("./review.ts").then((module) => module.review),
  rounds: () => import("./rounds.ts").then((module) => module.rounds),
  vcs: () => import("./vcs.ts").then((module) => module.vcs)
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean", default: false }, against: { type: "string" } }
})
const { against, json } = values
const [name, ...others] = positionals
const chosen = name === undefined || others.length > 0 ? undefined : benchmarks[name]

if (chosen === undefined) {
  for (const load of Object.values(benchmarks)) {
    const benchmark = await load()
    process.stderr.write(`${benchmark.name.padEnd(16)} ${benchmark.summary}\n`)
  }
  process.exitCode = name === undefined ? 0 : 2
} else {
  ownFolder()
  const result = await (await chosen()).run({ json, against })
  if (json) process.stdout.write(`${JSON.stringify(result)}\n`)
}
