/** Virtual machines of QEMU with an emulated processor. The whole suite takes long: `AICR_TEST_MICROVM=all` runs it. */
import { execFileSync } from "node:child_process"
import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { findParts, monitorLimits } from "../../../src/sandbox/microvm/MicrovmDriver.ts"
import { SandboxError } from "../../../src/sandbox/Sandbox.ts"
import { makeDrivers } from "../../../src/sandbox/drivers/SandboxKinds.ts"
import { makeMicrovm } from "../../harness/Microvm.ts"
import type { MicrovmParts } from "../../harness/Microvm.ts"
import { isWhole as isWholeOf } from "../../harness/Samples.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { describeConformance, describeCore, describeCoreInTurn } from "../Conformance.ts"
import type { Conformance } from "../Conformance.ts"
import {
  listOrphans,
  makeFixture,
  processesWith,
  resolveConfig,
  run,
  testLimits,
  uniqueSeconds,
  using
} from "../Fixture.ts"
import type { Fixture } from "../Fixture.ts"
import { killedService } from "../KilledService.ts"
import { isRoot, otherUser } from "../OtherUser.ts"

// Three machines start in one test, while other suites use the processors.
vi.setConfig({ testTimeout: 400_000 })

let parts: MicrovmParts
beforeAll(() => {
  parts = makeMicrovm()
}, 240_000)
afterAll(() => parts.remove())

const configOf = (microvm: object = {}) => {
  const { kernel, modules_dir, root_image } = parts
  return {
    kind: "microvm" as const,
    microvm: { kernel, modules_dir, root_image, emulation: true, start_timeout_seconds: 180, ...microvm }
  }
}

const isWhole = isWholeOf("AICR_TEST_MICROVM")

const kindOf = (): Conformance => ({
  config: configOf(),
  drivers: makeDrivers({ PATH: parts.path }),
  environment: { PATH: parts.path },
  // Programs run about ten times slower.
  limits: { timeMillis: 200_000 },
  maxShare: 0.6,
  hasOpenProcesses: true,
  // Processes of the machine are not visible here, but its monitor is.
  mark: ({ folder }) => `${folder}/microvm/`,
  isAlone: !isWhole,
  notices: ["The processor of the sandbox was emulated, which is slow (sandbox.microvm.emulation)."]
})

const kinds = [["microvm", () => Promise.resolve(kindOf())]] as const
if (isWhole) describeConformance(kinds)
else describeCoreInTurn("AICR_TEST_MICROVM", kinds)
if (isWhole && isRoot)
  describeCore([
    [
      "microvm of a service that is not root",
      async () => {
        // The kernel is in a folder of root.
        const folder = dirname(parts.root_image)
        const [kernel, modules_dir] = [join(folder, "kernel"), join(folder, "modules")]
        cpSync(parts.kernel, kernel)
        cpSync(parts.modules_dir, modules_dir, { recursive: true })
        execFileSync("chmod", ["-R", "a+rX", folder])
        return { ...kindOf(), config: configOf({ kernel, modules_dir }), user: otherUser }
      }
    ]
  ])

describe("a virtual machine", () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await makeFixture()
  })
  afterAll(() => fixture.close())

  const programs = (...names: ReadonlyArray<string>): string => {
    const folder = join(fixture.root, names.join("-") || "none")
    mkdirSync(folder, { recursive: true })
    for (const name of names) {
      writeFileSync(join(folder, name), "#!/bin/sh\n")
      chmodSync(join(folder, name), 0o755)
    }
    return folder
  }
  const find = (names: ReadonlyArray<string>, microvm: object = {}, usable = true) =>
    findParts(programs(...names), resolveConfig(configOf(microvm)).microvm, () => usable)

  it.each([
    ["a kernel", { kernel: undefined }, "set sandbox.microvm.kernel"],
    ["a kernel that exists", { kernel: "/no/such" }, "/no/such of sandbox.microvm.kernel cannot be read"],
    ["an image", { root_image: undefined }, "set sandbox.microvm.root_image"],
    ["an image that exists", { root_image: "/no/such" }, "/no/such of sandbox.microvm.root_image cannot be read"],
    ["a monitor", {}, "Firecracker (firecracker) or QEMU"]
  ])("is refused without %s", (_, microvm, message) =>
    expect(find(["busybox"], microvm)).toMatchObject({ reason: "missing", message: expect.stringContaining(message) })
  )

  it("is refused without busybox, and without virtualisation unless its emulation is permitted", () => {
    expect(find(["qemu-system-x86_64"])).toMatchObject({ message: expect.stringContaining("busybox-static") })
    const names = ["qemu-system-x86_64", "busybox"]
    expect(find(names, { emulation: false }, false)).toMatchObject({
      message: expect.stringMatching(/cannot use \/dev\/kvm.*sandbox\.microvm\.emulation/)
    })
    expect(find(names, { emulation: false })).toMatchObject({ monitor: "qemu" })
    expect(find(names, {}, false)).toMatchObject({ monitor: "qemu" })
  })

  it("is one of Firecracker where that is installed, and not of its processor's emulation", () => {
    const names = ["firecracker", "qemu-system-x86_64", "busybox"]
    expect(find(names, { emulation: false })).toMatchObject({ monitor: "firecracker" })
    expect(find(names)).toMatchObject({ monitor: "qemu" })
  })

  it("is refused with what its monitor reports, and nothing is left", async () => {
    const kind = { config: configOf({ kernel: parts.root_image }), drivers: makeDrivers({ PATH: parts.path }) }
    const refused = await run(fixture, kind, "echo started").catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(SandboxError)
    expect(String(refused)).toMatch(/virtual machine cannot be used: .*qemu.*check kernel/s)
    expect(listOrphans(fixture)).toEqual([])
  })

  it("that does not start in time is ended", async () => {
    const kind = {
      config: configOf({ modules_dir: undefined, start_timeout_seconds: 5 }),
      drivers: makeDrivers({ PATH: parts.path })
    }
    await expect(run(fixture, kind, "echo started")).rejects.toThrow("it did not start within 5 s")
    expect(listOrphans(fixture)).toEqual([])
  })

  it("ends with a service that is killed, also if it does not respond", async () => {
    const folder = programs("busybox", "qemu-system-x86_64")
    const seconds = uniqueSeconds()
    writeFileSync(join(folder, "qemu-system-x86_64"), `#!/bin/sh\ntrap '' TERM HUP\nexec sleep ${seconds}\n`)
    const isReady = () => processesWith(seconds).length > 0
    const environment = { PATH: `${folder}:${process.env["PATH"]}` }
    await killedService(fixture, { config: configOf(), environment }, "true", { isReady })
    await waitUntil(() => !isReady(), { describe: () => processesWith(seconds).join(", ") })
    await using(fixture, { config: configOf(), drivers: makeDrivers(environment) }, Effect.void)
    expect(listOrphans(fixture)).toEqual([])
  })

  it("has whole processors and time of its own to start", () => {
    expect(monitorLimits({ ...testLimits, cpus: 0.3, timeMillis: 700 }, 60)).toMatchObject({
      cpus: 1,
      timeMillis: 60_700
    })
  })

  it("does not get folders of this machine", async () => {
    const kind = { config: configOf(), drivers: makeDrivers({ PATH: parts.path }), installation: ["/opt/agents"] }
    await expect(run(fixture, kind, "echo started")).rejects.toThrow("put the agents into sandbox.microvm.root_image")
  })
})
