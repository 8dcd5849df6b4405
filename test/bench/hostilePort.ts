/**
 * The port under attack, as the service runs with the shipped limit of 1 GiB: 200 unsigned form bodies of 25 MiB over 42 triggers
 * with three distinct secrets, then 2 100 clients that send half a request and neither read nor close. Measured from a process of
 * its own: the latency of `/healthz` and of signed deliveries during the attack, and the memory of the service.
 */
import { createHmac } from "node:crypto"
import { fork, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import type { Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { stringify } from "yaml"
import { freePort } from "../harness/FreePort.ts"
import { serviceFlags } from "../harness/ServiceFlags.ts"
import { waitUntil } from "../harness/Wait.ts"
import { makeCgroup } from "./hostile-port/Cgroup.ts"
import type { Cgroup } from "./hostile-port/Cgroup.ts"
import type { Flood } from "./hostile-port/flood.ts"

const mebibyte = 1024 * 1024
const memoryLimit = 1024 * mebibyte
const triggers = 42
const distinctSecrets = 3
const bodies = { requests: 200, concurrency: 12, bytes: 25 * mebibyte }
const halfRequests = 2100
const probeMillis = 20

const root = join(import.meta.dirname, "../..")

const documentOf = (port: number, directory: string) => ({
  server: { port, hostname: "127.0.0.1" },
  triggers: Array.from({ length: triggers }, (_, at) => ({
    name: `host-${at}`,
    kind: "gitea",
    base_url: "http://127.0.0.1:9",
    webhook_secret: `secret ${at % distinctSecrets}`
  })),
  workspaces: {
    root: join(directory, "workspaces"),
    instances: { app: { source_repo: { trigger: "host-0", repo: "acme/app" } } }
  },
  storage: {
    database: { sqlite: { path: join(directory, "aicr.db") } },
    object: { filesystem: { root: join(directory, "objects") } }
  }
})

const start = async (directory: string, cgroup: Cgroup | undefined) => {
  const port = await freePort()
  const file = join(directory, "config.yaml")
  writeFileSync(file, stringify(documentOf(port, directory)))
  // A shell of its own joins the cgroup before node starts, so that all its memory counts.
  const child = spawn("/bin/sh", ["-c", 'read go; exec "$@"', "sh", process.execPath, ...argumentsOf(file)], {
    cwd: root,
    env: { PATH: process.env["PATH"] },
    stdio: ["pipe", "ignore", "inherit"]
  })
  if (child.pid === undefined) throw new Error("the service did not start")
  cgroup?.add(child.pid)
  child.stdin.end("go\n")
  const url = `http://127.0.0.1:${port}`
  await waitUntil(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok, {
    describe: () => "the service is ready"
  })
  return { child, pid: child.pid, port, url }
}

const argumentsOf = (file: string) => [...serviceFlags, "src/main.mjs", "serve", "--config", file]

const residentOf = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024

const percentile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN

/** Calls `probe` again and again, each time on a connection of its own, until `during` ends. */
const probeDuring = async <A>(probe: () => Promise<void>, during: Promise<A>) => {
  const millis: Array<number> = []
  let failures = 0
  const state = { over: false }
  const ended = during.finally(() => {
    state.over = true
  })
  while (!state.over) {
    const startedAt = performance.now()
    await probe().catch(() => failures++)
    millis.push(performance.now() - startedAt)
    await sleep(probeMillis)
  }
  return { millis, failures, result: await ended }
}

const health = (url: string) => async (): Promise<void> => {
  const response = await fetch(`${url}/healthz`, {
    headers: { connection: "close" },
    signal: AbortSignal.timeout(30_000)
  })
  if (!response.ok) throw new Error(String(response.status))
  await response.text()
}

const delivery = (url: string) => async (): Promise<void> => {
  const body = JSON.stringify({ repository: { full_name: "acme/other" } })
  const response = await fetch(`${url}/webhooks/gitea`, {
    method: "POST",
    body,
    signal: AbortSignal.timeout(30_000),
    headers: {
      connection: "close",
      "x-gitea-event": "release",
      "x-gitea-signature": createHmac("sha256", "secret 0").update(body).digest("hex")
    }
  })
  if (response.status !== 202) throw new Error(String(response.status))
  await response.text()
}

const floodWith = (flood: Flood): Promise<Record<number, number>> =>
  new Promise((resolve, reject) => {
    const child = fork(join(import.meta.dirname, "hostile-port/flood.ts"), {
      execArgv: ["--disable-warning=ExperimentalWarning"]
    })
    child.once("message", (statuses: Record<number, number>) => resolve(statuses))
    child.once("exit", (code) => reject(new Error(`the attacker ended with code ${code}`)))
    child.send(flood)
  })

/** Clients from several addresses that send half a request; `end` disconnects them. */
const halfOpen = async (port: number): Promise<{ readonly end: () => void }> => {
  const sockets: Array<Socket> = []
  for (let at = 0; at < halfRequests; at++) {
    const socket = connect({ port, host: "127.0.0.1", localAddress: `127.0.2.${1 + (at % 200)}` })
    socket.on("error", () => undefined).pause()
    socket.write("POST /webhooks/gitea HTTP/1.1\r\nhost: x\r\n")
    sockets.push(socket)
    if (at % 100 === 0) await sleep(10)
  }
  return {
    end: () => {
      for (const socket of sockets) socket.destroy()
    }
  }
}

export const hostilePort = {
  name: "hostile-port",
  summary: "health and signed deliveries while unsigned 25 MiB bodies and half-open connections arrive, in 1 GiB",
  run: async (_options: { readonly json: boolean }): Promise<Record<string, number>> => {
    const print = (line: string) => process.stdout.write(`${line}\n`)
    const directory = mkdtempSync(join(tmpdir(), "aicr-hostile-"))
    const cgroup = makeCgroup(memoryLimit)
    print(cgroup === undefined ? "no cgroup can be made here: memory is only measured" : "in a cgroup of 1 GiB")
    const { child, pid, port, url } = await start(directory, cgroup)
    try {
      const idle = await probeDuring(health(url), sleep(3000))
      const flooded = await probeDuring(health(url), floodWith({ ...bodies, port }))
      print(`bodies: responses ${JSON.stringify(flooded.result)}, ${flooded.millis.length} probes`)
      const half = await halfOpen(port)
      const crowded = await probeDuring(delivery(url), sleep(3000))
      half.end()
      const result = {
        idle_healthz_p99_ms: percentile(idle.millis, 0.99),
        healthz_p50_ms: percentile(flooded.millis, 0.5),
        healthz_p99_ms: percentile(flooded.millis, 0.99),
        healthz_max_ms: Math.max(...flooded.millis),
        healthz_failures: flooded.failures,
        unsigned_refused: flooded.result[401] ?? 0,
        half_open_delivery_p99_ms: percentile(crowded.millis, 0.99),
        half_open_failures: crowded.failures,
        rss_peak_mib: residentOf(pid) / mebibyte,
        ...(cgroup === undefined ? {} : { cgroup_peak_mib: cgroup.peakBytes() / mebibyte }),
        alive: child.exitCode === null && child.signalCode === null ? 1 : 0
      }
      for (const [name, value] of Object.entries(result)) print(`${name.padEnd(28)}${value.toFixed(2)}`)
      return Object.fromEntries(Object.entries(result).map(([name, value]) => [name, Math.round(value * 100) / 100]))
    } finally {
      const ended = new Promise((resolve) => child.once("close", resolve))
      if (child.kill("SIGKILL")) await ended
      cgroup?.remove()
      rmSync(directory, { recursive: true, force: true })
    }
  }
}
