/** Native sandboxes in control groups of one hierarchy. A virtual machine with an emulated processor takes minutes: `AICR_TEST_SANDBOX=all` runs it. */
import { afterAll, beforeAll, describe, vi } from "vitest"
import { makeDrivers } from "../../../src/sandbox/drivers/SandboxKinds.ts"
import { describeOtherUser } from "../Conformance.ts"
import type { Conformance } from "../Conformance.ts"
import { startMachine } from "../Machine.ts"
import type { Machine } from "../Machine.ts"

describe.runIf(process.env["AICR_TEST_SANDBOX"] === "all")("control groups of one hierarchy", () => {
  vi.setConfig({ testTimeout: 400_000 })
  let machine: Machine
  beforeAll(async () => {
    machine = await startMachine([{ isRoot: true }, { isRoot: false }])
  }, 300_000)
  afterAll(() => machine.stop())

  const kindOf = (at: number) => async (): Promise<Conformance> => ({
    config: { kind: "native" },
    drivers: makeDrivers({}),
    elsewhere: machine.services[at]!,
    // Programs run about ten times slower.
    limits: { timeMillis: 200_000 },
    // Without a group, processor time alone is bounded.
    maxShare: 0.5
  })
  describeOtherUser([
    ["native of root", kindOf(0)],
    ["native of another user, to whom a group was given", kindOf(1)]
  ])
})
