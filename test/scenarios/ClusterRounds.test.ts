/**
 * The node that reviews a later round is killed: another one continues it as the same round, and nothing is posted twice. At one of three moments by
 * default, and at each of them with AICR_TEST_HOST_KILLS=all.
 */
import { afterAll, beforeAll, expect, it } from "vitest"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { review } from "../harness/FakeModel.ts"
import type { Recorded } from "../harness/FakeModel.ts"
import { listStates, namesIn, toFilePath } from "../harness/Installation.ts"
import { takeTurn } from "../harness/Samples.ts"
import { waitUntil } from "../harness/Wait.ts"

/** The nodes are killed while the model works, when comments are written, and when the first status is. */
const moments = ["model", "comments", "status"] as const
const tried = takeTurn("AICR_TEST_HOST_KILLS", moments)
const repositories = tried.length
let at: ClusterInstallation
beforeAll(async () => {
  at = await ClusterInstallation.make({ repositories, slots: 4 })
  await at.start("front", "ingress,actors")
  for (const name of workers) await at.start(name, "executor,publisher")
}, 120_000)
afterAll(() => at[Symbol.asyncDispose](), 60_000)

const workers = ["work-1", "work-2"]
/** Returns whether a node has begun to review a head. */
const hasStarted = (name: string, head: string): boolean =>
  at
    .node(name)
    .log.split("\n")
    .some((line) => line.includes("run started") && line.includes(head))

const file = toFilePath("app")
const marked = (name: string): string => `export const ${name} = "marker-${name}-end"`

const reporting = (severities: Readonly<Record<string, string>>) => (request: Recorded) =>
  review(
    namesIn(request).flatMap((name) => {
      const severity = severities[name]
      const title = `Problem of ${name}`
      return severity === undefined
        ? []
        : [{ file, severity, category: "bug", title, message: title, quote: marked(name) }]
    })
  )

it.each(tried.map((moment, index) => ({ moment, repository: `team/r${index}` })))(
  "a later round survives kill -9 at its $moment",
  async ({ moment, repository }) => {
    const push = (names: ReadonlyArray<string>, from?: string) =>
      at.forge.push(repository, {
        branch: "app",
        ...(from === undefined ? {} : { from }),
        message: "Change",
        files: { [file]: `${names.map(marked).join("\n")}\n` }
      })
    at.model.script(reporting({ one: "medium" }))
    await push(["one", "two"], "main")
    const pull = await at.forge.createPull(repository, { headBranch: "app", title: "Add app" })
    await at.deliver(pull)
    await at.reviewed([pull], 60_000)

    const struck = Promise.withResolvers<void>()
    let kills = 0
    const kill = async () => {
      if (kills++ > 0) return
      const nodes = workers
        .filter((name) => moment !== "model" || hasStarted(name, pull.head))
        .map((name) => at.node(name))
      await Promise.all(nodes.map((node) => node.kill()))
      struck.resolve()
      await Promise.all(nodes.map((node) => node.start()))
    }
    const script = reporting({ one: "medium", two: "medium", three: "medium" })
    at.model.script(async (request) => {
      // The node that waits for this reply is gone before it is sent; the other one requests it again.
      if (moment === "model") await kill()
      return script(request)
    })
    at.host.onRequest = ({ method, path }) => {
      const isStruck = moment === "comments" ? /\/pulls\/\d+\/reviews/.test(path) : /\/statuses\//.test(path)
      if (moment === "model" || method !== "POST" || !isStruck || kills > 0) return undefined
      void kill()
      return { kind: "lost" }
    }
    await push(["one", "two", "three"])
    await at.deliver(pull, "synchronized")
    await struck.promise
    await waitUntil(() => listStates(pull).at(-1) === "success", { timeout: 120_000, describe: () => at.logs(40) })
    await at.settled()
    at.host.onRequest = () => undefined

    const titles = pull.reviews.flatMap((one) => one.comments.map(({ body }) => /Problem of \w+/.exec(body)?.[0]))
    expect(titles.toSorted()).toEqual(["Problem of one", "Problem of three"])
    const summaries = pull.comments.map(({ body }) => body)
    expect(summaries).toHaveLength(1)
    expect(summaries[0]).toMatch(/^## Code review · round 2\n/)
    expect(summaries[0]).toContain("read: 1 medium</summary>")
    const rounds = await at.query<{ analysis: string }>(
      `SELECT analysis FROM runs WHERE status = 'succeeded' AND lower(repo) = '${repository}' ORDER BY id`
    )
    expect(rounds.map(({ analysis }) => JSON.parse(analysis).round.number)).toEqual([1, 2])
  },
  240_000
)
