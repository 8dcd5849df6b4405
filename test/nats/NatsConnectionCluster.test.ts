/** The configuration of nats-servers for a cluster, in real servers: they find each other, keep copies, and reject others. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect } from "@nats-io/transport-node"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import { ensure, streamName, streams } from "../../nats/NatsStreams.ts"
import { freePort } from "../harness/FreePort.ts"
import { natsServer } from "../harness/Nats.ts"
import { waitUntil } from "../harness/Wait.ts"
import { toSettings } from "./Cluster.ts"

const config = join(import.meta.dirname, "../../nats/nats-cluster.conf")
const folder = mkdtempSync(join(tmpdir(), "aicr-nats-cluster-"))
const stops: Array<() => void> = []

interface Started {
  readonly port: number
  readonly monitor: number
  readonly log: () => string
}

const start = async (name: string, args: ReadonlyArray<string>, env: NodeJS.ProcessEnv): Promise<Started> => {
  const [port, monitor] = [await freePort(), await freePort()]
  const own = ["--addr=127.0.0.1", `--port=${port}`, `--http_port=${monitor}`, `--name=${name}`]
  const server = spawn(natsServer(), [...args, ...own, `--store_dir=${join(folder, name)}`], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"]
  })
  let log = ""
  server.stderr.on("data", (text) => (log += String(text)))
  stops.push(() => server.kill("SIGKILL"))
  return { port, monitor, log: () => log }
}

const routes = async ({ monitor }: Started): Promise<ReadonlySet<string>> => {
  const response = await fetch(`http://127.0.0.1:${monitor}/routez`).catch(() => undefined)
  const text = (await response?.text()) ?? ""
  // A server may have several routes to one other server.
  return new Set([...text.matchAll(/"remote_id": "([^"]+)"/g)].map(([, id = ""]) => id))
}

describe("nats/nats-cluster.conf", () => {
  const servers: Array<Started> = []
  let listen: ReadonlyArray<number> = []

  beforeAll(async () => {
    listen = await Promise.all([freePort(), freePort(), freePort()])
    const urls = listen.map((port) => `"nats://aicr:pass-word@127.0.0.1:${port}"`)
    for (const [index, port] of listen.entries()) {
      servers.push(
        await start(`n${index}`, [`--config=${config}`], {
          NATS_USER: '"aicr"',
          NATS_PASSWORD: '"pass-word"',
          NATS_CLUSTER_LISTEN: `"127.0.0.1:${port}"`,
          NATS_ROUTES: `[${urls.join(", ")}]`
        })
      )
    }
  })
  afterAll(() => {
    stops.forEach((stop) => stop())
    rmSync(folder, { recursive: true, force: true })
  })

  const first = () => servers[0] ?? expect.fail("no server")

  it("makes one cluster of three servers", async () => {
    for (const server of servers) {
      await waitUntil(async () => (await routes(server)).size === 2, { describe: () => `two routes; ${server.log()}` })
      expect(server.log()).not.toContain("Authorization Violation")
    }
  })

  it("lets a client in with the password, and no other", async () => {
    const { port } = first()
    const client = await connect({ servers: `127.0.0.1:${port}`, user: "aicr", pass: "pass-word" })
    expect(client.info?.jetstream).toBe(true)
    await client.close()
    const attempt = { servers: `127.0.0.1:${port}`, maxReconnectAttempts: 0 }
    await expect(connect(attempt)).rejects.toThrow(/authorization/i)
    await expect(connect({ ...attempt, user: "aicr", pass: "wrong" })).rejects.toThrow(/authorization/i)
  })

  it("keeps a stream in another number of copies when the settings have one", async () => {
    const url = `nats://aicr:pass-word@127.0.0.1:${first().port}`
    const settings = toSettings({ SVC_NATS_URL: url, SVC_NATS_PREFIX: "copies" })
    const keptIn = (replicas: 1 | 3) =>
      Effect.gen(function* () {
        const connection = yield* NatsConnection
        yield* Effect.provideService(ensure([streams.shards]), NatsConnection, { ...connection, replicas })
        const name = streamName(connection.prefix, streams.shards)
        const { config: kept } = yield* Effect.promise(() => connection.manager.streams.info(name))
        return kept.num_replicas
      }).pipe(Effect.provide(NatsConnection.layer({ settings, name: "test" })), Effect.runPromise)
    // The servers elect a leader first.
    const isReady = () => keptIn(1).then(Boolean, () => false)
    await waitUntil(isReady, { interval: 100, describe: () => `the cluster keeps streams; ${first().log()}` })
    expect(await keptIn(3)).toBe(3)
    expect(await keptIn(1)).toBe(1)
  })

  it("rejects servers without the password", async () => {
    const before = await routes(first())
    const port = await freePort()
    const stranger = await start(
      "stranger",
      ["--cluster_name=aicr", `--cluster=nats://127.0.0.1:${port}`, `--routes=nats://127.0.0.1:${listen[0]}`],
      {}
    )
    await waitUntil(() => /Authorization Violation/.test(stranger.log()), { describe: stranger.log })
    expect(await routes(first())).toEqual(before)
  })
})
