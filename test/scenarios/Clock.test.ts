/**
 * The real process whose clock is set by an hour while reviews run, wait and come: all of them are done now, not an hour later, each
 * published once.
 */
import { expect, it } from "vitest"
import { toFilePath, honest, Installation, markedLine } from "../harness/Installation.ts"
import { SetClock } from "../harness/SetClock.ts"
import { waitUntil } from "../harness/Wait.ts"

const room = 2
const jumps = { forward: 3600, back: -3600 }

it.each(Object.entries(jumps))(
  "an hour %s: what runs, waits and comes is reviewed once",
  { timeout: 180_000 },
  async (_, seconds) => {
    using clock = new SetClock()
    await using at = await Installation.make({
      queue: "sqlite",
      concurrency: room,
      perWorkspaceConcurrency: room,
      env: clock.env
    })
    await at.aicr.start()
    const set = Promise.withResolvers<void>()
    let running = 0
    at.model.script(async (request) => {
      running++
      await set.promise
      return honest(request)
    })
    const pulls = []
    for (const name of ["first", "second", "third"]) pulls.push(await at.open(name))
    for (const pull of pulls) expect((await at.forge.notify(pull, "opened")).status).toBe(202)
    await waitUntil(() => running === room, { describe: () => `${running} reviews run\n${at.aicr.log}` })

    clock.set(seconds)
    const late = await at.open("late")
    expect((await at.forge.notify(late, "opened")).status).toBe(202)
    set.resolve()
    pulls.push(late)
    await at.reviewed(...pulls)
    await at.settled()

    expect(pulls.map((pull) => at.posted(pull))).toEqual(
      pulls.map((pull) => ({
        reviews: [pull.head],
        comments: [`${toFilePath(pull.headBranch)}:${markedLine}`],
        summaries: 1
      }))
    )
    // What ran while the clock was set forward may have lost its lease, and is analysed again.
    const twice = pulls.filter((pull) => at.countModelCalls(pull.headBranch) !== 1)
    expect(twice.length).toBeLessThanOrEqual(seconds > 0 ? room : 0)
  }
)
