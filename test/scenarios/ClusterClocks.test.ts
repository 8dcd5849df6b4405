/**
 * Nodes whose clocks differ by an hour: the clock of the records decides for all of them, so that nothing waits, expires or runs twice. With
 * AICR_TEST_CLOCKS=all also with every clock off in the other direction.
 */
import { expect, it } from "vitest"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { postedOn } from "../harness/Installation.ts"
import { takeSample } from "../harness/Samples.ts"
import { SetClock } from "../harness/SetClock.ts"

const nodes = { front: "ingress", work: "executor", middle: "actors", publisher: "publisher" } as const

/** Offsets in hours of front, work, middle and publisher. */
const rounds = takeSample(
  "AICR_TEST_CLOCKS",
  [
    [1, -1, 1, -1],
    [-1, 1, -1, 1]
  ],
  2
)

it("with the clocks of nodes an hour off, each change is reviewed once, whatever the role of the node", async () => {
  await using at = await ClusterInstallation.make({ repositories: 2, dailyUsd: 50 })
  using stack = new DisposableStack()
  const clocks = new Map(Object.keys(nodes).map((name) => [name, stack.use(new SetClock())]))
  const names = [...clocks.keys()]
  await Promise.all(Object.entries(nodes).map(([name, roles]) => at.add(name, roles, clocks.get(name)?.env)))
  const set = (hours: ReadonlyArray<number>): void =>
    names.forEach((name, index) => clocks.get(name)?.set(3600 * (hours[index] ?? 0)))
  const isReviewed = async (title: string): Promise<void> => {
    const pulls = await Promise.all(
      at.repositories.map((repository, index) => at.open(`${title}-${index}`, repository))
    )
    for (const pull of pulls) await at.deliver(pull)
    await at.reviewed(pulls, 40_000)
    expect([title, pulls.map((pull) => [postedOn(pull), at.countModelCalls(pull.headBranch)])]).toMatchObject([
      title,
      pulls.map((pull) => [{ reviews: [pull.head], summaries: 1 }, 1])
    ])
  }
  for (const [round, hours] of rounds.entries()) {
    // From the start of all nodes.
    set(hours)
    await Promise.all(names.map((name) => at.node(name).start()))
    await isReviewed(`started-${round}`)
    // Of one node after the other while it runs.
    for (const index of names.keys()) {
      set(names.map((_, other) => (other === index ? (hours[index] ?? 0) : 0)))
      await isReviewed(`running-${round}-${index}`)
    }
    set([])
    if (round < rounds.length - 1) await Promise.all(names.map((name) => at.node(name).stop()))
  }
  await at.settled()
  const [row] = await at.query<{ apart: number }>(
    "SELECT max(received_at) - extract(epoch FROM clock_timestamp()) * 1000 AS apart FROM events"
  )
  expect(Math.abs(Number(row?.apart))).toBeLessThan(1_000_000)
}, 400_000)
