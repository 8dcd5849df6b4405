/** A node that starts while its servers are unavailable: it waits, reports what it waits for, stops in time, and works once they are available. */
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { describe, expect, it } from "vitest"
import type { AicrProcess } from "../harness/AicrProcess.ts"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { CutLine } from "../harness/CutLine.ts"
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
  it("waits for Postgres, NATS and Redis with its port open, and reviews once they are available", async () => {
    await using at = await ClusterInstallation.make({ repositories: 1, line: false })
    await Promise.all([at.postgres.stop(), at.nats.stop(), at.redis.kill()])
    const node = await at.add("one", "all")
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
    await waitUntil(async () => (await readiness(node)) === 200, { timeout: 60_000, describe: () => node.log })
    for (const server of ["postgres", "nats", "redis"]) expect(waitLines(node, server)).toHaveLength(1)

    const pull = await at.open("change", at.repositories[0] ?? "")
    await at.deliver(pull)
    await at.reviewed([pull], 60_000)
  }, 240_000)

  it.each([
    // Each server responds to the wait of the start. It disconnects at a later call of the start.
    ["postgres", "TEST_POSTGRES", "aicr_migrations"],
    ["redis", "TEST_REDIS", "evalsha"],
    ["nats", "SVC_NATS_URL", "$JS.API.STREAM.INFO.KV_aicr_leases"]
  ] as const)(
    "waits again for a server that disconnects while it starts: %s",
    async (server, variable, call) => {
      await using at = await ClusterInstallation.make({ repositories: 1, line: false })
      const url = new URL(at[server].url)
      await using line = await CutLine.to({ host: url.hostname, port: Number(url.port) })
      url.port = String(line.port)
      line.cutAt(call)
      const node = await at.add("one", "all", { [variable]: url.href })
      node.spawn()
      await waitUntil(() => line.isCut(), { timeout: 60_000, describe: () => `${call} is sent\n${node.log}` })
      await awaits(node, server)
      line.mend()
      await waitUntil(async () => (await readiness(node)) === 200, { timeout: 60_000, describe: () => node.log })
      const pull = await at.open("change", at.repositories[0] ?? "")
      await at.deliver(pull)
      await at.reviewed([pull], 60_000)
      expect(waitLines(node, server)).toHaveLength(1)
    },
    240_000
  )

  it.each([
    ["postgres", "TEST_POSTGRES", "postgres://aicr@127.0.0.1:PORT/postgres"],
    ["nats", "SVC_NATS_URL", "nats://127.0.0.1:PORT"],
    ["redis", "TEST_REDIS", "redis://127.0.0.1:PORT"]
  ])(
    "stops in time while it waits for a server that does not respond: %s",
    async (server, variable, url) => {
      await using at = await ClusterInstallation.make({ repositories: 1, line: false })
      await using silent = await silentServer()
      const node = await at.add("one", "all", { [variable]: url.replace("PORT", String(silent.port)) })
      node.spawn()
      await awaits(node, server)
      expect((await node.stop()).code).toBe(0)
    },
    240_000
  )

  it("names a host that does not exist while it waits, and ends if its credentials are refused", async () => {
    await using at = await ClusterInstallation.make({ repositories: 1, line: false })
    const unknown = [
      ["postgres", "TEST_POSTGRES", "postgres://aicr:pa55w0rd@no-host.invalid/postgres"],
      ["nats", "SVC_NATS_URL", "nats://no-host.invalid"],
      ["redis", "TEST_REDIS", "redis://aicr:pa55w0rd@no-host.invalid"]
    ] as const
    for (const [server, variable, url] of unknown) {
      const node = await at.add(`waits-${server}`, "all", { [variable]: url })
      node.spawn()
      await awaits(node, server)
      expect(waitLines(node, server)).toEqual([expect.stringMatching(/no-host\.invalid/)])
      expect(node.log).not.toContain("pa55w0rd")
      await node.kill()
    }
    const refused = [
      ["TEST_POSTGRES", at.postgres.url.replace("aicr@", "nobody:pa55w0rd@"), /role \\?"nobody\\?" does not exist/],
      ["TEST_REDIS", at.redis.url.replace("//", "//nobody:pa55w0rd@"), /WRONGPASS.*Check user and password/]
    ] as const
    for (const [variable, url, reason] of refused) {
      const node = await at.add(`refused-${variable}`, "all", { [variable]: url })
      await expect(node.start()).rejects.toThrow("aicr ended while starting")
      expect(node.log).toMatch(reason)
      expect(node.log).not.toContain("pa55w0rd")
    }
  }, 240_000)
})
