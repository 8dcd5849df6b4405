/** A cluster of real processes for these tests, and calls to it from this process. */
import { fork } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { Effect, Layer, ManagedRuntime, Result } from "effect"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import * as NatsRunner from "../../nats/NatsRunner.ts"
import { natsSettings } from "../../nats/NatsSettings.ts"
import type { NatsSettings } from "../../nats/NatsSettings.ts"
import { NatsServer } from "../harness/Nats.ts"
import type { NatsOptions } from "../harness/Nats.ts"
import { waitUntil } from "../harness/Wait.ts"
import { Counter, shardGroups } from "./Counter.ts"
import type { Answer } from "./Counter.ts"

export const toSettings = (env: Record<string, string>): NatsSettings => {
  const settings = Result.getOrThrow(natsSettings(env))
  if (settings === undefined) throw new Error("no NATS")
  return settings
}

/** The client of these tests: a process that calls actors and hosts none. */
const caller = (settings: NatsSettings) =>
  ManagedRuntime.make(
    NatsRunner.layerClientOnly({ shardGroups }).pipe(Layer.provide(NatsConnection.layer({ settings, name: "caller" })))
  )

export class Cluster implements AsyncDisposable {
  readonly server: NatsServer
  readonly #env: Record<string, string>
  readonly #runtime: ReturnType<typeof caller>
  readonly #nodes = new Map<string, ChildProcess>()

  private constructor(server: NatsServer) {
    this.server = server
    this.#env = { SVC_NATS_URL: server.url }
    this.#runtime = caller(toSettings(this.#env))
  }

  static async start(names: ReadonlyArray<string>, options?: NatsOptions): Promise<Cluster> {
    const cluster = new Cluster(await NatsServer.start(options))
    await Promise.all(names.map((name) => cluster.startNode(name)))
    return cluster
  }

  async startNode(name: string): Promise<void> {
    const node = fork(join(import.meta.dirname, "RunnerNode.ts"), [name], {
      env: { ...process.env, ...this.#env },
      execArgv: ["--disable-warning=ExperimentalWarning"],
      stdio: ["ignore", "ignore", "inherit", "ipc"]
    })
    this.#nodes.set(name, node)
    await once(node, "message")
  }

  signal(name: string, signal: NodeJS.Signals): void {
    this.#nodes.get(name)?.kill(signal)
  }

  get client() {
    return Counter.client
  }

  run<A, E>(
    effect: Effect.Effect<A, E, typeof this.client extends Effect.Effect<unknown, unknown, infer R> ? R : never>
  ) {
    return this.#runtime.runPromise(effect)
  }

  add(id: string, amount = 1): Promise<Answer> {
    return this.run(Effect.flatMap(Counter.client, (of) => of(id).Add({ amount })))
  }

  addAll(ids: ReadonlyArray<string>): Promise<ReadonlyMap<string, Answer>> {
    return Promise.all(ids.map(async (id) => [id, await this.add(id)] as const)).then((found) => new Map(found))
  }

  /** Waits until every node hosts some of these; returns their last replies. */
  async spread(ids: ReadonlyArray<string>, nodes: ReadonlyArray<string>): Promise<ReadonlyMap<string, Answer>> {
    let found: ReadonlyMap<string, Answer> = new Map()
    let since = performance.now()
    await waitUntil(
      async () => {
        const before = found
        found = await this.addAll(ids)
        const isSame = ids.every((id) => before.get(id)?.life === found.get(id)?.life)
        if (!isSame) since = performance.now()
        // Shards move in rounds of a second.
        return (
          performance.now() - since > 2500 &&
          nodes.every((name) => [...found.values()].some(({ node }) => node === name))
        )
      },
      {
        timeout: 60_000,
        describe: () =>
          `actors on ${nodes.join(", ")}; they are on ${[...found.values()].map(({ node }) => node).join(" ")}`
      }
    )
    return found
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#runtime.dispose()
    for (const node of this.#nodes.values()) {
      if (node.exitCode !== null || node.signalCode !== null) continue
      const gone = once(node, "exit")
      node.kill("SIGKILL")
      await gone
    }
    await this.server[Symbol.asyncDispose]()
  }
}
