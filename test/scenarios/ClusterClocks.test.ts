/** Nodes whose clocks differ by an hour: the clock of the records decides for all of them, so that nothing waits, expires or runs twice. */
import { expect, it } from "vitest"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { postedOn } from "../harness/Installation.ts"
import { SetClock } from "../harness/SetClock.ts"

const nodes = { front: "ingress", work: "executor", middle: "actors", publisher: "publisher" } as const

it("with the clock of one node an hour off, each change is reviewed once, whatever the role of the node", async () => {
  await using at = await ClusterInstallation.make({ repositories: 2, dailyUsd: 50 })
  const clocks = new Map<string, SetClock>()
  using stack = new DisposableStack()
  for (const [name, roles] of Object.entries(nodes)) {
    const clock = stack.use(new SetClock())
    clocks.set(name, clock)
    await at.start(name, roles, clock.env)
  }
  for (const [name, roles] of Object.entries(nodes)) {
    for (const seconds of [3600, -3600]) {
      const title = `${roles}-${seconds > 0 ? "ahead" : "behind"}`
      // Set while it runs, and from its start.
      clocks.get(name)?.set(seconds)
      const running = await at.open(`${title}-running`, at.repositories[0] ?? "")
      await at.deliver(running)
      await at.reviewed([running], 40_000)
      await at.node(name).stop()
      await at.node(name).start()
      const started = await at.open(`${title}-started`, at.repositories[1] ?? "")
      await at.deliver(started)
      await at.reviewed([started], 40_000)
      clocks.get(name)?.set(0)
      for (const pull of [running, started]) {
        expect([title, postedOn(pull), at.countModelCalls(pull.headBranch)]).toMatchObject([
          title,
          { reviews: [pull.head], summaries: 1 },
          1
        ])
      }
    }
  }
  await at.settled()
  const [row] = await at.query<{ apart: number }>(
    "SELECT max(received_at) - extract(epoch FROM clock_timestamp()) * 1000 AS apart FROM events"
  )
  expect(Math.abs(Number(row?.apart))).toBeLessThan(1_000_000)
}, 400_000)
