import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { nkeys } from "@nats-io/transport-node"
import { Effect, Exit, Fiber } from "effect"
import type { Duration } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import { NatsServer } from "../harness/Nats.ts"
import { freePort } from "../harness/FreePort.ts"
import { waitUntil } from "../harness/Wait.ts"
import { toSettings } from "./Cluster.ts"

const folder = mkdtempSync(join(tmpdir(), "aicr-nkey-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Returns the result of a connection with these settings, or the error. */
const trial = (env: Record<string, string>, connectWithin: Duration.Input = "30 seconds"): Promise<string> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const { status, roundTrip, raw } = yield* NatsConnection
      const { connected, version } = yield* status
      const millis = yield* roundTrip
      return connected && millis >= 0 && raw.info !== undefined ? `connected to ${version}` : "not connected"
    }).pipe(
      Effect.provide(NatsConnection.layer({ settings: toSettings(env), name: "node-1", connectWithin })),
      Effect.catch((error) => Effect.succeed(`${error.reason}: ${error.message}`))
    )
  )

const user = nkeys.createUser()
const seedPath = join(folder, "user.nk")
const otherPath = join(folder, "other.nk")
writeFileSync(seedPath, `${new TextDecoder().decode(user.getSeed())}\n`)
writeFileSync(otherPath, new TextDecoder().decode(nkeys.createUser().getSeed()))

const ways = [
  {
    name: "user and password",
    config: `authorization { user: "me", password: "r1ght pass" }`,
    right: { SVC_NATS_USER: "me", SVC_NATS_PASSWORD: "r1ght pass" },
    wrong: { SVC_NATS_USER: "me", SVC_NATS_PASSWORD: "wr0ng pass" }
  },
  {
    name: "token",
    config: `authorization { token: "r1ght-token" }`,
    right: { SVC_NATS_TOKEN: "r1ght-token" },
    wrong: { SVC_NATS_TOKEN: "wr0ng-token" }
  },
  {
    name: "nkey",
    config: `authorization { users: [{ nkey: ${user.getPublicKey()} }] }`,
    right: { SVC_NATS_NKEY_SEED_PATH: seedPath },
    wrong: { SVC_NATS_NKEY_SEED_PATH: otherPath }
  }
] as const

describe("signing in", () => {
  it.each(ways)("with $name", async ({ config, right, wrong }) => {
    await using server = await NatsServer.start({ config })
    expect(await trial({ SVC_NATS_URL: server.url, ...right })).toMatch(/^connected to \d/)
    for (const env of [wrong, {}]) {
      const refused = await trial({ SVC_NATS_URL: server.url, ...env })
      expect(refused).toMatch(/^refused: .*refuses the credentials/)
      expect(refused).not.toContain("wr0ng")
    }
  })

  it("a file that is not there is named", async () => {
    const answer = await trial({ SVC_NATS_URL: "nats://127.0.0.1:1", SVC_NATS_CREDS_PATH: join(folder, "nothing") })
    expect(answer).toBe(`refused: NATS: SVC_NATS_CREDS_PATH: cannot read ${join(folder, "nothing")}`)
  })
})

describe("being connected", () => {
  it("a server that is not there yet is waited for, and not for ever", async () => {
    const url = `nats://user:s3cret@127.0.0.1:${await freePort()}`
    const answer = await trial({ SVC_NATS_URL: url }, "2 seconds")
    expect(answer).toMatch(/^unavailable: .*gave up after 2 s\. Check SVC_NATS_URL/)
    expect(answer).not.toContain("s3cret")
  })

  it("reconnects, also after a server that hangs, and reports its status", async () => {
    await using server = await NatsServer.start()
    await Effect.runPromise(
      Effect.gen(function* () {
        const { status, onStatus, reconnected, roundTrip } = yield* NatsConnection
        const seen: Array<boolean> = []
        yield* onStatus((connected) => seen.push(connected))
        yield* Effect.promise(() => server.kill())
        expect(Exit.isFailure(yield* Effect.exit(roundTrip))).toBe(true)
        const back = yield* Effect.forkChild(reconnected, { startImmediately: true })
        yield* Effect.promise(() => server.start())
        yield* Fiber.join(back)
        expect((yield* status).connected).toBe(true)
        server.freeze()
        const again = yield* Effect.forkChild(reconnected, { startImmediately: true })
        yield* Effect.repeat(Effect.delay(status, "50 millis"), { while: ({ connected }) => connected })
        server.thaw()
        yield* Effect.timeout(Fiber.join(again), "30 seconds")
        yield* Effect.promise(() => waitUntil(() => seen.length === 4, { describe: () => `4 changes: ${seen.join()}` }))
        expect(seen).toEqual([false, true, false, true])
        expect(yield* roundTrip).toBeGreaterThan(0)
      }).pipe(
        Effect.provide(NatsConnection.layer({ settings: toSettings({ SVC_NATS_URL: server.url }), name: "node-1" })),
        Effect.scoped
      )
    )
  })
})
