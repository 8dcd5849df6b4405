/**
 * Containers of podman in control groups of one hierarchy, for root and for another user. A virtual machine with an emulated processor takes
 * minutes: `AICR_TEST_SANDBOX=all` runs it.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { makeDrivers } from "../../../src/sandbox/drivers/SandboxKinds.ts"
import { describeOtherUser } from "../Conformance.ts"
import type { Conformance } from "../Conformance.ts"
import { startMachine } from "../Machine.ts"
import type { Machine } from "../Machine.ts"
import { nodeFolder } from "../MachineScripts.ts"

describe.runIf(process.env["AICR_TEST_SANDBOX"] === "all")("control groups of one hierarchy", () => {
  vi.setConfig({ testTimeout: 400_000 })
  let machine: Machine
  beforeAll(async () => {
    machine = await startMachine([
      { isRoot: true, hasEngine: true },
      { isRoot: false, hasEngine: true, hasManager: true },
      { isRoot: false, hasEngine: true }
    ])
  }, 300_000)
  afterAll(() => machine.stop())

  const config = { kind: "podman", image: "localhost/aicr-test:1" } as const
  const kindOf = (at: number) => async (): Promise<Conformance> => ({
    config,
    drivers: makeDrivers({}),
    elsewhere: machine.services[at]!,
    installation: [nodeFolder],
    // Programs run about ten times slower.
    limits: { timeMillis: 200_000 },
    maxShare: 0.5,
    hasOpenProcesses: true
  })
  describeOtherUser([
    ["podman of root", kindOf(0)],
    ["podman of another user, with a service manager", kindOf(1)]
  ])

  it("are refused to an engine without root that has no service manager", async () => {
    const refused = machine.services[2]!.run({ config, installation: [nodeFolder] }, "echo started", {})
    await expect(refused).rejects.toThrow(/cannot limit memory, processors and processes/)
  })
})
