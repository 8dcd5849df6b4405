/** Checks of channels of Swarm by `aicr doctor`. */
import { Effect } from "effect"
import { expect, it } from "vitest"
import { hostAccess } from "../../../src/app/Doctor.ts"
import { startFakeSwarm } from "../../harness/FakeSwarm.ts"
import { snapshotFrom } from "../FromDocument.ts"
import { makeChannel, makeDocument } from "./PublishSwarm.ts"
import { inEnglish } from "../../../src/text/en.ts"

it("reports the version of the server, or why it refuses the user, without the ticket", async () => {
  const swarm = await startFakeSwarm()
  const report = (ticket: string | undefined) =>
    Effect.runPromise(
      hostAccess(
        snapshotFrom(
          makeDocument(makeChannel(swarm, { ticket, ...(ticket === undefined ? { ticket_env: "UNSET" } : {}) }))
        )
      )
    )
  expect(await report(swarm.ticket)).toEqual([
    { level: "ok", reason: { _tag: "SwarmAccepts", channel: "swarm", version: "SWARM/2025.2", user: "reviewer" } }
  ])
  const { workspaces, ...document } = makeDocument(makeChannel(swarm))
  const off = Object.fromEntries(
    Object.entries(Object(Object(workspaces).instances)).map(([id, one]) => [id, { ...Object(one), enabled: false }])
  )
  expect(await Effect.runPromise(hostAccess(snapshotFrom({ ...document, workspaces: { instances: off } })))).toEqual([])
  const [refused] = await report("EXPIRED")
  expect(refused?.level).toBe("error")
  expect(refused && inEnglish(refused.reason)).toMatch(/^channel swarm: .*renew the ticket/)
  expect(JSON.stringify(refused)).not.toContain("EXPIRED")
  expect(await report(undefined)).toEqual([
    {
      level: "error",
      reason: { _tag: "SwarmWithoutCredential", channel: "swarm" }
    }
  ])
  expect(swarm.requests.every(({ method }) => method === "GET")).toBe(true)
  swarm.expectContract()
  await swarm.stop()
})
