/** Operations on several nodes: the list of nodes, unavailable services, a node that accepts no more work, cancelled reviews. */
import { execFile } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { stringify } from "yaml"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { agentFolder, provideCli } from "../harness/AgentClis.ts"
import { adminEnv, AdminSession } from "../harness/AdminSession.ts"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { honest } from "../harness/Installation.ts"
import { OtherRelease } from "../harness/OtherRelease.ts"
import { NatsWatch } from "../harness/NatsWatch.ts"
import { provide } from "../harness/Provide.ts"
import { waitUntil } from "../harness/Wait.ts"
import { processesMounting } from "../sandbox/Fixture.ts"

const root = join(import.meta.dirname, "../..")

const toReview = { line_comments: ["review"], summary: ["review"] }

/** One node runs another release. */
const other = new OtherRelease("0.9.0", [])
let at: ClusterInstallation
beforeAll(async () => {
  await provideCli("codex")
  at = await ClusterInstallation.make({
    repositories: 2,
    slots: 2,
    env: {
      ...adminEnv,
      SVC_AGENTS_DIR: agentFolder,
      PATH: `${provide("bubblewrap")}:${process.env["PATH"] ?? ""}`
    },
    agent: { timeout_seconds: 120 },
    rules: [{ ...toReview, match: { trigger: "host-1" }, analysis: { agent: "codex" } }]
  })
  const middle = await at.add("middle", "actors,publisher")
  middle.setProgram(other.folder)
  await Promise.all([at.start("front", "ingress,dashboard"), at.start("work", "executor"), middle.start()])
}, 600_000)
afterAll(async () => {
  await at[Symbol.asyncDispose]()
  other[Symbol.dispose]()
}, 60_000)

const aicr = (...args: ReadonlyArray<string>) =>
  new Promise<{ readonly code: number; readonly out: string; readonly err: string }>((resolve) => {
    execFile(
      join(root, "node_modules/.bin/node"),
      ["--disable-warning=ExperimentalWarning", join(root, "src/main.mjs"), ...args],
      { env: { PATH: process.env["PATH"] ?? "", ...at.env("operator", "ingress") } },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err })
    )
  })

const notReady = async (node: string): Promise<unknown> => {
  const answer = await fetch(`${at.node(node).url}/readyz`)
  const body: unknown = await answer.json()
  return answer.status === 200 ? [] : Object(body).not_ready
}

it("aicr nodes shows who is there and what they do", async () => {
  await at.deliver(await at.open("first", "team/r0"))
  const shown = async () => JSON.parse((await aicr("nodes", "--json")).out).nodes
  const nodes = await waitUntil(
    async () => {
      const found = await shown()
      const awake = found.some((node: { readonly actors: number }) => node.actors > 0)
      return found.length === 3 && awake ? found : undefined
    },
    { timeout: 60_000, describe: () => `three nodes, and actors awake\n${at.logs(10)}` }
  )
  expect(nodes).toMatchObject([
    { name: "front", roles: ["ingress", "dashboard"], slots: 0, actors: 0 },
    { name: "middle", roles: ["actors", "publisher"], version: "0.9.0", slots: 0 },
    { name: "work", roles: ["executor"], slots: 2, actors: 0 }
  ])
  const { err: warnings, out } = await aicr("nodes")
  // The documents of these nodes have different ports.
  const differences = ["nodes run different versions", "nodes have different configurations"]
  for (const difference of differences) expect(warnings).toContain(difference)
  const readiness: unknown = await (await fetch(`${at.node("front").url}/readyz`)).json()
  expect(readiness).toMatchObject({
    nodes: nodes.map(({ name, version, configuration }: Record<string, string>) => ({ name, version, configuration })),
    warnings: [{ _tag: "VersionsDiffer" }, { _tag: "ConfigurationsDiffer" }]
  })
  const admin = await AdminSession.open(at.node("front").url)
  expect((await admin.get("/nodes")).body).toMatchObject({
    items: nodes.map(({ name, roles, slots, version, configuration }: Record<string, unknown>) => ({
      name,
      roles,
      slots,
      version,
      configuration
    })),
    warnings: [{ _tag: "VersionsDiffer" }, { _tag: "ConfigurationsDiffer" }]
  })
  expect(out.split("\n")[0]).toMatch(/^NAME +ROLES +VERSION +CONFIGURATION +SINCE +SLOTS +ACTORS$/)
  expect(out).toMatch(/^work +executor +\d+\.\d+\.\d+ +[0-9a-f]{12} +\d{4}-\d\d-\d\dT\S+Z +2 +0$/m)
  const { code, err } = await new Promise<{ readonly code: number; readonly err: string }>((resolve) => {
    execFile(
      join(root, "node_modules/.bin/node"),
      ["--disable-warning=ExperimentalWarning", join(root, "src/main.mjs"), "nodes"],
      { env: { PATH: process.env["PATH"] ?? "" } },
      (error, _, text) => resolve({ code: Number(error?.code), err: text })
    )
  })
  expect([code, err]).toEqual([2, expect.stringContaining("SVC_NATS_URL is not set")])
})

it("messages between nodes hold no code, no finding and no credential", async () => {
  const texts = /marker-watched|line is wrong|Problem of|Summary of|t0ken-of|s3cret-of|key-of-the-model/
  await using watch = await NatsWatch.start(at.nats.url, texts)
  const pull = await at.open("watched", "team/r0")
  await at.deliver(pull)
  await at.reviewed([pull], 60_000)
  expect(watch.messages).toBeGreaterThan(10)
  expect([...watch.found]).toEqual([])
})

it("nodes at rest send few messages and commit few transactions", async () => {
  await at.settled()
  await using watch = await NatsWatch.start(at.nats.url, /^$/)
  const commits = async () =>
    Number((await at.query<{ readonly n: string }>("SELECT sum(xact_commit) AS n FROM pg_stat_database"))[0]?.n)
  const before = await commits()
  const startedAt = performance.now()
  await sleep(10_000)
  const seconds = (performance.now() - startedAt) / 1000
  // 8 to 19 messages and 2 to 5 transactions a second: members, leases and polls of three nodes.
  expect(watch.messages / seconds).toBeLessThan(30)
  expect(((await commits()) - before) / seconds).toBeLessThan(10)
}, 60_000)

it("a drained node takes nothing, and goes on when it is resumed", async () => {
  const config = join(at.directory, "work.yaml")
  expect(await aicr("queue", "pause", "--config", config, "--node", "work")).toMatchObject({ code: 0 })
  await waitUntil(() => at.node("work").log.includes("node drained"), { describe: () => at.logs(10) })
  const pull = await at.open("drained", "team/r0")
  await at.deliver(pull)
  await waitUntil(async () => (await aicr("queue", "list", "--config", config)).out.includes(" ready "), {
    timeout: 60_000,
    describe: () => `the entry waits for a node\n${at.logs(10)}`
  })
  expect(at.countModelCalls("drained")).toBe(0)
  expect(await aicr("queue", "resume", "--config", config, "--node", "work")).toMatchObject({ code: 0 })
  await at.reviewed([pull], 60_000)
  expect(at.countModelCalls("drained")).toBe(1)
}, 120_000)

describe("a review by an agent CLI ends with its processes when it is cancelled on another node", () => {
  const program = join(agentFolder, "codex", "node_modules")
  const agentProcesses = () => processesMounting(at.directory, program).length
  const running = async () =>
    (await at.query<{ readonly id: string }>("SELECT entry_id AS id FROM runs WHERE status = 'analyzing'"))[0]?.id ?? ""

  it.each<readonly [name: string, cancel: (pull: DemoPull) => Promise<unknown>]>([
    [
      "by the host",
      async (pull) => {
        at.forge.close(pull, false)
        at.forge.setWebhookUrl(`${at.node("front").url}/webhooks/gitea`)
        await at.forge.notify(pull, "closed")
      }
    ],
    [
      "by an administrator",
      async () => (await AdminSession.open(at.node("front").url)).post(`/queue/${await running()}/cancel`)
    ],
    [
      "by a command",
      async () => {
        const { code, err } = await aicr(
          "queue",
          "cancel",
          await running(),
          "--config",
          join(at.directory, "front.yaml")
        )
        expect([code, err]).toEqual([0, ""])
      }
    ]
  ])(
    "%s",
    async (name, cancel) => {
      const called = Promise.withResolvers<void>()
      at.model.script(() => {
        called.resolve()
        return { stall: "silent" }
      })
      const pull = await at.open(name.replaceAll(" ", "-"), "team/r1")
      await at.deliver(pull)
      await called.promise
      expect(agentProcesses()).toBeGreaterThan(0)
      await cancel(pull)
      await waitUntil(() => agentProcesses() === 0, {
        // Far below the interval in which a lease is renewed, by which a lost message is noticed.
        timeout: 5_000,
        describe: () => `${agentProcesses()} processes of the agent are left\n${at.logs(10)}`
      })
      await at.settled()
      at.model.script(honest)
    },
    120_000
  )
})

it("only nodes that take deliveries have their paths", async () => {
  const post = (node: string) => fetch(`${at.node(node).url}/webhooks/gitea`, { method: "POST", body: "{}" })
  expect((await post("front")).status).toBe(401)
  expect((await post("work")).status).toBe(404)
  expect((await fetch(`${at.node("work").url}/healthz`)).status).toBe(200)
})

it("/metrics shows the nodes of the cluster and the round-trip time of the bus", async () => {
  const metrics = () => fetch(`${at.node("front").url}/metrics`).then((answer) => answer.text())
  const expected = [/aicr_nodes\{role="executor"\} 1/, /aicr_bus_round_trip_seconds_count [1-9]/]
  let said = ""
  await waitUntil(
    async () => {
      said = await metrics()
      return expected.every((line) => line.test(said))
    },
    { describe: () => `${expected.join(" and ")}; it says:\n${said}` }
  )
  expect(said).toMatch(/aicr_bus_round_trip_seconds_count [1-9]/)
})

it("/readyz names unavailable services, on every node", async () => {
  const names = ["front", "work", "middle"]
  const until = (expected: ReadonlyArray<string>) =>
    waitUntil(
      async () =>
        (await Promise.all(names.map(notReady))).every((one) => JSON.stringify(one) === JSON.stringify(expected)),
      { timeout: 60_000, describe: () => `not ready: ${expected.join(", ")}\n${at.logs(5)}` }
    )
  await until([])
  at.line.cut()
  await until(["nats"])
  at.line.mend()
  await until([])
  await at.redis.kill()
  await until(["redis"])
  await at.redis.start()
  await until([])
  await at.postgres.stop()
  await until(["postgres"])
  await at.postgres.start()
  expect(await until([])).toBe(true)
}, 300_000)

it("a node with stores of its own does not start", async () => {
  const config = join(at.directory, "own.yaml")
  await writeFile(config, stringify({ queue: { kind: "memory" } }))
  const { code, err } = await aicr("serve", "--config", config)
  expect(code).toBe(2)
  expect(err).toContain("storage.database.kind: SVC_NATS_URL is set, so nodes work together")
  expect(err).toContain("queue.kind: SVC_NATS_URL is set")
})
