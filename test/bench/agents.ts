/**
 * Delays of an agent CLI: the start of its sandbox, the model proxy between it and a model, and the replies of its tools. The model
 * streams 200 KB in a second, faster than any provider; the same client reads it with and without the proxy, in alternating rounds. Servers
 * and clients share a process, so that the figures are upper bounds.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { Agent as HttpAgent, request as send } from "node:http"
import { performance } from "node:perf_hooks"
import { setTimeout as sleep } from "node:timers/promises"
import { Deferred, Effect, Redacted, Stream } from "effect"
import { Sandboxes } from "../../src/sandbox/Sandbox.ts"
import { makeDrivers } from "../../src/sandbox/drivers/SandboxKinds.ts"
import { withTools } from "../agent/mcp/ToolFixture.ts"
import { withProxy } from "../agent/proxy/ProxyFixture.ts"
import type { ProxyFixture } from "../agent/proxy/ProxyFixture.ts"
import { startFakeModel } from "../harness/FakeModel.ts"
import { startPodman } from "../harness/Podman.ts"
import { provide } from "../harness/Provide.ts"
import { makeFixture, resolveConfig, start, using } from "../sandbox/Fixture.ts"
import type { KindUnderTest } from "../sandbox/Fixture.ts"
import type { Benchmark } from "./main.ts"

const starts = 7
const rounds = 5
const toolCalls = 1_000
const shortCallCount = 100
const warmCalls = 20
const passes = 8
const streamedBytes = 200_000
const pieces = 500

const round = (value: number, digits = 1): number => Number(value.toFixed(digits))
const quantile = (values: ReadonlyArray<number>, part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0
const median = (values: ReadonlyArray<number>): number => quantile(values, 0.5)
const report = (name: string, value: number): void => void process.stderr.write(`${name.padEnd(24)} ${value}\n`)

/** Milliseconds until a program in the sandbox has printed its first line. */
const measureStart = async (kind: KindUnderTest): Promise<number> => {
  const fixture = await makeFixture()
  const times: Array<number> = []
  for (let at = 0; at <= starts; at++) {
    const since = performance.now()
    await using(
      fixture,
      kind,
      Effect.gen(function* () {
        const { exit, lines } = yield* start(fixture, kind, "echo ready")
        yield* Stream.runHead(lines)
        times.push(performance.now() - since)
        yield* exit
      })
    )
  }
  await fixture.close()
  // The first one also loads programs from the disk.
  return round(median(times.slice(1)))
}

const nativeKind = (): KindUnderTest => ({
  config: { kind: "native" },
  drivers: makeDrivers({ PATH: `${provide("bubblewrap")}:${process.env["PATH"] ?? ""}` })
})

const measurePodman = async (): Promise<number> => {
  const podman = await startPodman()
  try {
    return await measureStart({
      config: { kind: "podman", image: podman.image },
      drivers: makeDrivers({ CONTAINER_HOST: `unix://${podman.socket}` }),
      installation: [process.execPath.slice(0, process.execPath.lastIndexOf("/"))]
    })
  } finally {
    await podman.stop()
  }
}

async function* streamPieces(millis: number) {
  const content = "x".repeat(Math.floor(streamedBytes / pieces))
  const since = performance.now()
  for (let at = 0; at < pieces; at++) {
    const due = since + (millis * at) / pieces - performance.now()
    if (due > 1) await sleep(due)
    yield `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`
  }
  yield 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":9}}\n\n'
  yield "data: [DONE]\n\n"
}

const body = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "x" }] })
const path = "/v1/chat/completions"

/** Returns the milliseconds and the bytes of one response. */
const read = async (options: object, token = ""): Promise<readonly [millis: number, bytes: number]> => {
  const since = performance.now()
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` }
  const request = send({ ...options, path, method: "POST", headers }).end(body)
  const [response] = await once(request, "response")
  let bytes = 0
  for await (const chunk of response) bytes += chunk.length
  return [performance.now() - since, bytes]
}

const measureProxy = async () => {
  const fake = await startFakeModel(() => ({ stream: streamPieces(1000) }))
  const { hostname, port } = new URL(fake.url)
  const document = {
    llm: {
      providers: [{ id: "p", kind: "openai_compatible", base_url: `${fake.url}/v1` }],
      model_chain: { default: [{ provider: "p", model: "m" }] }
    }
  }
  const ratios: Array<number> = []
  const unpaced: Array<number> = []
  await withProxy(document, { format: "openai-chat" }, async ({ proxy, token }: ProxyFixture) => {
    for (let at = 0; at < rounds; at++) {
      const [direct, expected] = await read({ hostname, port })
      const [through, bytes] = await read({ socketPath: proxy.socket }, token)
      if (bytes !== expected) throw new Error(`${bytes} bytes through the proxy instead of ${expected}`)
      ratios.push(through / direct)
    }
    fake.script(() => ({ stream: streamPieces(0) }))
    for (let at = 0; at < rounds; at++) unpaced.push((await read({ socketPath: proxy.socket }, token))[0])
  })
  await fake.close()
  return { ratio: round(median(ratios), 3), unpaced: round(median(unpaced)) }
}

/**
 * Program of an agent that makes short calls, one after the other over one connection, and prints the milliseconds until the first byte
 * of each response.
 */
const shortCalls = `
import { Agent, request } from "node:http"
import { once } from "node:events"
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const [port, token, path, body, count] = process.argv.slice(2)
const times = []
for (let at = 0; at < Number(count); at++) {
  const headers = { "content-type": "application/json", authorization: "Bearer " + token, "x-api-key": token }
  const since = performance.now()
  const call = request({ host: "127.0.0.1", port, path, method: "POST", headers, agent }).end(body)
  const [response] = await once(call, "response")
  let first
  for await (const chunk of response) first ??= performance.now() - since
  if (response.statusCode !== 200) throw new Error(String(response.statusCode))
  times.push(first)
}
process.stdout.write(JSON.stringify(times) + "\\n")
process.exit(0)
`

/** Times of calls that a program makes at a port of this machine. */
const callDirectly = async (port: string): Promise<ReadonlyArray<number>> => {
  const args = ["--input-type=module", "-", port, "", path, body, `${shortCallCount + warmCalls}`]
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] })
  child.stdin.end(shortCalls)
  let output = ""
  for await (const chunk of child.stdout) output += String(chunk)
  return JSON.parse(output)
}

/** Measures how much later the first byte of a short, translated call arrives in a sandbox than directly. */
const measureFirstToken = async (kind: KindUnderTest): Promise<number> => {
  const fake = await startFakeModel({ text: "a short reply" })
  const { port } = new URL(fake.url)
  const direct = await callDirectly(port)
  const fixture = await makeFixture()
  let sandboxed: ReadonlyArray<number> = []
  const document = {
    llm: {
      providers: [{ id: "p", kind: "openai_compatible", base_url: `${fake.url}/v1` }],
      model_chain: { default: [{ provider: "p", model: "m" }] }
    }
  }
  const messages = JSON.stringify({ stream: true, messages: [{ role: "user", content: "x" }] })
  await withProxy(
    document,
    { format: "anthropic-messages", maxCalls: shortCallCount + warmCalls },
    async ({ proxy, token }) => {
      const program = {
        command: "node",
        args: ["--input-type=module", "-"],
        stdin: shortCalls
      }
      await using(
        fixture,
        kind,
        Effect.gen(function* () {
          const sandboxes = yield* Sandboxes
          const request = fixture.request(program)
          const running = yield* sandboxes.start(resolveConfig(kind.config), {
            ...request,
            program: (sandboxPaths) => ({
              ...request.program(sandboxPaths),
              args: [
                ...program.args,
                `${sandboxPaths.modelPort}`,
                token,
                "/v1/messages",
                messages,
                `${shortCallCount + warmCalls}`
              ]
            }),
            sockets: { ...request.sockets, model: proxy.socket }
          })
          const lines = yield* Stream.runCollect(running.lines)
          const exit = yield* running.exit
          const line = lines.find((text) => text.startsWith("["))
          if (line === undefined) throw new Error(`${JSON.stringify(exit)}: ${yield* running.stderr}`)
          sandboxed = JSON.parse(line)
        })
      )
    }
  )
  await fixture.close()
  await fake.close()
  // Code is compiled in the first calls.
  const difference = median(sandboxed.slice(warmCalls)) - median(direct.slice(warmCalls))
  report("first_token_direct_ms", round(median(direct.slice(warmCalls)), 2))
  return round(difference, 2)
}

const measureTools = async () => {
  const times: Array<number> = []
  await withTools({ maxCalls: 2 * toolCalls }, async ({ server }) => {
    const agent = new HttpAgent({ keepAlive: true, maxSockets: 1 })
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {}
    }
    const headers = {
      authorization: `Bearer ${Redacted.value(server.token)}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "report_problem"
    }
    for (let at = 0; at < toolCalls + 50; at++) {
      const problem = { file: "a.ts", severity: "low", category: "bug", message: `m${at}`, quote: "x" }
      const params = { name: "report_problem", arguments: problem, _meta: meta }
      const message = JSON.stringify({ jsonrpc: "2.0", id: at, method: "tools/call", params })
      const since = performance.now()
      const request = send({ socketPath: server.socket, path: server.path, method: "POST", headers, agent }).end(
        message
      )
      const [response] = await once(request, "response")
      let text = ""
      for await (const chunk of response) text += String(chunk)
      if (!text.includes("recorded")) throw new Error(text)
      // Code is compiled in the first calls.
      if (at >= 50) times.push(performance.now() - since)
    }
    agent.destroy()
  })
  return { median: round(median(times), 2), p99: round(quantile(times, 0.99), 2) }
}

/** Memory of the service while eight passes have their proxies, tool servers and sandboxes, each with a response that streams. */
const measureMemory = async (kind: KindUnderTest): Promise<number> => {
  const fake = await startFakeModel(() => ({ stream: streamPieces(500) }))
  const document = {
    llm: {
      providers: [{ id: "p", kind: "openai_compatible", base_url: `${fake.url}/v1` }],
      model_chain: { default: [{ provider: "p", model: "m" }] }
    }
  }
  const fixture = await makeFixture()
  let peak = 0
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 20)
  const all = Effect.forEach(
    Array.from({ length: passes }),
    () =>
      Effect.gen(function* () {
        const ready = yield* Deferred.make<void>()
        const { lines } = yield* start(fixture, kind, "echo ready; sleep 60")
        yield* Effect.forkScoped(Stream.runForEach(lines, () => Deferred.succeed(ready, undefined)))
        yield* Deferred.await(ready)
        yield* Effect.promise(() =>
          withTools({}, () =>
            withProxy(document, { format: "openai-chat" }, async ({ proxy, token }) => {
              await read({ socketPath: proxy.socket }, token)
            })
          )
        )
      }),
    { concurrency: passes }
  )
  await using(fixture, kind, all)
  clearInterval(watch)
  await fixture.close()
  await fake.close()
  return round(peak / 1024 / 1024)
}

export const agents: Benchmark = {
  name: "agents",
  summary: "start of sandboxes, overhead of the model proxy, replies of tools, memory of eight passes",
  run: async () => {
    const kind = nativeKind()
    const result: Record<string, number> = {}
    const add = (name: string, value: number) => {
      result[name] = value
      report(name, value)
    }
    add("start_ms_native", await measureStart(kind))
    add("start_ms_podman", await measurePodman())
    const { ratio, unpaced } = await measureProxy()
    add("proxy_overhead_ratio", ratio)
    add("proxy_unpaced_ms", unpaced)
    add("first_token_ms", await measureFirstToken(kind))
    const tools = await measureTools()
    add("mcp_p50_ms", tools.median)
    add("mcp_p99_ms", tools.p99)
    add("parallel_8_rss_mib", await measureMemory(kind))
    return result
  }
}
