/**
 * Calls and one-way messages between actors of two processes over NATS, next to plain requests and replies between the same two,
 * and calls within one process.
 * `plain` is a connection of the NATS client with its default settings; `bare` is the service's own connection, whose requests
 * record no stack trace, which halves the client's work for each. Calls of actors have no span of their own, as plain requests
 * have none; `traced asks` have the span that Effect makes by default.
 * Rounds alternate, so that other load on the machine falls on all of them; a ratio is the median of the rounds' ratios. The
 * concurrent calls come first: the sequential ones are measured when the code is warm. Texts have 256 characters; 200 actors take
 * turns.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { connect } from "@nats-io/transport-node"
import { Effect, Layer, ManagedRuntime, Result } from "effect"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import * as NatsRunner from "../../nats/NatsRunner.ts"
import { natsSettings } from "../../nats/NatsSettings.ts"
import { NatsServer } from "../harness/Nats.ts"
import { Here, There, Traced, hereLayer, plainSubject, shardGroups } from "./actors/Echo.ts"
import { median } from "./Median.ts"

const rounds = 7
const warmUp = 2
const calls = { 1: 2000, 64: 8000, 512: 16_000 } as const
type Concurrency = keyof typeof calls
const concurrencies = [512, 64, 1] as const

const text = "x".repeat(256)
const actors = Array.from({ length: 200 }, (_, index) => `actor-${index}`)

interface Measured {
  readonly perSecond: number
  readonly p50: number
}

/** Executes the n-th calls with this concurrency. */
const measure = async (concurrency: Concurrency, call: (number: number) => Promise<unknown>): Promise<Measured> => {
  const total = calls[concurrency]
  const took: Array<number> = []
  let begun = 0
  const worker = async (): Promise<void> => {
    while (begun < total) {
      const number = begun++
      const at = performance.now()
      await call(number)
      took.push(performance.now() - at)
    }
  }
  const at = performance.now()
  await Promise.all(Array.from({ length: concurrency }, worker))
  const seconds = (performance.now() - at) / 1000
  return { perSecond: total / seconds, p50: median(took) }
}

const contenders = ["plain", "bare", "asks", "traced asks", "tells", "asks within"] as const
type Contender = (typeof contenders)[number]

const run = async (): Promise<Record<string, number>> => {
  await using server = await NatsServer.start()
  const env = { SVC_NATS_URL: server.url }
  const settings = Result.getOrThrow(natsSettings(env))
  if (settings === undefined) throw new Error("no NATS")
  const there = fork(join(import.meta.dirname, "actors/there.ts"), [], {
    env: { ...process.env, ...env },
    execArgv: ["--disable-warning=ExperimentalWarning"]
  })
  await once(there, "message")
  const runtime = ManagedRuntime.make(
    hereLayer.pipe(
      Layer.provideMerge(NatsRunner.layer({ node: "here", shardGroups, assigned: ["here"] })),
      Layer.provideMerge(NatsConnection.layer({ settings, name: "here" }))
    )
  )
  const plain = await connect({ servers: server.url })
  const { raw } = await runtime.runPromise(NatsConnection)
  const context = await runtime.context()
  const [ofThere, ofTraced, ofHere] = await runtime.runPromise(Effect.all([There.client, Traced.client, Here.client]))
  const runPromise = Effect.runPromiseWith(context)
  const actor = (number: number) => actors[number % actors.length] ?? ""
  const call: Record<Contender, (number: number) => Promise<unknown>> = {
    plain: () => plain.request(plainSubject, text, { timeout: 10_000 }),
    bare: () => raw.request(plainSubject, text, { timeout: 10_000 }),
    asks: (number) => runPromise(ofThere(actor(number)).Echo({ text })),
    "traced asks": (number) => runPromise(ofTraced(actor(number)).Echo({ text })),
    tells: (number) => runPromise(ofThere(actor(number)).Echo({ text }, { discard: true })),
    "asks within": (number) => runPromise(ofHere(actor(number)).Echo({ text }))
  }

  const results: Record<string, number> = {}
  for (const concurrency of concurrencies) {
    const measured = new Map<Contender, Array<Measured>>(contenders.map((name) => [name, []]))
    for (let round = 0; round < warmUp + rounds; round++) {
      const order = round % 2 === 0 ? contenders : contenders.toReversed()
      for (const name of order) {
        const result = await measure(concurrency, call[name])
        if (round >= warmUp) measured.get(name)?.push(result)
      }
    }
    const of = (name: Contender): ReadonlyArray<Measured> => measured.get(name) ?? []
    const against = (name: Contender, value: (of: Measured) => number) =>
      median(of(name).map((result, round) => value(result) / value(of("plain")[round] ?? result)))
    for (const name of contenders) {
      const perSecond = median(of(name).map((result) => result.perSecond))
      const p50 = median(of(name).map((result) => result.p50))
      process.stderr.write(
        `${name.padEnd(12)} ${String(concurrency).padStart(3)} at once ${perSecond.toFixed(0).padStart(7)}/s  p50 ${p50.toFixed(2)} ms\n`
      )
      const key = name.replace(" ", "_")
      results[`${key}_${concurrency}`] = Math.round(perSecond)
      results[`${key}_p50_${concurrency}`] = p50
    }
    results[`ratio_${concurrency}`] = against("asks", ({ perSecond }) => perSecond)
    results[`traced_ratio_${concurrency}`] = against("traced asks", ({ perSecond }) => perSecond)
    results[`p50_ratio_${concurrency}`] = against("asks", ({ p50 }) => p50)
    process.stderr.write(
      `asks/plain ${String(concurrency).padStart(5)} at once ${results[`ratio_${concurrency}`]?.toFixed(2)} of its rate, ${results[`p50_ratio_${concurrency}`]?.toFixed(2)} of its p50\n`
    )
  }
  await plain.close()
  await runtime.dispose()
  const gone = once(there, "exit")
  there.kill("SIGTERM")
  await gone
  return Object.fromEntries(Object.entries(results).map(([name, value]) => [name, Math.round(value * 1000) / 1000]))
}

export const actorCalls = {
  name: "actors",
  summary: "calls and one-way messages between two processes next to plain NATS requests; calls within a process",
  run
}
