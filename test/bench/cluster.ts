/**
 * Several nodes, real processes on one machine with real NATS, Postgres and Redis:
 *
 * - reviews per second with a model that takes one second, on one executor node of 8 slots and on three, in alternating rounds.
 *   Pull requests of a repository share their head, so that one fetch serves them all and reviews wait for the model, not for
 *   git. The other two nodes are drained during this and not stopped: a node that has just started is slower until its code is
 *   compiled;
 * - from webhook to the first visible comment, in a cluster of three nodes (ingress, executor, actors and publisher) next to one
 *   process with all roles, in alternating rounds.
 */
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { stringify } from "yaml"
import { AicrProcess } from "../harness/AicrProcess.ts"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { freePort } from "../harness/FreePort.ts"
import { makeDocument, honest, secret, makeToken } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"
import { median } from "./Median.ts"

const modelMillis = 1000
const slots = 8
/** Reviews per slot. */
const turns = 8
const repositories = 24
/** Alternating; the best of each counts, for other load on the machine only makes a round slower. */
const scaleRounds = 3
const scaleWarmUp = 3
const rounds = 24
const warmUp = 4

const root = join(import.meta.dirname, "../..")
const writeLine = (text: string): void => void process.stderr.write(`${text}\n`)
/** Drains a node as an operator does; returns when the node has noticed. */
const setDrained = async (at: ClusterInstallation, name: string, drained: boolean): Promise<void> => {
  const config = join(at.directory, `${name}.yaml`)
  const args = ["src/main.mjs", "queue", drained ? "pause" : "resume", "--config", config, "--node", name]
  await promisify(execFile)(join(root, "node_modules/.bin/node"), ["--disable-warning=ExperimentalWarning", ...args], {
    cwd: root,
    env: { PATH: process.env["PATH"], ...at.env(name, "executor") }
  })
  const last = (said: string) => at.node(name).log.lastIndexOf(said)
  await waitUntil(() => last("node drained") > last("node resumed") === drained, { describe: () => at.logs(10) })
}

const scale = async (): Promise<{ readonly one: number; readonly three: number }> => {
  await using at = await ClusterInstallation.make({
    repositories,
    slots,
    perWorkspaceConcurrency: 3 * slots,
    maxWaitingForModel: 0,
    line: false
  })
  let asked = 0
  let answered: Array<number> = []
  at.model.script(async (request) => {
    asked++
    await new Promise((resolve) => setTimeout(resolve, modelMillis))
    answered.push(performance.now())
    return honest(request)
  })
  await at.start("front", "ingress")
  await at.start("middle", "actors,publisher")
  await at.start("work-1", "executor")
  for (const repository of at.repositories) await at.push("change", 1, repository)

  /** Reviews per second between the first quarter and the last, so that neither the start nor the end counts. */
  const measure = async (count: number): Promise<number> => {
    const pulls = []
    for (let index = 0; index < count; index++) {
      const repository = at.repositories[index % repositories] ?? ""
      pulls.push(await at.forge.createPull(repository, { headBranch: "change", title: `Change ${index}` }))
    }
    asked = 0
    answered = []
    await Promise.all(pulls.map((pull) => at.deliver(pull)))
    await waitUntil(() => answered.length >= count, {
      timeout: 300_000,
      describe: () => `${count} reviews; asked ${asked}, answered ${answered.length}\n${at.logs(20)}`
    })
    const from = answered[Math.floor(count / 8)] ?? 0
    const to = answered[Math.floor((count * 7) / 8)] ?? 0
    await at.settled(300_000)
    return ((Math.floor((count * 7) / 8) - Math.floor(count / 8)) * 1000) / (to - from)
  }

  const [one, three]: [Array<number>, Array<number>] = [[], []]
  await measure(repositories)
  const further = ["work-2", "work-3"]
  for (const name of further) await at.start(name, "executor")
  // So that their mirrors exist and their code is compiled.
  for (let round = 0; round < scaleWarmUp; round++) await measure(3 * slots * turns)
  for (let round = 0; round < scaleRounds; round++) {
    for (const name of further) await setDrained(at, name, true)
    one.push(await measure(slots * turns))
    for (const name of further) await setDrained(at, name, false)
    three.push(await measure(3 * slots * turns))
    writeLine(
      `1 executor node:  ${one.at(-1)?.toFixed(2)} reviews/s; 3 executor nodes: ${three.at(-1)?.toFixed(2)} reviews/s`
    )
  }
  return { one: Math.max(...one), three: Math.max(...three) }
}

const latency = async (): Promise<{ readonly cluster: number; readonly embedded: number }> => {
  await using at = await ClusterInstallation.make({ repositories: 8, slots: 4, line: false })
  const directory = await mkdtemp(join(tmpdir(), "aicr-bench-"))
  await mkdir(directory, { recursive: true })
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const configFile = join(directory, "config.yaml")
  const alone = makeDocument({ queue: "sqlite" }, at.repositories, {
    directory,
    port,
    forge: at.forge,
    model: at.model
  })
  await writeFile(configFile, stringify(alone))
  const env = {
    ...Object.fromEntries(at.repositories.map((_, index) => [`TEST_TOKEN_${index}`, makeToken(index)])),
    TEST_SECRET: secret,
    TEST_KEY: "key-of-the-model",
    SVC_LOG_LEVEL: "info"
  }
  await using embedded = new AicrProcess({ configFile, url, env })
  try {
    await embedded.start()
    await at.start("front", "ingress")
    await at.start("work", "executor")
    await at.start("middle", "actors,publisher")
    const front = at.node("front")

    const round = async (name: string, repository: string, to: string): Promise<number> => {
      const pull = await at.open(name, repository)
      at.forge.setWebhookUrl(`${to}/webhooks/gitea`)
      const began = performance.now()
      await at.forge.notify(pull, "opened")
      const ours = () => pull.comments.length + pull.reviews.length > 0
      await waitUntil(ours, { describe: () => `a comment on ${name}\n${at.logs(20)}\n${embedded.log.slice(-2000)}` })
      const took = performance.now() - began
      await at.reviewed([pull], 60_000)
      return took
    }
    const times = { cluster: [] as Array<number>, embedded: [] as Array<number> }
    for (let index = 0; index < warmUp + rounds; index++) {
      const repository = at.repositories[index % at.repositories.length] ?? ""
      const both = [
        ["cluster", front.url],
        ["embedded", url]
      ] as const
      for (const [kind, to] of index % 2 === 0 ? both : both.toReversed()) {
        const took = await round(`${kind}-${index}`, repository, to)
        if (index >= warmUp) times[kind].push(took)
      }
    }
    const result = { cluster: median(times.cluster), embedded: median(times.embedded) }
    writeLine(
      `webhook to comment, p50: cluster ${result.cluster.toFixed(0)} ms, one process ${result.embedded.toFixed(0)} ms`
    )
    return result
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

export const cluster = {
  name: "cluster",
  summary: "reviews per second on one and three executor nodes; webhook to comment next to one process",
  run: async (): Promise<Record<string, number>> => {
    const comment = await latency()
    const reviews = await scale()
    return {
      reviews_per_second_1: reviews.one,
      reviews_per_second_3: reviews.three,
      scale_1_to_3: reviews.three / reviews.one,
      webhook_to_comment_ms: comment.cluster,
      webhook_to_comment_embedded_ms: comment.embedded,
      latency_ratio: comment.cluster / comment.embedded
    }
  }
}
