/** The inventory of a trigger at each host: which webhooks it reports, repairs and creates, when it requests something, and what it stores. */
import { Effect, Layer, ManagedRuntime } from "effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { checkInventory, InventoryMemory, isPollDue } from "../../../actors/catchup/Inventory.ts"
import { makeStaticStore } from "../../../src/config/snapshots/FileConfigStore.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { ForgeKind } from "../../../src/domain/Kinds.ts"
import { listEvents } from "../../../src/domain/WebhookSetup.ts"
import { HostTraffic } from "../../../src/forge/HostTraffic.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import type { Snapshot } from "../../../src/config/Snapshot.ts"
import { CatchUps } from "../../../src/store/CatchUps.ts"
import { Inventories } from "../../../src/store/Inventories.ts"
import { actorStores } from "../../harness/ActorParts.ts"
import { addHook, getHooks } from "../../harness/FakeHooks.ts"
import { fault, startFakeForge } from "../../harness/FakeForge.ts"
import type { FakeForge } from "../../harness/FakeForge.ts"

const names = ["team/one", "team/two", "team/three"]

interface Settings {
  readonly hooks: string
  readonly owners?: ReadonlyArray<string>
  readonly secret?: string
}

describe.each(ForgeKind.literals)("the inventory of %s", (kind) => {
  let forge: FakeForge
  const memory = { current: new InventoryMemory() }
  let settings: Settings
  const snapshots = new WeakMap<Settings, Snapshot>()
  const stores = () => Layer.provideMerge(Forges.layer, actorStores({ perWorkspace: 10, total: 10 }))
  let runtime: ManagedRuntime.ManagedRuntime<Layer.Success<ReturnType<typeof stores>>, unknown>

  beforeEach(async () => {
    forge = await startFakeForge(kind)
    for (const name of [...names, "team/other", "elsewhere/x"]) await forge.createRepository(name)
    memory.current = new InventoryMemory()
    settings = { hooks: "create" }
    runtime = ManagedRuntime.make(stores())
  })
  afterEach(async () => {
    forge.expectContract()
    await runtime.dispose()
    await forge.stop()
  })

  const address = `https://aicr.test/webhooks/${kind}`
  const events = listEvents(kind, ["reviews", "commands", "conversations", "merges"]).map(({ id }) => id)
  const may = (...scopes: ReadonlyArray<string>) =>
    scopes.map((scope) => Object.assign(getHooks(forge, scope), { mayList: true, mayWrite: true }))

  const check = (own = memory.current) =>
    runtime.runPromise(
      Effect.gen(function* () {
        const { hooks, owners, secret } = settings
        // Clients belong to a configuration.
        const known = snapshots.get(settings)
        const snapshot =
          known ??
          (yield* toSnapshot(
            {
              server: { base_url: "https://aicr.test" },
              triggers: [
                {
                  name: "host",
                  kind,
                  base_url: forge.url,
                  token: forge.token,
                  webhook_secret: secret ?? "s",
                  inventory: { hooks, ...(owners === undefined ? {} : { owners }) }
                }
              ],
              workspaces: {
                instances: {
                  one: { source_repo: { trigger: "host", repo: "team/one" } },
                  rest: { match: [{ source: { repo_ref: { glob: "team/t*" } } }] }
                }
              }
            },
            {}
          ))
        snapshots.set(settings, snapshot)
        const trigger = snapshot.triggers.get("host")
        if (trigger === undefined) return yield* Effect.die("no trigger")
        const { list, hooks: stored } = yield* Inventories
        const [state] = yield* list
        // No check has slowed down the host for the next one.
        const { paces, states: circuits } = yield* HostTraffic
        paces.clear()
        circuits.clear()
        const failure = yield* checkInventory(trigger, kind, own, state).pipe(
          Effect.provideService(ConfigStore, makeStaticStore(snapshot))
        )
        const [after] = yield* list
        const rows = yield* stored("host")
        const requested = yield* (yield* CatchUps).list
        return {
          failure: failure?._tag,
          states: Object.fromEntries(rows.map(({ name, problem, state: found }) => [name, problem?._tag ?? found])),
          counts: [after?.repositories, after?.served, after?.created, after?.repaired],
          requested: requested[0]?.requestedFor
        }
      })
    )
  const writes = () => forge.writes().length
  const hooksOf = (scope: string) => getHooks(forge, scope).hooks.map(({ url }) => url)

  it("reports without a write what is missing, broken and hidden", async () => {
    settings = { hooks: "report" }
    const [, two] = may("team/one", "team/two")
    if (two !== undefined) addHook(two, { url: address, events, isActive: false })
    expect(await check()).toEqual({
      failure: undefined,
      states: { "team/one": "NoWebhook", "team/two": "WebhookInactive", "team/three": "WebhooksNotListed" },
      counts: [3, 0, 0, 0],
      requested: undefined
    })
    expect(writes()).toBe(0)
  })

  it("repairs without creating, and requests a search then", async () => {
    settings = { hooks: "repair" }
    const [, two] = may("team/one", "team/two", "team/three")
    if (two !== undefined) addHook(two, { url: address, events: ["push"] })
    const { counts, requested, states } = await check()
    expect(states).toEqual({ "team/one": "NoWebhook", "team/two": "complete", "team/three": "NoWebhook" })
    expect([counts, requested, writes()]).toEqual([[3, 0, 0, 1], "hook", 1])
    expect(hooksOf("team/two")).toEqual([address])
  })

  it("creates one webhook for each repository that a workspace reviews, and notices new ones by one request", async () => {
    may(...names, "team/other", "team/tea")
    expect(await check()).toMatchObject({
      states: { "team/one": "complete", "team/two": "complete", "team/three": "complete" },
      counts: [3, 0, 3, 0],
      requested: "hook"
    })
    expect(names.map(hooksOf)).toEqual([[address], [address], [address]])
    expect(hooksOf("team/other")).toEqual([])
    const before = forge.requests.length
    await check()
    expect(forge.requests.length - before).toBe(1)
    await forge.createRepository("team/tea")
    expect((await check()).states).toMatchObject({ "team/tea": "complete" })
    expect([hooksOf("team/tea"), writes()]).toEqual([[address], 4])
  })

  it("lists repositories again after the host reported a change of them, such as another name", async () => {
    may(...names, "team/tea")
    await check()
    const repository = forge.state.repositories.get("team/two")
    if (repository === undefined) throw new Error("no repository")
    forge.state.repositories.delete("team/two")
    forge.state.repositories.set("team/tea", Object.assign(repository, { name: "tea", fullName: "team/tea" }))
    await runtime.runPromise(Effect.flatMap(Inventories, ({ changed }) => changed(["host"], Date.now() - 1)))
    expect(Object.keys((await check()).states)).toEqual(["team/one", "team/tea", "team/three"])
    // Once: later checks only look for new ones, by one request.
    const before = forge.requests.length
    await check()
    expect(forge.requests.length - before).toBe(1)
  })

  it("writes nothing after another node took over, which creates each webhook once", async () => {
    may(...names)
    let frozen: Promise<unknown> | undefined
    forge.intercept(({ path }) => {
      if (!/(?:repos|projects)\/.*hooks$/.test(path)) return undefined
      frozen ??= runtime.runPromise(Effect.flatMap(Inventories, ({ hold }) => hold("host", "inventory", Date.now())))
      return { kind: "slow", millis: 300 }
    })
    expect((await check(new InventoryMemory())).failure).toBe("WebhooksSetUp")
    expect([writes(), names.flatMap(hooksOf)]).toEqual([0, []])
    forge.intercept(() => undefined)
    expect((await check()).failure).toBeUndefined()
    expect(names.map(hooksOf)).toEqual([[address], [address], [address]])
    expect(writes()).toBe(3)
  })

  it("writes the secret in place when another one is configured", async () => {
    may(...names)
    await check()
    settings = { hooks: "report", secret: "next" }
    expect((await check()).states).toMatchObject({ "team/one": "SecretDiffers" })
    settings = { hooks: "repair", secret: "next" }
    expect((await check()).counts).toEqual([3, 0, 3, 3])
    expect(names.flatMap((name) => getHooks(forge, name).hooks.map(({ secret }) => secret))).toEqual(
      names.map(() => "next")
    )
    expect((await check()).counts).toEqual([3, 0, 3, 3])
  })

  it("creates none where the webhook of the owner serves, and repairs that one", async () => {
    const [owner] = may("team", ...names)
    const hook = addHook(owner ?? getHooks(forge, "team"), { url: address, events: ["push"] })
    expect(await check()).toMatchObject({ states: { team: "complete" }, counts: [3, 3, 0, 1] })
    expect(events.filter((event) => !hook.events.includes(event))).toEqual([])
    expect(names.flatMap(hooksOf)).toEqual([])
  })

  it("lists the owners that are configured", async () => {
    settings = { hooks: "create", owners: ["elsewhere"] }
    expect(await check()).toMatchObject({ states: {}, counts: [0, 0, 0, 0] })
    expect(forge.requests.some(({ path }) => path.includes("team"))).toBe(false)
  })

  it("continues after a host that fails, and forgets repositories only by a complete list", async () => {
    may(...names)
    await check()
    memory.current = new InventoryMemory()
    for (const thrown of [fault.broken, fault.tooMany("60"), fault.half, fault.unauthorized]) {
      forge.fail(/repos|projects/, thrown, 1000)
      const { failure, states } = await check()
      expect(failure).toBeDefined()
      expect(Object.keys(states)).toHaveLength(3)
      forge.clearFaults()
    }
    forge.state.repositories.delete("team/three")
    memory.current = new InventoryMemory()
    expect(Object.keys((await check()).states)).toEqual(["team/one", "team/two"])
  })
})

it("owners are read every minute, immediately on request, and later after failures", () => {
  const memory = new InventoryMemory()
  const requested = { trigger: "t", requestedAt: 5, repositories: 0, served: 0, created: 0, repaired: 0 }
  expect(isPollDue(memory, undefined, 0)).toBe(true)
  memory.polledAt = 1_000_000
  expect(isPollDue(memory, undefined, 1_010_000)).toBe(false)
  expect(isPollDue(memory, requested, 1_010_000)).toBe(true)
  expect(isPollDue(memory, undefined, 1_050_000)).toBe(true)
  memory.failures = 1
  expect(isPollDue(memory, requested, 1_050_000)).toBe(false)
  expect(isPollDue(memory, requested, 1_060_000)).toBe(true)
})
