/**
 * The service is down while pull requests of a git host are opened, pushed, force pushed, closed, merged, made ready and commanded, and nothing
 * is delivered. After its start every open head is reviewed once. Then everything is delivered under new ids, and nothing more happens.
 * The process is killed during searches, its clock is wrong, and the host fails. AICR_TEST_CATCH_UP=all makes 63 changes of each host instead
 * of nine, kills the process 200 times instead of three, and tries every host instead of one, another one for each commit.
 */
import { expect, it, onTestFinished } from "vitest"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { closedWindow, DownHost } from "../harness/DownHost.ts"
import { fault } from "../harness/FakeForge.ts"
import { isWhole, takeSample, takeTurn } from "../harness/Samples.ts"
import { SetClock } from "../harness/SetClock.ts"
import { waitUntil } from "../harness/Wait.ts"

const groups = isWhole("AICR_TEST_CATCH_UP") ? 7 : 1
/** Forgejo is read as Gitea is. */
const hosts = isWhole("AICR_TEST_CATCH_UP")
  ? (["gitea", "forgejo", "github", "gitlab"] as const)
  : (["gitea", "github", "gitlab"] as const)
/** Counts replies to `/aicr help`. */
const countReplies = (pull: DemoPull): number =>
  pull.comments.filter(({ body }) => body.includes("`/aicr review`")).length

const waitForReplies = (host: DownHost, changed: ReadonlyArray<{ readonly commanded: DemoPull }>) =>
  waitUntil(() => changed.every(({ commanded }) => countReplies(commanded) > 0), {
    timeout: 30_000,
    describe: () => `commands have replies; the log says:\n${host.aicr.log}`
  })

/** Pull requests of a group before the service is down. */
const prepare = async (host: DownHost, group: number) => {
  const open = (name: string, draft?: boolean) => host.open(`${name}-${group}`, draft)
  const [pushed, forced, closed, merged, commanded, waiting] = [
    await open("pushed"),
    await open("forced"),
    await open("closed"),
    await open("merged"),
    await open("commanded"),
    await open("ready", true)
  ]
  for (const pull of [pushed, forced, closed, merged, commanded, waiting]) await host.forge.notify(pull, "opened")
  return { group, pushed, forced, closed, merged, commanded, waiting }
}

/** Changes a group while the service is down. */
const change = async (host: DownHost, { group, ...pulls }: Awaited<ReturnType<typeof prepare>>) => {
  const { forge } = host
  const opened = await host.open(`opened-${group}`)
  const draft = await host.open(`draft-${group}`, true)
  await host.push(pulls.pushed.headBranch, 2)
  await host.push(pulls.forced.headBranch, 3, { from: "main", force: true })
  await host.push(pulls.closed.headBranch, 2)
  forge.close(pulls.closed, false)
  forge.close(pulls.merged, true)
  forge.edit(pulls.waiting, { draft: false })
  const help = forge.comment(pulls.commanded, "/aicr help", "dana")
  forge.comment(pulls.commanded, "/aicr help", "stranger")
  return { ...pulls, opened, draft, help }
}

const once = ["succeeded"]

it.each(takeTurn("AICR_TEST_CATCH_UP", hosts))(
  "what happens on %s while the service is down is reviewed once",
  async (kind) => {
    const host = await DownHost.start(kind)
    onTestFinished(() => host[Symbol.asyncDispose]())
    const { aicr, forge } = host
    const prepared: Array<Awaited<ReturnType<typeof prepare>>> = []
    for (let group = 0; group < groups; group++) prepared.push(await prepare(host, group))
    await host.waitForReviews(
      prepared.flatMap(({ closed, commanded, forced, merged, pushed }) => [closed, commanded, forced, merged, pushed])
    )
    await aicr.stop()
    const before = host.runs()

    const changed: Array<Awaited<ReturnType<typeof change>>> = []
    for (const group of prepared) changed.push(await change(host, group))
    await aicr.start()
    const due = changed.flatMap(({ forced, opened, pushed, waiting }) => [forced, opened, pushed, waiting])
    await host.waitForReviews(due)
    await waitForReplies(host, changed)

    // Everything that happened is delivered late, under new ids.
    const writes = forge.writes().length
    const decided: Array<unknown> = []
    for (const { commanded, draft, forced, help, opened, pushed, waiting } of changed) {
      for (const pull of [forced, pushed]) decided.push((await forge.notify(pull, "synchronized")).body)
      for (const pull of [opened, waiting]) decided.push((await forge.notify(pull, "opened")).body)
      await forge.notify(draft, "opened")
      const sender = forge.user("dana")
      const command = { kind: "comment", pull: commanded, body: help.body, sender, id: help.id } as const
      decided.push((await forge.send(forge.delivery(command))).body)
    }
    expect(decided.map((body) => Object(body).reason ?? Object(body).status)).toEqual(
      changed.flatMap(() => [...Array.from({ length: 4 }, () => "already_reviewed"), "duplicate"])
    )
    await aicr.stop()

    const heads = new Map([...before, ...due.map(({ head }) => [head, once] as const)])
    expect(Object.fromEntries(host.runs())).toEqual(Object.fromEntries(heads))
    expect(changed.map(({ commanded }) => countReplies(commanded))).toEqual(changed.map(() => 1))
    expect(changed.filter(({ draft }) => host.isReviewed(draft))).toEqual([])
    expect(forge.writes().length).toBe(writes)
    forge.expectContract()
  },
  240_000 + groups * 60_000
)

/** Positions of the requests of a search at which the process is killed: 50 at each host, which are 200 as a whole. */
const kills = takeSample(
  "AICR_TEST_CATCH_UP",
  Array.from({ length: 50 }, (_, n) => 1 + ((n * 7) % 20)),
  17
)
const killHosts = isWhole("AICR_TEST_CATCH_UP") ? hosts : (["gitea"] as const)

/** Starts the service, and kills it at a request of its search. */
const killAt = async (host: DownHost, at: number): Promise<void> => {
  const { aicr, forge } = host
  let requests = 0
  let exited: Promise<unknown> | undefined
  forge.intercept(() => {
    requests++
    if (requests === at) exited = aicr.kill()
    return undefined
  })
  aicr.spawn()
  await waitUntil(() => exited !== undefined, {
    timeout: 60_000,
    describe: () => `request ${at} was sent; the log says:\n${aicr.log}`
  })
  await exited
  forge.intercept(() => undefined)
}

it.each(killHosts)(
  "a search of %s that is killed at any request is continued, and decides about each change once",
  async (kind) => {
    const host = await DownHost.start(kind)
    onTestFinished(() => host[Symbol.asyncDispose]())
    const { aicr, forge } = host
    const prepared = [await prepare(host, 0), await prepare(host, 1)] as const
    await host.waitForReviews(
      prepared.flatMap(({ closed, commanded, forced, merged, pushed }) => [closed, commanded, forced, merged, pushed])
    )
    await aicr.stop()
    const before = host.runs()
    const changed = [await change(host, prepared[0]), await change(host, prepared[1])]
    const due = changed.flatMap(({ forced, opened, pushed, waiting }) => [forced, opened, pushed, waiting])

    // What is found waits for a window, so that no review is killed.
    await host.configure({ review: { pull_request: { schedule: closedWindow() } } })
    for (const at of kills) await killAt(host, at)
    const searchedAt = host.searchedAt()
    await aicr.start()
    await waitUntil(() => host.searchedAt() > searchedAt, { timeout: 60_000, describe: () => aicr.log })
    await aicr.stop()
    expect(due.filter((pull) => host.isReviewed(pull))).toEqual([])
    await host.configure({})
    await aicr.start()
    await host.waitForReviews(due)
    await waitForReplies(host, changed)
    await aicr.stop()

    expect(Object.fromEntries(host.runs())).toEqual(
      Object.fromEntries(new Map([...before, ...due.map(({ head }) => [head, once] as const)]))
    )
    expect(changed.map(({ commanded }) => countReplies(commanded))).toEqual([1, 1])
    forge.expectContract()
  },
  200_000 + kills.length * 20_000
)

/** The service has another time than the host, from its second start on. */
const clocks = isWhole("AICR_TEST_CATCH_UP") ? [3600, -3600] : [-3600]

it.each(clocks)(
  "a clock that is %s seconds off hides no change, and reviews none twice",
  async (seconds) => {
    using clock = new SetClock()
    const host = await DownHost.start("gitea", { env: clock.env })
    onTestFinished(() => host[Symbol.asyncDispose]())
    const { aicr } = host
    const group = await prepare(host, 0)
    await host.waitForReviews([group.closed, group.commanded, group.forced, group.merged, group.pushed])
    await aicr.stop()
    const before = host.runs()
    const changed = await change(host, group)
    clock.set(seconds)
    await aicr.start()
    const due = [changed.forced, changed.opened, changed.pushed, changed.waiting]
    await host.waitForReviews(due)
    await waitForReplies(host, [changed])
    await aicr.stop()
    clock.set(0)
    const [opened, searchedAt] = [await host.open("after"), host.searchedAt()]
    await aicr.start()
    await host.waitForReviews([opened])
    await waitUntil(() => host.searchedAt() !== searchedAt, { timeout: 60_000, describe: () => aicr.log })
    await aicr.stop()
    const heads = [...due, opened].map(({ head }) => [head, once] as const)
    expect(Object.fromEntries(host.runs())).toEqual(Object.fromEntries(new Map([...before, ...heads])))
    expect(countReplies(changed.commanded)).toBe(1)
  },
  240_000
)

/** Responses to every third request of a search. */
const faults = [fault.broken, fault.tooMany("1"), fault.half]

it.runIf(isWhole("AICR_TEST_CATCH_UP")).each(hosts)(
  "what %s does not return at first is found by later searches",
  async (kind) => {
    const host = await DownHost.start(kind)
    onTestFinished(() => host[Symbol.asyncDispose]())
    const { aicr, forge } = host
    const group = await prepare(host, 0)
    await host.waitForReviews([group.closed, group.commanded, group.forced, group.merged, group.pushed])
    await aicr.stop()
    const before = host.runs()
    const changed = await change(host, group)
    let requests = 0
    let failed = 0
    forge.intercept(({ method }) =>
      method === "GET" && failed < 9 && ++requests % 3 === 0 ? faults[failed++ % faults.length] : undefined
    )
    await aicr.start()
    const due = [changed.forced, changed.opened, changed.pushed, changed.waiting]
    await waitUntil(() => due.every((pull) => host.isReviewed(pull)), { timeout: 600_000, describe: () => aicr.log })
    await waitForReplies(host, [changed])
    await aicr.stop()
    const heads = due.map(({ head }) => [head, once] as const)
    expect(Object.fromEntries(host.runs())).toEqual(Object.fromEntries(new Map([...before, ...heads])))
    expect(failed).toBe(9)
  },
  900_000
)
