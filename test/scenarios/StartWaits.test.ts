/**
 * A node that starts while its servers are unavailable: it waits, reports what it waits for, stops in time, and works once they are available. One of
 * three servers disconnects while it starts by default, and each of them with AICR_TEST_BACKENDS=all.
 */
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { AicrProcess } from "../harness/AicrProcess.ts"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { CutLine } from "../harness/CutLine.ts"
import { takeTurn } from "../harness/Samples.ts"
import { waitUntil } from "../harness/Wait.ts"

const readiness = async (node: AicrProcess): Promise<unknown> => {
  const response = await fetch(`${node.url}/readyz`).catch(() => undefined)
  return response?.status === 503 ? response.json() : response?.status
}

/** Waits until the starting node waits for exactly this server. */
const awaits = (node: AicrProcess, server: string) =>
  waitUntil(
    async () => JSON.stringify(await readiness(node)) === JSON.stringify({ status: "starting", not_ready: [server] }),
    { timeout: 60_000, describe: () => `waits for ${server}; the log says:\n${node.log}` }
  )

const waitLines = (node: AicrProcess, server: string): ReadonlyArray<string> =>
  node.log
    .split("\n")
    .filter((line) => line.includes('"waiting for a server"') && line.includes(`"server":"${server}"`))

/** A server that accepts connections and sends nothing. */
const silentServer = async () => {
  const server = createServer((socket) => void socket.on("error", () => {}).resume())
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve()))
  }
}

describe("a starting node", () => {
  let at: ClusterInstallation
  beforeAll(async () => {
    at = await ClusterInstallation.make({ repositories: 1, line: false })
  }, 60_000)
  afterAll(() => at[Symbol.asyncDispose](), 60_000)

  const reviews = async (node: AicrProcess, name: string): Promise<void> => {
    await waitUntil(async () => (await readiness(node)) === 200, { timeout: 60_000, describe: () => node.log })
    const pull = await at.open(name, at.repositories[0] ?? "")
    await at.deliver(pull, "opened", name)
    await at.reviewed([pull], 60_000)
    // The next node gets the locks without a wait.
    await node.stop()
  }

  it("waits for Postgres, NATS and Redis with its port open, and reviews once they are available", async () => {
    await Promise.all([at.postgres.stop(), at.nats.stop(), at.redis.kill()])
    const node = await at.add("first", "all")
    node.spawn()
    await awaits(node, "postgres")
    expect((await fetch(`${node.url}/healthz`)).status).toBe(200)
    expect((await fetch(`${node.url}/metrics`)).status).toBe(200)
    const delivery = await fetch(`${node.url}/webhooks/gitea`, { method: "POST", body: "{}" })
    expect([delivery.status, delivery.headers.get("retry-after")]).toEqual([503, "30"])
    expect(await delivery.json()).toEqual({ accepted: false, reason: "starting" })

    await at.postgres.start()
    await awaits(node, "nats")
    await at.nats.start()
    await awaits(node, "redis")
    await at.redis.start()
    await reviews(node, "first")
    for (const server of ["postgres", "nats", "redis"]) expect(waitLines(node, server)).toHaveLength(1)
  }, 240_000)

  const servers = [
    // Each server responds to the wait of the start. It disconnects at a later call of the start.
    ["postgres", "TEST_POSTGRES", "aicr_migrations"],
    ["redis", "TEST_REDIS", "evalsha"],
    ["nats", "SVC_NATS_URL", "$JS.API.STREAM.INFO.KV_aicr_leases"]
  ] as const
  it.each(takeTurn("AICR_TEST_BACKENDS", servers))(
    "waits again for a server that disconnects while it starts: %s",
    async (server, variable, call) => {
      const url = new URL(at[server].url)
      await using line = await CutLine.to({ host: url.hostname, port: Number(url.port) })
      url.port = String(line.port)
      line.cutAt(call)
      const node = await at.add(server, "all", { [variable]: url.href })
      node.spawn()
      await waitUntil(() => line.isCut(), { timeout: 60_000, describe: () => `${call} is sent\n${node.log}` })
      await awaits(node, server)
      line.mend()
      await reviews(node, server)
      expect(waitLines(node, server)).toHaveLength(1)
    },
    240_000
  )

  it("stops in time while it waits for a server that does not respond", async () => {
    await using silent = await silentServer()
    const urls = [
      ["postgres", "TEST_POSTGRES", "postgres://aicr@127.0.0.1:PORT/postgres"],
      ["nats", "SVC_NATS_URL", "nats://127.0.0.1:PORT"],
      ["redis", "TEST_REDIS", "redis://127.0.0.1:PORT"]
    ] as const
    const stops = async ([server, variable, url]: (typeof urls)[number]) => {
      const node = await at.add(`silent-${server}`, "all", { [variable]: url.replace("PORT", String(silent.port)) })
      node.spawn()
      await awaits(node, server)
      return (await node.stop()).code
    }
    expect(await Promise.all(urls.map(stops))).toEqual([0, 0, 0])
  }, 240_000)

  it("names a host that does not exist while it waits, and ends if its credentials are refused", async () => {
    const unknown = [
      ["postgres", "TEST_POSTGRES", "postgres://aicr:pa55w0rd@no-host.invalid/postgres"],
      ["nats", "SVC_NATS_URL", "nats://no-host.invalid"],
      ["redis", "TEST_REDIS", "redis://aicr:pa55w0rd@no-host.invalid"]
    ] as const
    const waits = unknown.map(async ([server, variable, url]) => {
      const node = await at.add(`waits-${server}`, "all", { [variable]: url })
      node.spawn()
      await awaits(node, server)
      expect(waitLines(node, server)).toEqual([expect.stringMatching(/no-host\.invalid/)])
      expect(node.log).not.toContain("pa55w0rd")
      await node.kill()
    })
    const refused = [
      ["TEST_POSTGRES", at.postgres.url.replace("aicr@", "nobody:pa55w0rd@"), /role \\?"nobody\\?" does not exist/],
      ["TEST_REDIS", at.redis.url.replace("//", "//nobody:pa55w0rd@"), /WRONGPASS.*Check user and password/]
    ] as const
    const ends = refused.map(async ([variable, url, reason]) => {
      const node = await at.add(`refused-${variable}`, "all", { [variable]: url })
      await expect(node.start()).rejects.toThrow("aicr ended while starting")
      expect(node.log).toMatch(reason)
      expect(node.log).not.toContain("pa55w0rd")
    })
    await Promise.all([...waits, ...ends])
  }, 240_000)
})
